"""Schemas that callers write: what is refused before anything runs, and how errors are reported."""

from typing import Any

import pytest

from jobs.engines.json_schema.backtracking_patterns import TooComplex
from jobs.engines.json_schema.check import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ERRORS,
    MAX_LARGE_PATTERNS,
    MAX_MESSAGE,
    MAX_NODES,
    MAX_PATTERNS,
    compile_schema,
)
from shared.endpoint import InvalidField
from tests.each import each

NO_PORTS = "http://127.0.0.1:9/schema.json"

REMOTE = [
    {"$ref": NO_PORTS},
    {"$ref": "https://example.com/schema.json#/$defs/a"},
    {"$ref": "file:///etc/passwd"},
    {"$ref": "other.json"},
    {"$ref": "urn:example:a"},
    {"$defs": {"unused": {"$ref": NO_PORTS}}},
    {"properties": {"a": {"items": {"anyOf": [{"$ref": NO_PORTS}]}}}},
    {"$id": "http://example.com/a.json", "$ref": "b.json"},
    {"$defs": {"a": {"$id": "http://example.com/q", "$schema": NO_PORTS}}},
    {"$dynamicRef": NO_PORTS},
    {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"$ref": NO_PORTS}}},
]

INVALID: list[Any] = [
    None,
    3,
    "{}",
    [{}],
    {"type": "nope"},
    {"minimum": "1"},
    {"properties": []},
    {"$ref": 5},
    {"$ref": "#/$defs/missing"},
    {"$schema": 5},
    {"required": "a"},
    {"pattern": "("},
    {"pattern": "(?=a"},
    {"pattern": "((a{1,1000}){1,1000}){1,1000}"},
    {"patternProperties": {"(?!a)": {}}},
    {"title": "\ud800"},
]

VALID = [
    True,
    False,
    {},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z]{1,100}$"}}, "required": ["a"]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}},
    {"$id": "http://example.com/a.json", "$ref": "http://example.com/a.json#/$defs/x", "$defs": {"x": True}},
    {"$ref": "#"},
    {"allOf": [{"$ref": "#"}]},
    {"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.com/x"},
    {"$schema": "http://json-schema.org/draft-07/schema#"},
    {"$schema": "https://json-schema.org/draft/2019-09/schema"},
    {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    {"enum": [{"$ref": NO_PORTS}], "const": {"$ref": NO_PORTS}, "default": {"$ref": NO_PORTS}},
    {"properties": {"$ref": {"type": "string"}}},
    {"properties": {"pattern": {"pattern": "(?=a)b"}}},
]

DRAFTS = {
    "http://json-schema.org/draft-04/schema#": [
        "https://json-schema.org/draft-04/schema",
        "json-schema.org/draft-04/schema#",
    ],
    "http://json-schema.org/draft-07/schema#": [
        *("https://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema/"),
        *("http://www.json-schema.org/draft-07/schema#", "https://json-schema.org/draft/draft-07/schema"),
    ],
    "https://json-schema.org/draft/2019-09/schema": ["http://json-schema.org/draft/2019-09/schema#"],
    "https://json-schema.org/draft/2020-12/schema": [
        *(
            "http://json-schema.org/draft/2020-12/schema#",
            "https://json-schema.org/schema",
            "http://json-schema.org/schema#",
        ),
        *("https://json-schema.org/draft/2020-12", "https://json-schema.org/2020-12/schema"),
    ],
}
"""Spellings of `$schema` by the draft that they mean."""


def _refusal(schema: Any) -> InvalidField:
    with pytest.raises(InvalidField) as caught:
        compile_schema(schema, field="tool.schema")
    return caught.value


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return schema


@each("schema", REMOTE)
def test_nothing_is_fetched(schema: Any) -> None:
    """A schema that leads out of itself is refused under its own code, used or not, and no socket is opened."""
    refusal = _refusal(schema)
    assert refusal.code == "remote_ref_not_allowed"
    assert refusal.field == "tool.schema"
    assert "127.0.0.1" not in refusal.detail


