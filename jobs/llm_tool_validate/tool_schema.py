"""Finds the JSON Schema in the definition of an LLM's tool.

| format | place of the schema |
|---|---|
| OpenAI, Chat Completions | `function.parameters` |
| OpenAI, Responses, and the older `functions` | `parameters` |
| Anthropic | `input_schema` |
| MCP | `inputSchema` |
| Amazon Bedrock | `toolSpec.inputSchema.json` |
| none | the object itself |

For OpenAI, a function whose `parameters` are missing or null accepts any object.
"""

from __future__ import annotations

from typing import Any

from jobs.engines.text.names import names

_NO_PARAMETERS = {"type": "object", "properties": {}}

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

_RULES = names(
    """
    $dynamicRef $recursiveRef $ref additionalProperties allOf anyOf const contains dependencies dependentRequired
    dependentSchemas else enum format if items maxProperties maximum minProperties minimum not oneOf pattern
    patternProperties prefixItems properties propertyNames required then unevaluatedProperties
    """
)
"""Keywords that a schema with any rule usually has, and the definition of a tool never has."""

_OTHER_KEYWORDS = names(
    """
    $anchor $defs $dynamicAnchor $id $recursiveAnchor $schema $vocabulary additionalItems contentEncoding
    contentMediaType contentSchema definitions exclusiveMaximum exclusiveMinimum id maxContains maxItems maxLength
    minContains minItems minLength multipleOf unevaluatedItems uniqueItems
    """
)
_NOTES = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "type", "writeOnly"}
)
"""Names that a schema may have beside its rules, and that other objects have too."""


def schema_in(definition: dict[str, Any]) -> tuple[Any, str]:
    """The schema, not checked yet, and the dotted name of its place: empty for the object itself."""
    if _is_schema(definition):
        return definition, ""
    function = definition.get("function")
    if isinstance(function, dict) and not _is_schema(function):
        return _parameters(function), "function.parameters"
    if definition.get("type") == "function" or "parameters" in definition:
        return _parameters(definition), "parameters"
    for key in ("input_schema", "inputSchema"):
        if key in definition:
            return definition[key], key
    specification = definition.get("toolSpec")
    schema = specification.get("inputSchema") if isinstance(specification, dict) else None
    if isinstance(schema, dict) and "json" in schema:
        return schema["json"], "toolSpec.inputSchema.json"
    return definition, ""


def is_foreign(schema: Any) -> bool:
    """Whether an object has unknown names and no rule of JSON Schema. It is then probably the definition of a tool in another
    format, and not a schema that accepts everything."""
    if not isinstance(schema, dict) or _is_schema(schema):
        return False
    names = {name for name in schema if not name.startswith("x-")}
    return names.isdisjoint(_OTHER_KEYWORDS) and not names <= _NOTES


def _parameters(function: dict[str, Any]) -> Any:
    parameters = function.get("parameters")
    return _NO_PARAMETERS if parameters is None else parameters


def _is_schema(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return kind in _TYPES or isinstance(kind, list) or not _RULES.isdisjoint(value)
