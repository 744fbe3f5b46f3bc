"""What the SDKs of OpenAI's agents and of Anthropic make of the schemas in SCHEMAS, by name, for their strict modes."""

import copy
import json
import sys
from collections.abc import Iterator
from typing import Any

import loopback
from agents.strict_schema import ensure_strict_json_schema
from anthropic import transform_schema

# https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"
UNSUPPORTED = (
    *("allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"),
    *("propertyNames", "patternProperties", "unevaluatedProperties", "minProperties", "maxProperties"),
    *("contains", "minContains", "maxContains", "unevaluatedItems", "uniqueItems", "prefixItems"),
)


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema, and those that a strict mode reads within it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", []), schema.get("items")]
    for one in inner:
        if one is not None:
            yield from schemas(one)


def openai(schema: dict[str, Any]) -> list[str]:
    """What OpenAI's strict mode does not take."""
    try:
        strict = ensure_strict_json_schema(copy.deepcopy(schema))
    except Exception as refused:
        if "additionalProperties" not in str(refused):
            raise
        return ["open object"]
    return [keyword for keyword in UNSUPPORTED if any(keyword in one for one in schemas(strict))]


def anthropic(schema: dict[str, Any]) -> list[str]:
    """What Anthropic's transform changes: it closes objects, also those with members of any name."""
    try:
        transform_schema(copy.deepcopy(schema))
    except ValueError as refused:
        if "must have a 'type'" not in str(refused):
            raise
        return ["refused"]
    return (
        ["open object"] if any(one.get("additionalProperties", False) is not False for one in schemas(schema)) else []
    )


given = json.load(sys.stdin)
found = {name: {"openai": openai(schema), "anthropic": anthropic(schema)} for name, schema in given.items()}
print(json.dumps({"found": found, "elsewhere": loopback.elsewhere}))
