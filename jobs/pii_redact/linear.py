"""Compiles regular expressions with RE2, whose time is linear in the text for every pattern. No other module may do this.

RE2 has no look-around and no back-references, so patterns find candidates and code checks the text around them. `\\d` and `\\b`
cover ASCII only, which is enough for a folded text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, cast

import re2  # type: ignore[import-untyped]

_SET_MEMORY_BYTES = 64 << 20


class Match(Protocol):
    """Positions are code points."""

    def start(self, group: int | str = 0) -> int: ...
    def end(self, group: int | str = 0) -> int: ...
    def __getitem__(self, group: int | str) -> str | None: ...


class Pattern(Protocol):
    """A pattern. Each call encodes the whole text, so never call it in a loop over one text: pass a slice."""

    def finditer(self, text: str) -> Iterator[Match]: ...
    def match(self, text: str) -> Match | None: ...
    def fullmatch(self, text: str) -> Match | None: ...


def compiled(pattern: str) -> Pattern:
    """Compile a pattern."""
    return cast(Pattern, re2.compile(pattern))


class PatternSet:
    """Many patterns that are matched against a short text at once."""

    def __init__(self, patterns: Iterable[str]) -> None:
        options = re2.Options()
        options.max_mem = _SET_MEMORY_BYTES
        options.never_capture = True
        self._set = re2.Set.FullMatchSet(options)
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def fullmatch(self, text: str) -> frozenset[int]:
        """The indices of the patterns that match the whole text."""
        return frozenset(self._set.Match(text) or ())
