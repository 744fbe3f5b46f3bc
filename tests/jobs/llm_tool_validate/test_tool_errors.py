"""How errors are described."""

from typing import Any

from jobs.engines.json_schema.check import MAX_MESSAGE, compile_schema
from jobs.llm_tool_validate import Document
from jobs.llm_tool_validate.tool_errors import MAX_ERRORS, MAX_EXPECTED, MAX_POINTERS, ToolError, described
from tests.each import each

INTEGER = {"type": "integer"}


def _errors(schema: Any, value: Any) -> list[ToolError]:
    document = Document(compile_schema(schema))
    return described(document, value, document.root.violations(value))


@each(
    ("schema", "value", "error"),
    [
        (INTEGER, "x", ToolError("", "type", 'value is not of type "integer"', "integer", "/type")),
        (
            {"properties": {"a/b": {"type": ["string", "null"]}}},
            {"a/b": 1},
            ToolError(
                "/a~1b", "type", 'value is not of types "null", "string"', ["string", "null"], "/properties/a~1b/type"
            ),
        ),
        ({"required": ["a"]}, {}, ToolError("", "required", '"a" is a required property', "a", "/required")),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            ToolError("", "dependentRequired", '"b" is a required property', "b", "/dependentRequired"),
        ),
        ({"enum": [1, "a"]}, 2, ToolError("", "enum", 'value is not one of 1 or "a"', [1, "a"], "/enum")),
        ({"const": {"a": 1}}, 2, ToolError("", "const", '{"a":1} was expected', {"a": 1}, "/const")),
        ({"minimum": 5}, 1, ToolError("", "minimum", "value is less than the minimum of 5", 5, "/minimum")),
        ({"pattern": "^a"}, "b", ToolError("", "pattern", 'value does not match "^a"', "^a", "/pattern")),
        (
            {"properties": {"b": {}}, "additionalProperties": False},
            {"a": 1},
            ToolError(
                "",
                "additionalProperties",
                "Additional properties are not allowed ('a' was unexpected)",
                False,
                "/additionalProperties",
            ),
        ),
        (
            {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": INTEGER}},
            [1, "x"],
            ToolError("/1", "type", 'value is not of type "integer"', "integer", "/$defs/n/type"),
        ),
        ({"not": INTEGER}, 1, ToolError("", "not", '{"type":"integer"} is not allowed for value', INTEGER, "/not")),
        (
            {"prefixItems": [True, False]},
            [1, 2],
            ToolError("/1", "falseSchema", "False schema does not allow value", False, "/prefixItems/1"),
        ),
        ({"items": False}, [1], ToolError("/0", "items", "False schema does not allow value", False, "/items")),
    ],
)
def test_errors(schema: Any, value: Any, error: ToolError) -> None:
    """Each with the place of the value, the rule, and what the rule asks for."""
    assert _errors(schema, value) == [error]


@each(
    ("branches", "value", "message"),
    [
        ([INTEGER, {"type": "null"}], "x", "value is not valid under any of the schemas listed in the 'anyOf' keyword"),
        (
            [{"type": "object", "required": ["a"]}, {"type": "null"}],
            {},
            "value fits none of 'anyOf'; in the closest, \"a\" is a required property",
        ),
        (
            [{"type": "object", "properties": {"a": INTEGER}}, {"type": "null"}],
            {"a": "x"},
            "value fits none of 'anyOf'; in the closest, at /a: value is not of type \"integer\"",
        ),
        (
            [
                {"properties": {"kind": {"const": "a"}}},
                {"properties": {"kind": {"const": "b"}, "n": INTEGER, "m": INTEGER}},
            ],
            {"kind": "b", "n": "x", "m": "x"},
            "value fits none of 'anyOf'; in the closest, at /n: value is not of type \"integer\"",
        ),
        (
            [{"properties": {"a": {"anyOf": [{"items": INTEGER}, {"type": "null"}]}}}],
            {"a": ["x"]},
            "value fits none of 'anyOf'; in the closest, at /a/0: value is not of type \"integer\"",
        ),
    ],
)
def test_unions(branches: list[Any], value: Any, message: str) -> None:
    """The message goes into the branch that was most likely meant, if any takes the type."""
    (error,) = _errors({"anyOf": branches}, value)
    assert (error.keyword, error.expected, error.path) == ("anyOf", branches, "")
    assert error.message == message


def test_too_many_branches_fit() -> None:
    """That is another message than that none does."""
    (error,) = _errors({"oneOf": [INTEGER, {"type": "number"}]}, 1)
    assert error.message == "value is valid under more than one of the schemas listed in the 'oneOf' keyword"
    (error,) = _errors({"oneOf": [INTEGER, {"type": "null"}]}, "x")
    assert error.message == "value is not valid under any of the schemas listed in the 'oneOf' keyword"


def test_at_most_a_hundred() -> None:
    """The first ones."""
    assert len(_errors({"items": INTEGER}, ["x"] * 1000)) == MAX_ERRORS


def test_long_paths_are_not_repeated_a_hundred_times() -> None:
    """One path may be as long as it is; of more, only so many that all together are short enough."""
    key = "k" * 200_000
    schema = {"additionalProperties": {"items": INTEGER}}
    (only,) = _errors(schema, {key: ["x"] * 100})
    assert only.path == f"/{key}/0"
    errors = _errors(schema, {"k" * 1000: ["x"] * 100})
    assert 50 < len(errors) < 100
    assert sum(len(error.path) + len(error.schema_path) for error in errors) <= MAX_POINTERS
    pattern = "a|" + "b" * 10_000
    errors = _errors({"patternProperties": {pattern: {"items": INTEGER}}}, {"a": ["x"] * 100})
    assert len(errors) == MAX_POINTERS // len(errors[0].schema_path + errors[0].path)


@each(
    ("schema", "value"),
    [
        ({"type": "string"}, {"a": "secret" * 10_000}),
        ({"additionalProperties": False}, {"k" * 10_000: "secret"}),
        ({"enum": ["x" * 10_000]}, "secret"),
        ({"required": ["r" * 10_000]}, {}),
        ({"anyOf": [{"properties": {"a": {"maxLength": 1}}}]}, {"a": "secret" * 10_000}),
        ({"anyOf": [{"properties": {"k" * 10_000: INTEGER}}]}, {"k" * 10_000: "secret"}),
    ],
)
def test_messages_are_short_and_do_not_quote_the_value(schema: Any, value: Any) -> None:
    """At most 200 characters."""
    (error,) = _errors(schema, value)
    assert len(error.message) <= MAX_MESSAGE
    assert "secret" not in error.message


def test_expected_is_short_or_null() -> None:
    """A thousand bytes."""
    fits, does_not = ["x" * (MAX_EXPECTED - 4)], ["x" * (MAX_EXPECTED - 3)]
    assert _errors({"enum": fits}, 1)[0].expected == fits
    assert _errors({"enum": does_not}, 1)[0].expected is None
    assert _errors({"required": ["r" * 1000]}, {})[0].expected is None
