"""Where the schema is in the definition of a tool."""

from typing import Any

from jobs.llm_tool_validate.tool_schema import is_foreign, schema_in
from tests.each import each

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NOTHING_SAID = {"type": "object", "properties": {}}

WRAPPED: list[tuple[dict[str, Any], str]] = [
    (SCHEMA, ""),
    (
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}},
        "function.parameters",
    ),
    ({"function": {"name": "f", "parameters": SCHEMA}}, "function.parameters"),
    ({"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": True}, "parameters"),
    ({"name": "f", "description": "d", "parameters": SCHEMA}, "parameters"),
    ({"name": "f", "description": "d", "input_schema": SCHEMA}, "input_schema"),
    ({"type": "custom", "name": "f", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}, "input_schema"),
    (
        {"name": "f", "title": "t", "inputSchema": SCHEMA, "outputSchema": {"type": "null"}, "annotations": {}},
        "inputSchema",
    ),
    ({"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}, "strict": True}}, "toolSpec.inputSchema.json"),
]

BARE: list[dict[str, Any]] = [
    {},
    {"title": "anything"},
    {"$defs": {"parameters": {}}},
    {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "x"},
    {"type": "object", "parameters": {"type": "string"}},
    {"type": "object", "input_schema": {"type": "string"}},
    {"type": ["object", "null"], "inputSchema": {"type": "string"}},
    {"properties": {"function": {}, "parameters": {}}, "function": {"parameters": {}}},
    {"$ref": "#/parameters", "parameters": {"type": "string"}},
    {"anyOf": [{}], "input_schema": {}},
    {"enum": [1], "inputSchema": {}},
    {"type": "web_search_20250305", "name": "web_search"},
    {"type": "Function", "function": "f"},
    {"type": "object", "toolSpec": {"inputSchema": {"json": {}}}},
    {"toolSpec": {"inputSchema": True}},
    {"toolSpec": []},
]


@each(("definition", "place"), WRAPPED)
def test_wrapped(definition: dict[str, Any], place: str) -> None:
    """The very schema, and the name of its place."""
    schema, found = schema_in(definition)
    assert schema is SCHEMA
    assert found == place


@each("definition", BARE)
def test_bare(definition: dict[str, Any]) -> None:
    """What has a keyword of JSON Schema is a schema, whatever else it has, and so is what is nothing else."""
    schema, place = schema_in(definition)
    assert schema is definition
    assert place == ""


FOREIGN: list[dict[str, Any]] = [
    {"functionDeclarations": [{"name": "f", "parameters": SCHEMA}]},
    {"tools": [{"name": "f", "input_schema": SCHEMA}]},
    {"name": "f", "description": "d", "schema": SCHEMA, "strict": True},
    {"type": "json_schema", "json_schema": {"name": "f", "schema": SCHEMA}},
    {"name": "f", "parametersJsonSchema": SCHEMA},
    {"name": "f", "description": "d"},
    {"toolSpec": {"inputSchema": True}},
    {"tool": SCHEMA, "x-order": 1},
    {"json": SCHEMA},
]


@each("schema", FOREIGN)
def test_a_wrapping_that_is_not_known_is_no_schema(schema: dict[str, Any]) -> None:
    """It would take anything."""
    assert is_foreign(schema)


@each(
    "schema",
    [
        *(True, False, None, [], {}, SCHEMA),
        {"title": "t", "description": "d", "default": 1, "examples": [1], "$comment": "c"},
        {"x-order": 3},
        {"type": "string", "name": "f"},
        {"minLength": 3, "label": "l"},
        {"$defs": {"a": {}}, "name": "f"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "version": 2},
    ],
)
def test_what_may_be_a_schema_is_none_of_them(schema: Any) -> None:
    """Names that a schema does not know are allowed in it."""
    assert not is_foreign(schema)


@each(
    "definition",
    [
        {"type": "function", "function": {"name": "f"}},
        {"type": "function", "function": {"name": "f", "parameters": None}},
        {"type": "function", "name": "f"},
        {"type": "function", "name": "f", "parameters": None},
        {"name": "f", "parameters": None},
    ],
)
def test_functions_without_parameters(definition: dict[str, Any]) -> None:
    """Take an object."""
    assert schema_in(definition)[0] == NOTHING_SAID


@each("schema", [True, False, None, 3, "{}", [SCHEMA]])
def test_what_is_in_the_place_of_a_schema_is_not_judged_here(schema: Any) -> None:
    """It is for the compiler to refuse, under its name."""
    assert schema_in({"name": "f", "input_schema": schema}) == (schema, "input_schema")
    if schema is not None:
        assert schema_in({"type": "function", "function": {"parameters": schema}}) == (schema, "function.parameters")
