"""Why a body is refused, in the words of its caller: JSON's names of types, and the names and values that would be accepted.

msgspec speaks of Python's types and quotes the value; neither helps a caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from api.errors import Problem
from shared.endpoint import InvalidField

# msgspec puts the place in the body at the end of its message, behind text that may quote the caller.
_AT = re.compile(r"(.*) - at (?:`key` in )?`\$([^`]*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_TYPES = re.compile(r"((?:Expected|got) )`([a-z| ]+)`")
_NOT_INTEGER = re.compile(r"Expected `int\b.*got `float`")
_JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_NOT_IN_LIST = "Invalid enum value"


def invalid_field(invalid: InvalidField) -> Problem:
    """The problem of a value that a request's own check refuses, and of the others that it refuses with it."""
    details = tuple(
        {"field": fault.field, "message": fault.detail, "suggestions": list(fault.suggestions)}
        for fault in (invalid, *invalid.others)
    )
    return Problem(code=invalid.code, detail=invalid.detail, field=invalid.field, details=details)


def invalid_body(error: msgspec.ValidationError, request: type[msgspec.Struct]) -> Problem:
    """The problem of a body that has not the form of `request`."""
    cause = error.__cause__
    if isinstance(cause, InvalidField):
        return invalid_field(cause)
    message, path = str(error), ""
    if at := _AT.fullmatch(message):
        message, path = at.groups()
    missing = _MISSING.match(message)
    # The caller's own names in an object are not repeated.
    field = f"{path.partition('[...]')[0]}.{missing[1] if missing else ''}".strip(".") or None
    message = _in_json_words(message, field or "", request)
    return Problem(
        code="invalid_body", detail=message + ".", field=field, details=({"field": field, "message": message},)
    )


def _in_json_words(message: str, field: str, request: type[msgspec.Struct]) -> str:
    if message.startswith(_NOT_IN_LIST):
        accepted = _accepted(request, re.split(r"[.\[]", field)[0])
        return f"Expected one of {accepted}" if accepted else "This value is not accepted here"
    if missing := _MISSING.match(message):
        return f"The field `{missing[1]}` is missing"
    said = _TYPES.sub(lambda found: found[1] + _json_types(found[2]), message)
    # JSON Schema takes 2.0 for an integer. Here it is none: in a field for any JSON, 2.0 and 2 are told apart.
    return f"{said} with a fraction or an exponent" if _NOT_INTEGER.match(message) else said


def _json_types(types: str) -> str:
    """`str | null` as "`string` or `null`"."""
    return " or ".join(f"`{_JSON_TYPES.get(name, name)}`" for name in types.split(" | "))


def _accepted(request: type[msgspec.Struct], field: str) -> str:
    """The values of a field that is a list of words, or a list of such."""
    info = cast(msgspec.inspect.StructType, msgspec.inspect.type_info(request))
    types = [found.type for found in info.fields if found.encode_name == field]
    return ", ".join(f"`{word}`" for kind in types for word in _words(kind))


def _words(kind: Any) -> Iterator[Any]:
    if isinstance(kind, msgspec.inspect.LiteralType):
        yield from (word for word in kind.values if word is not None)
    elif isinstance(kind, msgspec.inspect.EnumType):
        yield from (word.value for word in kind.cls)
    for inner in (*getattr(kind, "types", ()), getattr(kind, "item_type", None), getattr(kind, "type", None)):
        if inner is not None:
            yield from _words(inner)