@each("schema", INVALID)
def test_what_is_no_schema(schema: Any) -> None:
    """A value that is not a schema, or has a pattern that needs backtracking, is an invalid schema."""
    refusal = _refusal(schema)
    assert refusal.code == "invalid_schema"
    assert len(refusal.detail) <= MAX_MESSAGE


@each("schema", VALID)
def test_what_is_a_schema(schema: Any) -> None:
    """Booleans, every draft, and references within the schema or to a published meta-schema are accepted."""
    compile_schema(schema)


@each(
    ("most", "too_much"),
    [
        (_nested(MAX_DEPTH), _nested(MAX_DEPTH + 1)),
        ({"allOf": [{}] * (MAX_NODES - 2)}, {"allOf": [{}] * (MAX_NODES - 1)}),
        ({"title": "x" * (MAX_BYTES - 12)}, {"title": "x" * (MAX_BYTES - 11)}),
        *(
            (
                {"allOf": [{"pattern": large}] * MAX_LARGE_PATTERNS},
                {"allOf": [{"pattern": large}] * (MAX_LARGE_PATTERNS + 1)},
            )
            for large in (r"\p{Lu}", "^.{65}$", "^a{1,65}$", "^a{65,}$", "(?:ab){9}")
        ),
        *(
            ({"allOf": [{"pattern": small}] * MAX_PATTERNS}, {"allOf": [{"pattern": small}] * (MAX_PATTERNS + 1)})
            for small in ("^.{1,64}$", "(ab){8}", r"^\d{4}-\d{2}-\d{2}$", "[{]99}")
        ),
        ({"allOf": [{"pattern": "a"}] * MAX_PATTERNS}, {"allOf": [{"pattern": "a"}] * (MAX_PATTERNS + 1)}),
        (
            {"patternProperties": {str(n): {} for n in range(MAX_PATTERNS)}},
            {"patternProperties": {str(n): {} for n in range(MAX_PATTERNS + 1)}},
        ),
    ],
)
def test_bounds(most: Any, too_much: Any) -> None:
    """Depth, size, objects and arrays, and patterns each have a bound; the bound itself is allowed."""
    compile_schema(most)
    assert _refusal(too_much).code == "invalid_schema"


def test_a_schema_that_is_far_too_deep_is_refused_without_recursion() -> None:
    """100 000 levels are an invalid schema, not a RecursionError."""
    assert _refusal(_nested(100_000)).code == "invalid_schema"


@each(
    ("schema", "value", "path", "keyword"),
    [
        ({"type": "string"}, 1, "", "type"),
        ({"properties": {"a/b~c": {"minimum": 5}}}, {"a/b~c": 1}, "/a~1b~0c", "minimum"),
        ({"items": {"type": "integer"}}, [1, "x"], "/1", "type"),
        ({"required": ["a"]}, {}, "", "required"),
        ({"additionalProperties": False}, {"a": 1}, "", "additionalProperties"),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, 1, "", "anyOf"),
        ({"enum": [1, 2]}, 3, "", "enum"),
        ({"pattern": "^(a+)+$"}, "a" * 50_000 + "!", "", "pattern"),
        (False, 1, "", "falseSchema"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "format": "email"}, "x", "", "format"),
    ],
)
def test_errors(schema: Any, value: Any, path: str, keyword: str) -> None:
    """An error has the JSON Pointer of the value, the keyword, and a sentence."""
    (error,) = compile_schema(schema).errors(value)
    assert (error.path, error.keyword) == (path, keyword)
    assert error.message


@each(
    ("schema", "value"),
    [
        (True, {"any": "thing"}),
        ({"type": "integer"}, 10**400),
        ({"type": "number"}, 1.5),
        ({"type": "array", "uniqueItems": True}, list(range(10_000))),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, [[[[]]]]),
    ],
)
def test_valid_values_have_no_errors(schema: Any, value: Any) -> None:
    """A value that fits has no errors, big integers and large arrays too."""
    assert compile_schema(schema).errors(value) == []


PASSWORD = r"^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,}$"


