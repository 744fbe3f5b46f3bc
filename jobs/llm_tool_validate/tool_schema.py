"""Finds the JSON Schema in the definition of an LLM's tool.

| format | place of the schema |
|---|---|
| OpenAI, Chat Completions | `function.parameters` |
| OpenAI, Responses, and the older `functions` | `parameters` |
| Anthropic | `input_schema` |
| MCP | `inputSchema` |
| Amazon Bedrock | `toolSpec.inputSchema.json` |
| Gemini | `parameters`, `parametersJsonSchema` |
| Vercel's AI SDK | `inputSchema`, `parameters`, or `jsonSchema` in either |
| none | the object itself |

Several definitions may come as a list: `tools` (or an object of them, by name), `functions`, `functionDeclarations`, also
one in the other. For OpenAI, a function whose `parameters` are missing or null accepts any object.
"""

from dataclasses import dataclass
from typing import Any

from jobs.engines.text.names import names

_NO_PARAMETERS = {"type": "object", "properties": {}}

_SMALL = ("array", "boolean", "integer", "null", "number", "object", "string")
_TYPES = (*_SMALL, *(name.upper() for name in _SMALL))  # as JSON Schema and as Gemini write them

_DECLARATIONS = ("functionDeclarations", "function_declarations")
_LISTS = ("tools", "functions", *_DECLARATIONS)
_MAX_LISTS = 2
"""Levels of lists in lists: Gemini has declarations in tools."""

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


@dataclass(frozen=True, slots=True)
class Tool:
    """One of several definitions.

    Attributes:
        place: its dotted place in the request's schema.
    """

    name: str | None
    definition: dict[str, Any]
    place: str


def tools_in(definition: dict[str, Any], place: str = "", level: int = 0) -> list[Tool]:
    """The tools of a list. Empty when this is no list of tools."""
    if _is_schema(definition) or level > _MAX_LISTS:
        return []
    for key in _LISTS:
        tools = definition.get(key)
        if key == "tools" and isinstance(tools, dict):
            named = [(name, tool) for name, tool in tools.items()]
        elif isinstance(tools, list):
            named = [(str(index), tool) for index, tool in enumerate(tools)]
        else:
            continue
        found = []
        for name, tool in named:
            if isinstance(tool, dict):
                at = f"{place}{key}.{name}"
                inner = tools_in(tool, f"{at}.", level + 1)
                if key in _DECLARATIONS and "parametersJsonSchema" not in tool:
                    tool = {"type": "function", **tool}  # it may have no parameters
                found += inner or [Tool(name if isinstance(tools, dict) else _name(tool), tool, at)]
        return found
    return []


def schema_in(definition: dict[str, Any]) -> tuple[Any, str]:
    """The schema, not checked yet, and the dotted name of its place: empty for the object itself."""
    if _is_schema(definition):
        return definition, ""
    function = definition.get("function")
    if isinstance(function, dict) and not _is_schema(function):
        return _parameters(function), "function.parameters"
    if definition.get("type") == "function" or "parameters" in definition:
        return _unwrapped(_parameters(definition), "parameters")
    for key in ("input_schema", "inputSchema", "parametersJsonSchema"):
        if key in definition:
            return _unwrapped(definition[key], key)
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


def _unwrapped(schema: Any, place: str) -> tuple[Any, str]:
    """The schema in what the AI SDK's `jsonSchema()` returns, or the schema itself."""
    if isinstance(schema, dict) and "jsonSchema" in schema and not _is_schema(schema):
        return schema["jsonSchema"], f"{place}.jsonSchema"
    return schema, place


def _name(tool: dict[str, Any]) -> str | None:
    for holder in (tool, tool.get("function"), tool.get("toolSpec")):
        if isinstance(holder, dict) and isinstance(holder.get("name"), str):
            return holder["name"]  # type: ignore[no-any-return]
    return None


def _parameters(function: dict[str, Any]) -> Any:
    parameters = function.get("parameters")
    return _NO_PARAMETERS if parameters is None else parameters


def _is_schema(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return kind in _TYPES or isinstance(kind, list) or not _RULES.isdisjoint(value)
