"""Searches in callers' text in linear time. No other module uses google-re2. Python's own `re` backtracks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import re2  # type: ignore[import-untyped]

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


class Haystack:
    """A text for several searches. It is encoded only once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.data = text.encode()
        self.is_ascii = len(self.data) == len(text)


class Pattern:
    """One expression. Its match is the first group, or the whole match when it has no group."""

    def __init__(self, source: str) -> None:
        try:
            self._compiled = re2.compile(source, _OPTIONS)
        except re2.error as error:
            raise ValueError(f"pattern {source!r}: {error}") from error
        self._group = _group_of(self._compiled)

    @classmethod
    def of(cls, compiled: Any) -> Pattern:
        """Make a pattern from a compiled expression."""
        pattern = cls.__new__(cls)
        pattern._compiled, pattern._group = compiled, _group_of(compiled)
        return pattern

    def spans(self, haystack: Haystack, limit: int) -> Iterator[tuple[int, int]]:
        """(start, end) of at most `limit` matches, in order. They do not overlap, but the text around the groups may."""
        data, at = haystack.data, 0
        counted, characters = 0, 0
        for _ in range(limit):
            match = self._compiled.search(data, at)
            if match is None:
                return
            start, end = match.span(self._group)
            at = max(end, match.start() + 1)
            if haystack.is_ascii:
                yield start, end
                continue
            first = characters + len(data[counted:start].decode())
            characters = first + len(data[start:end].decode())
            counted = end
            yield first, characters

    def found_in(self, text: str) -> bool:
        """Whether it matches anywhere in a short text."""
        return self._compiled.search(text.encode()) is not None


class Patterns:
    """Many expressions, with a filter for those that can match a text: it must contain the words that they require."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._filter = re2.Filter()
        for source in sources:
            try:
                self._filter.Add(source, _OPTIONS)
            except re2.error as error:
                raise ValueError(f"pattern {source!r}: {error}") from error
        self._filter.Compile()
        self._patterns = [Pattern.of(self._filter.re(index)) for index in range(len(sources))]
        for source, pattern in zip(sources, self._patterns, strict=True):
            if pattern.found_in(""):
                raise ValueError(f"pattern {source!r} finds nothing everywhere")

    def __getitem__(self, index: int) -> Pattern:
        return self._patterns[index]

    def candidates(self, haystack: Haystack) -> list[int]:
        """Indexes of the expressions that can match, in order."""
        return sorted(self._filter.Match(haystack.data, True) or ())


def _group_of(compiled: Any) -> int:
    groups: int = compiled.groups
    if groups > 1:
        raise ValueError(f"pattern {compiled.pattern!r}: at most one group")
    return groups
