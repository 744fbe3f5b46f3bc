"""Folds a text for matching, and maps what is found back to the text.

Two texts match when they are equal after NFKC and case folding, with white space collapsed. NFKC may join a character with
marks that follow it, so the unit that is folded is a character with its marks, and a match begins and ends between two units.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

SPACE = " "
BREAK = "\n"
"""Stands for an empty line between two blocks. A folded query has none, so nothing is found across blocks."""

_SPACES = re.compile(r"\s+")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


class Folded(NamedTuple):
    """A folded text.

    Attributes:
        text: all units, folded and joined.
        starts: where each unit begins in `text`, and at the end its length.
        origins: where each unit begins in the original text, and at the end its length.
    """

    text: str
    starts: list[int]
    origins: list[int]

    def original(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the original text that was folded to this range; None when it begins or ends inside a unit."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        if self.starts[first] != start or self.starts[last] != end:
            return None
        return self.origins[first], self.origins[last]


def folded(text: str, *, without: str = "") -> Folded:
    """Fold a text.

    Args:
        without: characters that fold to nothing.
    """
    parts: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = 0
    for origin, unit in _units(text):
        part = "" if unit in without else _folded_unit(unit)
        if not part:
            continue
        starts.append(length)
        origins.append(origin)
        parts.append(part)
        length += len(part)
    starts.append(length)
    origins.append(len(text))
    return Folded("".join(parts), starts, origins)


def folded_query(query: str, *, without: str = "") -> str:
    """Fold a text that is looked for: all its white space is of one kind."""
    return folded(query, without=without).text.replace(BREAK, SPACE).strip()


def _units(text: str) -> list[tuple[int, str]]:
    """Each unit with its place: a run of white space, or a character with the marks that belong to it."""
    units: list[tuple[int, str]] = []
    at, size = 0, len(text)
    while at < size:
        if text[at].isspace():
            end = _SPACES.match(text, at).end()  # type: ignore[union-attr]
            units.append((at, text[at:end]))
        else:
            end = at + 1
            while end < size and _is_mark(text[end]):
                end += 1
            units.append((at, text[at:end]))
        at = end
    return units


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    """Whether it is joined with what precedes it. Halfwidth sound marks are, after NFKC."""
    return not character.isascii() and unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0


@lru_cache(maxsize=4096)
def _folded_unit(unit: str) -> str:
    if unit.isspace():
        return BREAK if _EMPTY_LINE.search(unit) else SPACE
    return _SPACES.sub(SPACE, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", unit).casefold()))
