"""A schema's parts, and what is found wrong with a value."""

from typing import Any

import jsonschema_rs

from jobs.engines.json_schema.check import compile_schema
from jobs.llm_tool_validate import Document
from tests.each import each

INTEGER = {"type": "integer"}
NULLABLE = {"anyOf": [INTEGER, {"type": "null"}]}


def _document(schema: Any) -> Document:
    return Document(compile_schema(schema))


def _found(schema: Any, value: Any) -> list[tuple[Any, ...]]:
    violations = _document(schema).root.violations(value)
    return sorted((violation.place, violation.rule, violation.schema_path) for violation in violations)


@each(
    "key", ["a b", "é", "日本", "😀", '"', "^", "#", "?", "/", "~", "%", "%25", "\\", "\n", "\x00", "", "7", "07", "+7"]
)
def test_any_key(key: str) -> None:
    """The place of an error, its rule and the branches of a union are found whatever a property is called."""
    (violation,) = (document := _document({"properties": {key: NULLABLE}})).root.violations({key: "x"})
    escaped = key.replace("~", "~0").replace("/", "~1")
    assert violation.place == (key,)
    assert violation.schema_path == f"/properties/{escaped}/anyOf"
    assert document.rule(violation.location) == NULLABLE["anyOf"]
    assert [branch.is_valid(None) for branch in document.branches(violation.location)] == [False, True]


@each(
    ("schema", "value", "expected"),
    [
        (INTEGER, "x", [((), "type", "/type")]),
        ({"items": INTEGER}, ["x", 1, "x"], [((0,), "type", "/items/type"), ((2,), "type", "/items/type")]),
        ({"$ref": "#/$defs/n", "$defs": {"n": INTEGER}}, "x", [((), "type", "/$defs/n/type")]),
        ({"required": ["a"]}, {}, [((), "required", "/required")]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, [((), "dependentRequired", "/dependentRequired")]),
        ({"additionalProperties": False}, {"a": 1}, [((), "additionalProperties", "/additionalProperties")]),
        ({"items": False}, [1], [((0,), "items", "/items")]),
        (False, 1, [((), "falseSchema", "")]),
        ({"oneOf": [INTEGER, {"type": "number"}]}, 1, [((), "oneOf", "/oneOf")]),
        ({"allOf": [NULLABLE]}, "x", [((), "anyOf", "/allOf/0/anyOf")]),
        ({"if": NULLABLE, "then": False}, 1, [((), "falseSchema", "/then")]),
        ({"not": NULLABLE}, 1, [((), "not", "/not")]),
        ({"contains": NULLABLE}, ["x"], [((), "contains", "/contains")]),
        ({"propertyNames": {"anyOf": [{"pattern": "^a"}]}}, {"b": 1}, [((), "propertyNames", "/propertyNames")]),
        ({"$id": "http://x.example/s", "items": NULLABLE}, ["x"], [((0,), "anyOf", "/items/anyOf")]),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}},
            {"a": 1},
            [((), "dependencies", "/dependencies")],
        ),
    ],
)
def test_violations(schema: Any, value: Any, expected: list[Any]) -> None:
    """The place, the keyword, and where that is in the schema."""
    assert _found(schema, value) == expected


def test_unions_are_judged_where_they_only_matter_to_others() -> None:
    """Within `if`, `not` and `contains`, as the library's own are."""
    for schema in ({"if": NULLABLE, "else": False}, {"not": {"not": NULLABLE}}, {"contains": NULLABLE}):
        root = _document(schema).root
        assert root.violations([1] if "contains" in schema else 1) == []
        assert len(root.violations(["x"] if "contains" in schema else "x")) == 1


def test_an_embedded_schema_hides_its_unions() -> None:
    """Below its own `$id`, where the library reports less, errors are still found, with the library's own keywords."""
    schema = {"$ref": "b", "$defs": {"b": {"$id": "b", "properties": {"a": NULLABLE}}}}
    (violation,) = (document := _document(schema)).root.violations({"a": "x"})
    assert (violation.place, violation.keyword, violation.schema_path) == (("a",), "anyOf", "/properties/a/anyOf")
    assert isinstance(violation.kind, jsonschema_rs.ValidationErrorKind.AnyOf)
    assert len(document.branches(violation.location)) == 2


def test_published_schemas_can_be_referred_to() -> None:
    """Their unions cannot be looked up here; they count all the same."""
    schema = {"properties": {"s": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}
    (violation,) = _document(schema).root.violations({"s": {"type": 5}})
    assert (violation.place, violation.keyword) == (("s", "type"), "anyOf")


@each("location", ["", "schema:///#/nowhere", "schema:///#/properties/a/b", "http://x.example/#", "urn:a", "#"])
def test_what_is_not_there(location: str) -> None:
    """Nothing is fetched, and nothing fails."""
    document = _document({"properties": {"a": INTEGER}})
    assert document.branches(location) == []
    assert location == "#" or document.part("schema:///#/nowhere") is None


def test_what_is_no_schema_is_no_part() -> None:
    """A pointer may lead to anything."""
    document = _document({"enum": [{"type": "nope"}], "properties": {"a": INTEGER}})
    assert document.part("schema:///#/enum/0") is None
    assert document.rule("schema:///#/enum/0") == {"type": "nope"}
