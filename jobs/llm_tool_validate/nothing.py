"""The absence of a value."""

from __future__ import annotations

from typing import Final

NOTHING: Final = object()
"""None cannot stand for it, because None is null."""
