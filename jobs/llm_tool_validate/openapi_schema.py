"""Turns a schema in the dialect of OpenAPI 3.0, which Gemini's tools have, into JSON Schema.

| OpenAPI 3.0 | JSON Schema |
|---|---|
| `"type": "STRING"` | `"type": "string"` |
| `"nullable": true` | null is allowed as well |
| `"minItems": "1"` | `"minItems": 1` |

Neither the first nor the last is valid in JSON Schema, and `nullable` has no other meaning there.
"""

from typing import Any

from jobs.engines.json_schema.check import MAX_DEPTH

_TYPES = ("ARRAY", "BOOLEAN", "INTEGER", "NULL", "NUMBER", "OBJECT", "STRING")
_COUNTS = ("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties")
_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
"""Keywords whose value has a schema under each name, which may be any word."""
_DATA = ("const", "default", "enum", "example", "examples")
_OF_DOCUMENTS = ("$schema", "$id", "id", "$defs", "definitions")
"""Keywords that may not move into a branch."""
_NULL = {"type": "null"}


def as_json_schema(schema: Any, level: int = 0) -> Any:
    """The schema with JSON Schema's words. What is deeper than a schema may be is left as it is."""
    if level > MAX_DEPTH:
        return schema
    if isinstance(schema, list):
        return [as_json_schema(item, level + 1) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: _value(name, value, level + 1) for name, value in schema.items()}
    return _nullable(result) if result.get("nullable") is True else result


def _value(keyword: str, value: Any, level: int) -> Any:
    if keyword == "type":
        return [_type(name) for name in value] if isinstance(value, list) else _type(value)
    if keyword in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if keyword in _NAMED and isinstance(value, dict):
        return {name: as_json_schema(inner, level + 1) for name, inner in value.items()}
    return value if keyword in _DATA else as_json_schema(value, level)


def _type(name: Any) -> Any:
    return name.lower() if isinstance(name, str) and name in _TYPES else as_json_schema(name)


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that takes null besides."""
    rest = {name: value for name, value in schema.items() if name != "nullable"}
    kind = rest.get("type")
    if isinstance(kind, str | list):
        kinds = [kind] if isinstance(kind, str) else kind
        rest["type"] = [*kinds, *([] if "null" in kinds else ["null"])]
    if isinstance(rest.get("enum"), list) and None not in rest["enum"]:
        rest["enum"] = [*rest["enum"], None]
    for union in ("anyOf", "oneOf"):
        if isinstance(rest.get(union), list) and _NULL not in rest[union]:
            rest[union] = [*rest[union], _NULL]
    if "$ref" in rest or "allOf" in rest:
        kept = {name: rest.pop(name) for name in _OF_DOCUMENTS if name in rest}
        return kept | {"anyOf": [rest, _NULL]}
    return rest
