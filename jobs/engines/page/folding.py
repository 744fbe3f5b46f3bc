"""Folds a text for matching, and maps what is found back to the text.

Two texts match when they are equal after NFKC and case folding, with white space collapsed. NFKC may join a character with
marks that follow it, so the unit that is folded is a character with its marks, and a match begins and ends between two units.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from jobs.engines.text.layer import Layer

SPACE = " "
BREAK = "\n"
"""Stands for an empty line between two blocks. A folded query has none, so nothing is found across blocks."""

_SPACES = re.compile(r"\s+")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def folded(text: str, *, without: str = "") -> Layer:
    """Fold a text.

    Args:
        without: characters that fold to nothing.
    """
    return Layer(text).replaced(_pieces(text, without))


def _pieces(text: str, without: str) -> Iterator[tuple[int, int, str]]:
    """Each unit that is not one character which stays as it is."""
    for start, unit in _units(text):
        form = "" if unit in without else _folded_unit(unit)
        if form != unit or len(unit) > 1:
            yield start, start + len(unit), form


def folded_query(query: str, *, without: str = "") -> str:
    """Fold a text that is looked for: all its white space is of one kind."""
    return folded(query, without=without).text.replace(BREAK, SPACE).strip()


def _units(text: str) -> Iterator[tuple[int, str]]:
    """Each unit with its place: a run of white space, or a character with the marks that belong to it."""
    at, size = 0, len(text)
    while at < size:
        if text[at].isspace():
            end = _SPACES.match(text, at).end()  # type: ignore[union-attr]
        else:
            end = at + 1
            while end < size and _is_mark(text[end]):
                end += 1
        yield at, text[at:end]
        at = end


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    """Whether it is joined with what precedes it. Halfwidth sound marks are, after NFKC."""
    return not character.isascii() and unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0


@lru_cache(maxsize=4096)
def _folded_unit(unit: str) -> str:
    if unit.isspace():
        return BREAK if _EMPTY_LINE.search(unit) else SPACE
    return _SPACES.sub(SPACE, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", unit).casefold()))