@pytest.mark.parametrize(
    ("pattern", "fits", "breaks"),
    [(PASSWORD, "Secret123", "secret123"), (r"^(a|b)\1$", "aa", "ab"), (r"(?<=\$)[0-9]", "$5", "5")],
)
def test_patterns_that_backtrack_run_in_v8(pattern: str, fits: str, breaks: str) -> None:
    """Look-around and references back have the meaning that they have in JavaScript; other values are not their affair."""
    schema = compile_schema({"properties": {"p": {"pattern": pattern}}})
    assert schema.errors({"p": fits}) == schema.errors({"p": 1}) == []
    (error,) = schema.errors({"p": breaks})
    assert (error.path, error.keyword) == ("/p", "pattern")


def test_a_pattern_that_backtracks_for_ever_is_too_complex() -> None:
    """It is stopped at its limit, and no error of the value is made of that."""
    with pytest.raises(TooComplex):
        compile_schema({"items": {"pattern": "^(?=a)(a+)+$"}}).errors(["a" * 50 + "!"])


@each(("dialect", "spelling"), [(uri, one) for uri, spellings in DRAFTS.items() for one in spellings])
def test_spellings_of_a_dialect(dialect: str, spelling: str) -> None:
    """http or https, with or without `#`, with or without a draft."""
    assert compile_schema({"$schema": spelling, "type": "string"}).dialect == dialect
    assert compile_schema({"type": "string"}).dialect == "https://json-schema.org/draft/2020-12/schema"


@each("uri", ["https://example.com/my-dialect", "http://json-schema.org/draft-03/schema#", "draft-07", "", NO_PORTS])
def test_a_dialect_that_is_not_known(uri: str) -> None:
    """It is refused under its own name: no reference is meant."""
    refusal = _refusal({"$schema": uri})
    assert (refusal.code, refusal.field) == ("unknown_dialect", "tool.schema")


@each("dialect", [None, *DRAFTS])
def test_formats_are_asserted_unless_the_caller_says_otherwise(dialect: str | None) -> None:
    """In every draft."""
    schema = {"format": "date-time"} if dialect is None else {"$schema": dialect, "format": "date-time"}
    assert [error.keyword for error in compile_schema(schema).errors("tomorrow")] == ["format"]
    assert compile_schema(schema, assert_format=False).errors("tomorrow") == []


def test_at_most_fifty_errors() -> None:
    """Of many broken rules the first 50 are reported."""
    assert len(compile_schema({"items": {"type": "string"}}).errors([0] * 1000)) == MAX_ERRORS


@each(
    ("schema", "value"),
    [
        ({"type": "string"}, {"a": "secret" * 100_000}),
        ({"additionalProperties": False}, {"k" * 10_000: 1}),
        ({"enum": ["x" * 10_000]}, "secret"),
        ({"required": ["r" * 10_000]}, {}),
    ],
)
def test_messages_are_short_and_do_not_quote_the_value(schema: Any, value: Any) -> None:
    """A message has at most 200 characters and never contains the value that broke the rule."""
    (error,) = compile_schema(schema).errors(value)
    assert len(error.message) <= MAX_MESSAGE
    assert "secret" not in error.message


@pytest.mark.parametrize("bottom", [1, "bottom"])
def test_deep_values_are_checked(bottom: Any) -> None:
    """A value of 512 levels is checked to its bottom, though the library cannot say where it is wrong."""
    value = bottom
    for _ in range(512):
        value = [value]
    schema = compile_schema({"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "integer"}]})
    assert [error.path for error in schema.errors(value)] == ([] if bottom == 1 else [""])
    assert len(compile_schema({"uniqueItems": True}).errors([value, value])) == 1


def test_errors_are_not_collected_for_a_valid_value() -> None:
    """The library's exhaustive mode is exponential on doubling references; a valid value never gets there."""
    levels = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(12)}
    schema = compile_schema({"$defs": {**levels, "d12": {"type": "string"}}, "$ref": "#/$defs/d0"})
    assert schema.errors("x") == []
    assert len(schema.errors(1)) == MAX_ERRORS
