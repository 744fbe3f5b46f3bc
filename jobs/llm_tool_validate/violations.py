"""Converts the library's errors to violations with the correct place."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec
from jsonschema_rs import ValidationError, ValidationErrorKind

from jobs.engines.json_schema.backtracking_patterns import KEYWORD
from jobs.engines.json_schema.check import MASK, keyword_of, pointer
from jobs.llm_tool_validate.places import Place

_ODD_KEY = re.compile(rb'[{,]"(?:|\+[0-9]+|0[0-9]+)":')
"""Matches keys in JSON that the library reports wrongly: it omits an empty key, and reports `007` and `+7` as 7, like `7`."""
_NUMBER = re.compile(r"\[(\+?[0-9]+)\]")
_REQUIRING = ("dependencies", "dependentRequired")
"""Keywords for which the library reports a location that does not exist."""
_PATH_START = "\n\nOn instance"
_PATH_END = f":\n    {MASK}"


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a value breaks.

    Attributes:
        place: where it is in the value.
        keyword: the library's name of the keyword.
        location: the absolute URI of the rule; empty when the library does not know it.
    """

    place: Place
    keyword: str
    location: str
    error: ValidationError

    @property
    def kind(self) -> ValidationErrorKind:
        """The library's details about this keyword."""
        return self.error.kind

    @property
    def rule(self) -> str:
        """The keyword as in the schema, or `falseSchema`. The library reports `required` for every keyword that requires a
        property."""
        last = self.error.schema_path[-1] if self.error.schema_path else None
        return str(last) if last in _REQUIRING else keyword_of(self.error)

    @property
    def schema_path(self) -> str:
        """JSON Pointer to the rule with references followed, starting at the nearest `$id` when there are several."""
        path = unquote(self.location.partition("#")[2]) if self.location else pointer(self.error.schema_path)
        path = path.removesuffix(KEYWORD) + "pattern" if path.endswith("/" + KEYWORD) else path
        return path.rpartition("/")[0] if self.rule in _REQUIRING and self.location else path


def violations_of(value: Any, errors: Iterable[ValidationError]) -> list[Violation]:
    """Convert the library's errors of a value."""
    has_odd_keys = isinstance(value, dict | list) and _ODD_KEY.search(msgspec.json.encode(value)) is not None
    place_of = _place_of_odd_keys if has_odd_keys else _place
    return [
        Violation(place_of(value, error), error.kind.name, error.absolute_keyword_location or "", error)
        for error in errors
    ]


def _place(value: Any, error: ValidationError) -> Place:
    path = error.instance_path
    if not any(isinstance(part, int) for part in path):
        return tuple(path)
    found: list[str | int] = []
    for part in path:
        found.append(str(part) if isinstance(value, dict) else part)
        value = value[found[-1]]
    return tuple(found)


def _place_of_odd_keys(value: Any, error: ValidationError) -> Place:
    """The place, read from the message for people, which has every key: `On instance["a"][""][007]`."""
    message = error.verbose_message.removesuffix(_PATH_END)
    # A key may contain the text before or after the keys. Only the correct reading leads to a value.
    return next(place for found in re.finditer(_PATH_START, message) for place in _read(value, message[found.end() :]))


def _read(value: Any, path: str) -> Iterator[Place]:
    """The places in a value that a text may mean."""
    if not path:
        yield ()
    for key, rest in _first_keys(value, path):
        for place in _read(value[key], rest):
            yield (key, *place)


def _first_keys(value: Any, path: str) -> Iterator[tuple[str | int, str]]:
    """The keys or indexes with which a text may begin, and the rest of the text after each."""
    number = _NUMBER.match(path)
    if isinstance(value, list) and number is not None and len(number[1]) < 10 and int(number[1]) < len(value):
        yield int(number[1]), path[number.end() :]
    if isinstance(value, dict) and number is not None and number[1] in value:
        yield number[1], path[number.end() :]
    if isinstance(value, dict) and path.startswith('["'):
        for end in re.finditer('"]', path):
            name = path[2 : end.start()].replace("~1", "/").replace("~0", "~")
            if name in value:
                yield name, path[end.end() :]
