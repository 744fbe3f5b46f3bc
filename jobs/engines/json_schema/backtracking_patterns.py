"""Values of `pattern` with look-around or back-references, such as those of password fields: V8 runs them.

The validator's own engine is linear and has neither. Such a `pattern` is moved to a keyword of our own, which asks the V8 of
regex-test, within its limit of CPU time. The API compiles these schemas too; it checks the syntax without V8.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jobs.regex_test.cursor import PatternError
from jobs.regex_test.syntax import check

KEYWORD = "$patternOfV8"
"""The keyword to which such a pattern is moved."""

_BACKTRACKS = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<")
_VALUES = frozenset(("const", "default", "enum", "example", "examples"))
"""Keywords whose content is no schema."""


class NotAPattern(ValueError):
    """A pattern that no engine reads.

    Attributes:
        path: where it is.
    """

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__("not a regular expression")
        self.path = path


class TooComplex(Exception):
    """A pattern took more time than it may."""


def moved(schema: Any, path: tuple[str | int, ...] = ()) -> Any:
    """The schema with such patterns under KEYWORD; the schema itself where there are none.

    Raises:
        NotAPattern: one of them is not ECMAScript.
    """
    if isinstance(schema, list):
        items = [moved(item, (*path, index)) for index, item in enumerate(schema)]
        return items if any(new is not old for new, old in zip(items, schema, strict=True)) else schema
    if not isinstance(schema, dict):
        return schema
    found = {
        key: value if key in _VALUES else moved(value, (*path, key))
        for key, value in schema.items()
        if key != "pattern"
    }
    if "pattern" in schema:
        pattern = schema["pattern"]
        backtracks = isinstance(pattern, str) and _BACKTRACKS.search(pattern) is not None
        if backtracks:
            _flags(pattern, (*path, "pattern"))
        found[KEYWORD if backtracks else "pattern"] = moved(pattern, (*path, "pattern"))
    same = found.keys() == schema.keys() and all(found[key] is schema[key] for key in schema)
    return schema if same else found


def _flags(pattern: str, path: tuple[str | int, ...]) -> str:
    """The flag with which the pattern is ECMAScript: `u`, as JSON Schema asks for, or none."""
    for flags in ("u", ""):
        try:
            check(pattern, flags)
        except PatternError:
            continue
        return flags
    raise NotAPattern(path)


class _Pattern:
    """The keyword, for the validator."""

    def __init__(self, parent: dict[str, Any], pattern: str, path: list[str | int]) -> None:
        self._pattern = pattern
        self._flags = _flags(pattern, ())

    def validate(self, value: Any) -> None:
        """Raise ValueError if a text has no match."""
        from jobs.regex_test.matching import Exhausted, find

        if not isinstance(value, str) or _spent:
            return
        try:
            if find(self._pattern, self._flags, value, limit=1).count:
                return
        except Exhausted:
            _spent.append(self._pattern)
            return
        raise ValueError("value does not match the pattern, which has look-around or back-references")


KEYWORDS = {KEYWORD: _Pattern}

_spent: list[str] = []
"""The pattern that took too long in this judgement. The library would report an exception as an error of the value."""


@contextmanager
def limited() -> Iterator[None]:
    """Judge values. Once a pattern has taken too long, no other is tried.

    Raises:
        TooComplex: afterwards, when a pattern has taken too long.
    """
    _spent.clear()
    yield
    if _spent:
        _spent.clear()
        raise TooComplex
