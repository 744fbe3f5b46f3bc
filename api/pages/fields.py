"""The fields of a request or response as rows of a table, from its JSON Schema."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

_MAX_PATTERN = 60
_LARGE = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Field:
    """One row.

    Attributes:
        name: on the wire, dotted when nested; ``[]`` after the name of a list.
        kinds: JSON types, and values that it may have.
        rule: bounds and default, e.g. ``1 to 500 characters; default 10``.
        text: what it is, with `code` in backticks.
    """

    name: str
    kinds: tuple[str, ...]
    is_required: bool
    rule: str
    text: str

    @property
    def kind(self) -> str:
        """``string or null``."""
        return _listed(self.kinds)


def read(schema: Schema) -> tuple[str, tuple[Field, ...]]:
    """The schema's description, and its fields.

    Args:
        schema: of an object, with nothing left to resolve (jobs/schemas.py).
    """
    return schema.get("description", ""), tuple(_fields(schema, ""))


def _fields(schema: Schema, prefix: str) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        kinds, text = tuple(dict.fromkeys(_kinds(member))), member.get("description", "")
        yield Field(prefix + name, kinds, name in required, _rule(member), text)
        yield from _inside(member, prefix + name)


def _inside(schema: Schema, name: str) -> Iterator[Field]:
    """The fields of the objects that a field may hold. One that several kinds of objects have is one row."""
    merged: dict[str, Field] = {}
    for option in _options(schema):
        items, values = option.get("items"), option.get("additionalProperties")
        if isinstance(items, dict):
            found = _inside(items, f"{name}[]")
        elif option.get("properties"):
            found = _fields(option, f"{name}.")
        elif isinstance(values, dict):
            found = _inside(values, f"{name}.*")
        else:
            continue
        for field in found:
            known = merged.get(field.name)
            merged[field.name] = field if known is None else _merged(known, field)
    yield from merged.values()


def _merged(one: Field, other: Field) -> Field:
    return Field(
        name=one.name,
        kinds=tuple(dict.fromkeys((*one.kinds, *other.kinds))),
        is_required=one.is_required and other.is_required,
        rule=one.rule if one.rule == other.rule else "",
        text=" Or: ".join(dict.fromkeys(text for text in (*one.text.split(" Or: "), other.text) if text)),
    )


def _options(schema: Schema) -> list[Schema]:
    options = schema.get("anyOf")
    return [inner for option in options for inner in _options(option)] if options else [schema]


def _kind(schema: Schema) -> str:
    return _listed(tuple(dict.fromkeys(_kinds(schema))))


def _listed(kinds: tuple[str, ...]) -> str:
    return " or ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)


def _kinds(schema: Schema) -> Iterator[str]:
    for option in _options(schema):
        if "const" in option:
            yield _literal(option["const"])
        elif "enum" in option:
            yield from (_literal(value) for value in option["enum"])
        elif option.get("type") == "array":
            inner = option.get("items")
            yield f"array of {_kind(inner)}" if isinstance(inner, dict) and inner else "array"
        elif option.get("type") == "object" and isinstance(option.get("additionalProperties"), dict):
            yield f"object of {_kind(option['additionalProperties'])}"
        elif isinstance(option.get("type"), list):
            yield from option["type"]
        else:
            yield option.get("type", "any value")


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rule(schema: Schema) -> str:
    said: list[str] = []
    for option in _options(schema):
        said.extend(_bounds(option))
        items = option.get("items")
        if isinstance(items, dict) and (inner := _rule(items)):
            said.append(f"each {inner}")
    default = schema.get("default")
    if default is not None:
        said.append(f"default {_literal(default)}")
    return "; ".join(dict.fromkeys(said))


def _bounds(schema: Schema) -> Iterator[str]:
    for unit, least, most in (
        ("character", "minLength", "maxLength"),
        ("item", "minItems", "maxItems"),
        ("propert", "minProperties", "maxProperties"),
        ("", "minimum", "maximum"),
    ):
        if text := _range(schema.get(least), schema.get(most), unit):
            yield text
    if "exclusiveMinimum" in schema:
        yield f"more than {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema:
        yield f"less than {schema['exclusiveMaximum']}"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN:
        yield f"matches {pattern}"


def _range(least: Any, most: Any, unit: str) -> str:
    if least is None and most is None:
        return ""
    if most is None:
        return f"at least {_counted(least, unit)}"
    if least == most:
        return f"exactly {_counted(most, unit)}"
    return f"{_number(least)} to {_counted(most, unit)}" if least is not None else f"at most {_counted(most, unit)}"


def _counted(number: Any, unit: str) -> str:
    if not unit:
        return _number(number)
    one, many = ("y", "ies") if unit == "propert" else ("", "s")
    return f"{number:,} {unit}{one if number == 1 else many}"


def _number(number: Any) -> str:
    """``1,000``; ``2^256 - 1`` for what fills many bits."""
    size = abs(number)
    if isinstance(number, int) and size >= _LARGE and not size & (size + 1):
        text = f"2^{size.bit_length()} - 1"
        return f"-({text})" if number < 0 else text
    return f"{number:,}"
