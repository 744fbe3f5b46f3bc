"""faker.datatype."""

from __future__ import annotations

from jobs.faker.source import Source
from jobs.faker.text import as_bool


def boolean(source: Source) -> str:
    """``true`` or ``false``."""
    return as_bool(source.rng.random() < 0.5)
