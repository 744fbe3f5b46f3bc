"""The version of all commands and processes. It is named here alone: the distributions take it from this file."""

from __future__ import annotations

VERSION = "0.2.0"
