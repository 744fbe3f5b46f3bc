"""What the library says is wrong, with the true place of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec
from jsonschema_rs import ValidationError, ValidationErrorKind

from jobs.json_schema.check import MASK, keyword_of, pointer
from jobs.llm_tool_validate.places import Place

_ODD_KEY = re.compile(rb'[{,]"(?:|\+[0-9]+|0[0-9]+)":')
"""In JSON. The library's list of keys leaves out an empty one, and has 7 for `007` and `+7`, as it has for `7`."""
_NUMBER = re.compile(r"\[(\+?[0-9]+)\]")
_REQUIRING = ("dependencies", "dependentRequired")
"""Keywords of which the library tells a location that is not there."""
_TOLD = "\n\nOn instance"
_TOLD_END = f":\n    {MASK}"


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a value breaks.

    Attributes:
        place: in the value.
        keyword: as the library calls it.
        location: the absolute URI of the rule; empty when the library knows none.
    """

    place: Place
    keyword: str
    location: str
    error: ValidationError

    @property
    def kind(self) -> ValidationErrorKind:
        """What there is to know about this keyword."""
        return self.error.kind

    @property
    def rule(self) -> str:
        """The keyword as the schema has it, or `falseSchema`. The library says `required` of all that require a property."""
        last = self.error.schema_path[-1] if self.error.schema_path else None
        return str(last) if last in _REQUIRING else keyword_of(self.error)

    @property
    def schema_path(self) -> str:
        """JSON Pointer to the rule, references followed; from the nearest `$id` on where there are several."""
        path = unquote(self.location.partition("#")[2]) if self.location else pointer(self.error.schema_path)
        return path.rpartition("/")[0] if self.rule in _REQUIRING and self.location else path


def violations_of(value: Any, errors: Iterable[ValidationError]) -> list[Violation]:
    """The library's errors of a value."""
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
    """Read from the message for people, which has every key: `On instance["a"][""][007]`."""
    message = error.verbose_message.removesuffix(_TOLD_END)
    # A key may itself have what comes before the keys, or after them: only the right reading ends at a value.
    return next(place for found in re.finditer(_TOLD, message) for place in _read(value, message[found.end() :]))


def _read(value: Any, told: str) -> Iterator[Place]:
    """The places in a value that a text may mean."""
    if not told:
        yield ()
    for key, rest in _first_keys(value, told):
        for place in _read(value[key], rest):
            yield (key, *place)


def _first_keys(value: Any, told: str) -> Iterator[tuple[str | int, str]]:
    """The keys or the index that a text may begin with, and what comes after."""
    number = _NUMBER.match(told)
    if isinstance(value, list) and number is not None and len(number[1]) < 10 and int(number[1]) < len(value):
        yield int(number[1]), told[number.end() :]
    if isinstance(value, dict) and number is not None and number[1] in value:
        yield number[1], told[number.end() :]
    if isinstance(value, dict) and told.startswith('["'):
        for end in re.finditer('"]', told):
            name = told[2 : end.start()].replace("~1", "/").replace("~0", "~")
            if name in value:
                yield name, told[end.end() :]
