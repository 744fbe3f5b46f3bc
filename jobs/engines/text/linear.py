"""Regular expressions in linear time, for callers' texts. No other module imports google-re2. Python's own `re` backtracks.

RE2 has no look-around and no back-references, so patterns find candidates and code checks the text around them. `\\d` and `\\b`
cover ASCII only, which is enough for a folded text.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, cast

import re2  # type: ignore[import-untyped]

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_SMALL = re2.Options()
_SMALL.log_errors = False
_SMALL.max_mem = 128 << 10
_SET_MEMORY_BYTES = 64 << 20
_LONGEST_PLACE = 12
"""RE2 repeats the whole pattern in some messages. A sentence for a caller has no value of his request."""


class Match(Protocol):
    """Positions are code points, or bytes where bytes were searched."""

    def start(self, group: int | str = 0) -> int: ...
    def end(self, group: int | str = 0) -> int: ...
    def __getitem__(self, group: int | str) -> str | None: ...


class Compiled(Protocol):
    """A pattern. Each call encodes the whole text, so never call it in a loop over one text: pass a slice, or use `Pattern`."""

    def finditer(self, text: str | bytes) -> Iterator[Match]: ...
    def match(self, text: str) -> Match | None: ...
    def fullmatch(self, text: str) -> Match | None: ...


def compiled(pattern: str) -> Compiled:
    """Compile a pattern."""
    return cast(Compiled, re2.compile(pattern))


def of_caller(pattern: str) -> tuple[Compiled, int]:
    """Compile a caller's pattern of at most 200 characters, in 15 ms at most.

    Returns:
        The pattern, and its group, or 0 when it has none.

    Raises:
        ValueError: the pattern is wrong, too large, has several groups, or matches the empty text. The message is a sentence.
    """
    try:
        small = re2.compile(pattern, _SMALL)
        if small.groups > 1:
            raise ValueError("It has more than one group. Write (?:...) for those that are not what is meant.")
        if small.fullmatch("") is not None:
            raise ValueError("It matches the empty text.")
        return cast(Compiled, re2.compile(pattern, _OPTIONS)), small.groups
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        if "too large" in reason:
            raise ValueError("It is too large: repeat less, or fewer kinds of letters.") from None
        fault, _, place = reason.partition(": ")
        fault += f": {place}" if 0 < len(place) <= _LONGEST_PLACE else ""
        raise ValueError(f"It is no RE2 expression ({fault}). RE2 has no look-around and no back-references.") from None


def escaped(text: str) -> str:
    """A pattern that matches exactly this text."""
    return cast(str, re2.escape(text))


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
    def of(cls, compiled: Any) -> "Pattern":
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
