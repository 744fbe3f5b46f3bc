"""Counts the characters that a repair looks at: work that regular expressions and searches do without any step of Python.

Every compiled pattern of jobs/json_repair is replaced by one that counts, and the text by a `str` whose methods count. Of a
pattern that does not match, the count is the end of the longest beginning of the pattern that does.
"""

import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from jobs.json_repair import NotRepairable, repair
from jobs.json_repair.source import Source

_ENDLESS = sys.maxsize


class Work:
    """The count so far."""

    characters = 0


def work_of(text: str) -> int:
    """How many characters the repair of a text looks at, each as often as it does."""
    with _counting():
        Work.characters = 0
        with suppress(NotRepairable):
            repair(text)
        return Work.characters


class Text(str):
    """A text whose searches count what they pass."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        part = str.__getitem__(self, key)
        Work.characters += len(part)
        return Text(part) if isinstance(key, slice) else part

    def _passed(self, start: int | None, end: int | None) -> int:
        return max(0, min(len(self) if end is None else end, len(self)) - (start or 0))

    def find(self, sub: str, start: Any = None, end: Any = None) -> int:
        found = str.find(self, sub, start, end)
        Work.characters += self._passed(start, end if found < 0 else found)
        return found

    def rfind(self, sub: str, start: Any = None, end: Any = None) -> int:
        found = str.rfind(self, sub, start, end)
        Work.characters += self._passed(start if found < 0 else found, end)
        return found

    def count(self, sub: str, start: Any = None, end: Any = None) -> int:
        Work.characters += self._passed(start, end)
        return str.count(self, sub, start, end)

    def strip(self, chars: Any = None) -> str:
        part = str.strip(self, chars)
        Work.characters += len(self) - len(part)
        return Text(part)

    def __contains__(self, sub: Any) -> bool:
        return self.find(sub) >= 0


class _Pattern:
    """A compiled pattern that counts."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self._beginnings: list[re.Pattern[str]] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pattern, name)

    def match(self, text: str, pos: int = 0, endpos: int = _ENDLESS) -> Any:
        return self._counted(self.pattern.match(text, pos, endpos), text, pos, endpos)

    def fullmatch(self, text: str, pos: int = 0, endpos: int = _ENDLESS) -> Any:
        return self._counted(self.pattern.fullmatch(text, pos, endpos), text, pos, endpos)

    def search(self, text: str, pos: int = 0, endpos: int = _ENDLESS) -> Any:
        found = self.pattern.search(text, pos, endpos)
        end = found.end() if found else min(len(text), endpos)
        for start in self._tries(text, pos, found.start() if found else end):
            self._counted(None, text, start, endpos)
        Work.characters += max(0, end - pos)
        return found

    def finditer(self, text: str, pos: int = 0, endpos: int = _ENDLESS) -> Iterator[Any]:
        for found in self.pattern.finditer(text, pos, endpos):
            Work.characters += found.end() - pos
            pos = found.end()
            yield found
        Work.characters += max(0, min(len(text), endpos) - pos)

    def sub(self, new: Any, text: str) -> str:
        Work.characters += len(text)
        return self.pattern.sub(new, text)

    def _counted(self, match: Any, text: str, pos: int, endpos: int) -> Any:
        if match is not None:
            Work.characters += match.end() - pos
        else:
            ends = (found.end() for it in self.beginnings if (found := it.match(text, pos, endpos)))
            Work.characters += max(ends, default=pos) - pos
        return match

    def _tries(self, text: str, start: int, end: int) -> Iterator[int]:
        """Where a search tries the whole pattern: where its first element matches."""
        if len(self.beginnings) < 2:
            return
        yield from (found.start() for found in self.beginnings[0].finditer(text, start, end))

    @property
    def beginnings(self) -> list[re.Pattern[str]]:
        """Patterns of the first element, the first two, and so on, of each branch."""
        if self._beginnings is None:
            parsed = parser.parse(self.pattern.pattern, self.pattern.flags & ~re.UNICODE)
            self._beginnings = list(_beginnings(parsed, list(parsed)))
        return self._beginnings


def _beginnings(parsed: Any, elements: list[Any]) -> Iterator[re.Pattern[str]]:
    for length in range(1, len(elements) + 1):
        operation, argument = elements[length - 1]
        if str(operation) == "BRANCH":
            for branch in argument[1]:
                yield from _beginnings(parsed, elements[: length - 1] + list(branch))
        elif length < len(elements):
            yield compiler.compile(parser.SubPattern(parsed.state, elements[:length]), int(parsed.state.flags))


_PATTERNS: dict[int, _Pattern] = {}


@contextmanager
def _counting() -> Iterator[None]:
    initialise = Source.__init__

    def counted(self: Source, text: str, *others: Any) -> None:
        initialise(self, Text(text), *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Source, "__init__", counted)
        for name, module in list(sys.modules.items()):
            if name.startswith("jobs.json_repair."):
                for attribute, value in list(vars(module).items()):
                    if isinstance(value, re.Pattern):
                        patch.setattr(module, attribute, _PATTERNS.setdefault(id(value), _Pattern(value)))
        yield
