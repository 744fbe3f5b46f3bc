"""Defines which values are the same in another type. Only the table of `converted` counts."""

from typing import Any, Final

import msgspec

from jobs.llm_tool_validate.numbers import integer, number
from jobs.llm_tool_validate.places import NOTHING
from jobs.llm_tool_validate.texts import WHITESPACE, container, looks_like_a_container

ALL_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


def type_of(value: Any) -> str:
    """The JSON type. A number is an integer when it is written as one."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def widened(types: list[str]) -> frozenset[str]:
    """The types that a list of types allows, where number includes integer."""
    return frozenset(types) | ({"integer"} if "number" in types else frozenset())


def converted(value: Any, types: frozenset[str], *, max_levels: int) -> Any:
    """Convert the value to one of these types, none of which it has. NOTHING when that is impossible.

    | from | to |
    |---|---|
    | string | the value whose JSON text it is, with white space around it or not; the empty string is null. Python's text of it
    (`True`, `['a']`) and, for an object or array, a code block with either |
    | number | string: its JSON text; boolean: 1 is true, 0 is false; integer: only in draft 4, where 1.0 is not one |
    | boolean | string: its JSON text |

    Null, objects and arrays never become a string, and a boolean never becomes a number.

    Args:
        types: as `widened` returns them.
        max_levels: how deeply an object or array may be nested.
    """
    match value:
        case str():
            return _of_text(value, types, max_levels)
        case bool():
            return _text(value) if "string" in types else NOTHING
        case int() | float():
            return _of_number(value, types)
        case _:
            return NOTHING


class Listed:
    """The scalars of an `enum`, for finding the one that equals a value in another type.

    If the enum contains texts, an empty text never becomes null: it is a wrong text.
    """

    def __init__(self, options: list[Any]) -> None:
        scalars = [option for option in options if not isinstance(option, list | dict)]
        self._options = {_as_json(option): option for option in scalars}
        names = {type_of(option) for option in scalars}
        self._types = [widened([name]) for name in names - ({"null"} if "string" in names else set())]

    def same(self, value: Any) -> Any:
        """The matching scalar. NOTHING when there is none, or more than one."""
        found = {_as_json(converted(value, types, max_levels=0)) for types in self._types}
        same = [self._options[key] for key in found if key in self._options]
        return same[0] if len(same) == 1 else NOTHING


def is_wrappable(value: Any) -> bool:
    """Whether an array may be made with this value as its only item.

    Null means "no array", not an array with one null. A text that begins like an array is a broken array.
    """
    return isinstance(value, int | float) or (isinstance(value, str) and not looks_like_a_container(value))


def _of_text(text: str, types: frozenset[str], max_levels: int) -> Any:
    if text == "":
        return None if "null" in types else NOTHING
    stripped = text.strip(WHITESPACE)
    if stripped in ("null", "None") and "null" in types:
        return None
    if stripped in ("true", "false", "True", "False") and "boolean" in types:
        return stripped in ("true", "True")
    if "integer" in types:
        found = number(stripped) if "number" in types else integer(stripped)
        if found is not None:
            return found
    if types & {"array", "object"}:
        read = container(stripped, max_levels=max_levels)
        if read is not NOTHING and type_of(read) in types:
            return read
    return NOTHING


def _of_number(value: float, types: frozenset[str]) -> Any:
    if isinstance(value, float) and "integer" in types and (whole := integer(_text(value))) is not None:
        return whole
    if "string" in types:
        return _text(value)
    if "boolean" in types and value in (0, 1):
        return value == 1
    return NOTHING


def _as_json(value: Any) -> tuple[bool, Any]:
    """A key that is equal for values that JSON Schema calls equal: 1 and 1.0, but not 1 and true."""
    return isinstance(value, bool), value


def _text(value: float) -> str:
    return msgspec.json.encode(value).decode()
