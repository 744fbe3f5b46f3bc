"""Schemas and values: what is changed, and what is left alone."""

from typing import Any

import pytest

from jobs.engines.json_schema.check import compile_schema, pointer
from jobs.llm_tool_validate import Document, solve
from jobs.llm_tool_validate.solve import MAX_NESTED_BRANCHES
from tests.each import each

INTEGER = {"type": "integer"}
STRING = {"type": "string"}
BOOLEAN = {"type": "boolean"}
INTEGERS = {"type": "array", "items": INTEGER}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _nullable(schema: Any) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _kind(name: str, **properties: Any) -> dict[str, Any]:
    return _object(kind={"const": name}, **properties) | {"required": ["kind", *properties]}


SHAPES = [_kind("circle", r={"type": "number"}), _kind("text", r=STRING), _kind("flag", r=BOOLEAN)]
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {"node": _object(value=INTEGER, children={"type": "array", "items": {"$ref": "#/$defs/node"}})},
}
FILTER = {
    "$defs": {
        "filter": {
            "anyOf": [
                _kind("and", of={"type": "array", "items": {"$ref": "#/$defs/filter"}}),
                _kind("not", of={"$ref": "#/$defs/filter"}),
                _kind("is", of=INTEGER),
            ]
        }
    },
    "$ref": "#/$defs/filter",
}

COERCED: list[tuple[Any, Any, Any, list[str]]] = [
    # At the root
    (INTEGER, "12", 12, [""]),
    (BOOLEAN, "true", True, [""]),
    ({"type": "null"}, "", None, [""]),
    (STRING, 12, "12", [""]),
    ({"type": "array"}, 5, [5], [""]),
    ({"type": "array"}, "", [""], [""]),
    # Within objects and arrays
    (_object(a=INTEGER), {"a": "1", "b": "1"}, {"a": 1, "b": "1"}, ["/a"]),
    (_object(a=INTEGER, b=INTEGER), {"a": "1", "b": "x"}, {"a": 1, "b": "x"}, ["/a"]),
    (_object(a=_object(b=_object(c=INTEGER))), {"a": {"b": {"c": "1"}}}, {"a": {"b": {"c": 1}}}, ["/a/b/c"]),
    (
        _object(**{"a/b": INTEGER, "~": INTEGER, "": INTEGER}),
        {"a/b": "1", "~": "2", "": "3"},
        None,
        ["/a~1b", "/~0", "/"],
    ),
    (_object(**{"0": INTEGER}), {"0": "1"}, {"0": 1}, ["/0"]),
    (INTEGERS, ["1", 2, "3"], [1, 2, 3], ["/0", "/2"]),
    (INTEGERS, [["1"], "2"], [["1"], 2], ["/1"]),
    ({"type": "array", "items": INTEGERS}, [["1"], ["2"]], [[1], [2]], ["/0/0", "/1/0"]),
    ({"prefixItems": [INTEGER, BOOLEAN], "items": STRING}, ["1", "true", 5], [1, True, "5"], ["/0", "/1", "/2"]),
    ({"$schema": DRAFT_7, "items": [INTEGER], "additionalItems": BOOLEAN}, ["1", "true"], [1, True], ["/0", "/1"]),
    ({"additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}, ["/a"]),
    ({"patternProperties": {"^n_": INTEGER}}, {"n_a": "1", "b": "1"}, {"n_a": 1, "b": "1"}, ["/n_a"]),
    ({"unevaluatedProperties": INTEGER, "properties": {"a": STRING}}, {"a": "1", "b": "1"}, {"a": "1", "b": 1}, ["/b"]),
    # Keys that are easily mistaken
    (_object(**{"7": INTEGER}), {"7": "1", "07": "1", "+7": "1"}, {"7": 1, "07": "1", "+7": "1"}, ["/7"]),
    (_object(**{"07": INTEGER}), {"7": "1", "07": "1", "+7": "1"}, {"7": "1", "07": 1, "+7": "1"}, ["/07"]),
    (_object(**{"+7": INTEGER}), {"7": "1", "+7": "1"}, {"7": "1", "+7": 1}, ["/+7"]),
    (_object(**{"": _object(**{"": INTEGERS})}), {"": {"": ["1"]}}, {"": {"": [1]}}, ["///0"]),
    (_object(**{"": _nullable(INTEGER), "a": INTEGER}), {"": "1", "a": "x"}, {"": 1, "a": "x"}, ["/"]),
    (_object(**{"": {}, 'a"]["b': INTEGER}), {"": 1, 'a"]["b': "1"}, {"": 1, 'a"]["b': 1}, ['/a"]["b']),
    (
        _object(**{"": {}, 'a\n\nOn instance["b"]': INTEGER}),
        {"": 1, 'a\n\nOn instance["b"]': "1"},
        None,
        ['/a\n\nOn instance["b"]'],
    ),
    # Texts of objects and arrays, and what is in them
    (_object(a=INTEGER), '{"a": "1"}', {"a": 1}, ["", "/a"]),
    (_object(a=_object(b=INTEGER)), '{"a": "{\\"b\\": \\"1\\"}"}', {"a": {"b": 1}}, ["", "/a", "/a/b"]),
    (_object(a=_object()), {"a": '{"b": 1}'}, {"a": {"b": 1}}, ["/a"]),
    (INTEGERS, '["1", 2]', [1, 2], ["", "/0"]),
    (_object(a=INTEGER) | {"required": ["b"]}, '{"a": "1"}', {"a": 1}, ["", "/a"]),
    # Arrays made for one item
    (INTEGERS, 5, [5], [""]),
    (INTEGERS, "5", [5], ["", "/0"]),
    ({"type": "array", "items": STRING}, 5, ["5"], ["", "/0"]),
    ({"type": "array", "items": _nullable(INTEGER)}, "5", [5], ["", "/0"]),
    ({"type": "array", "minItems": 2}, 5, [5], [""]),
    (_object(tags={"type": "array", "items": STRING}), {"tags": "a"}, {"tags": ["a"]}, ["/tags"]),
    # References
    ({"$ref": "#/$defs/n", "$defs": {"n": INTEGER}}, "1", 1, [""]),
    ({"$defs": {"n": {"$anchor": "n"} | INTEGER}, "properties": {"a": {"$ref": "#n"}}}, {"a": "1"}, {"a": 1}, ["/a"]),
    ({"$schema": DRAFT_7, "definitions": {"n": INTEGER}, "items": {"$ref": "#/definitions/n"}}, ["1"], [1], ["/0"]),
    ({"$id": "http://x.example/a", "$ref": "http://x.example/a#/$defs/n", "$defs": {"n": INTEGER}}, "1", 1, [""]),
    ({"$id": "http://x.example/a", "$ref": "n", "$defs": {"n": {"$id": "n"} | _nullable(INTEGER)}}, "1", 1, [""]),
    (
        TREE,
        {"value": "1", "children": [{"value": "2"}]},
        {"value": 1, "children": [{"value": 2}]},
        ["/value", "/children/0/value"],
    ),
    (
        {"$dynamicAnchor": "n", "properties": {"v": INTEGER, "n": {"$dynamicRef": "#n"}}},
        {"n": {"v": "1"}},
        {"n": {"v": 1}},
        ["/n/v"],
    ),
    (
        {"$schema": DRAFT_2019, "properties": {"v": INTEGER, "n": {"$recursiveRef": "#"}}},
        {"n": {"v": "1"}},
        {"n": {"v": 1}},
        ["/n/v"],
    ),
    # Lists of types
    ({"type": ["integer", "null"]}, "", None, [""]),
    ({"type": ["boolean", "integer"]}, "1", 1, [""]),
    ({"type": ["array", "null"]}, "", None, [""]),
    # Unions
    (_nullable(INTEGER), "1", 1, [""]),
    (_nullable(INTEGER), "", None, [""]),
    (_nullable(_object(a=INTEGER)), {"a": "1"}, {"a": 1}, ["/a"]),
    (_nullable(_object(a=INTEGER)), '{"a": "1"}', {"a": 1}, ["", "/a"]),
    ({"anyOf": [INTEGER, BOOLEAN]}, "true", True, [""]),
    ({"anyOf": [INTEGERS, INTEGER]}, "5", 5, [""]),
    ({"anyOf": [{"type": "array"}, INTEGER]}, "5", 5, [""]),
    ({"anyOf": [_object(a=INTEGER, b=INTEGER), _object(a=INTEGER, b=STRING)]}, {"a": "1", "b": "2"}, None, ["/a"]),
    ({"anyOf": [INTEGERS, BOOLEAN]}, "5", [5], ["", "/0"]),
    ({"anyOf": [_object(a=INTEGER, b=INTEGER), _object(a=INTEGER)]}, {"a": "1", "b": "x"}, {"a": 1, "b": "x"}, ["/a"]),
    ({"anyOf": [{"anyOf": [INTEGER]}, {"anyOf": [BOOLEAN]}]}, "true", True, [""]),
    ({"oneOf": [INTEGER, BOOLEAN]}, "1", 1, [""]),
    ({"oneOf": [{"type": "number"}, INTEGER]}, "1.5", 1.5, [""]),
    ({"oneOf": SHAPES}, {"kind": "circle", "r": "1.5"}, {"kind": "circle", "r": 1.5}, ["/r"]),
    ({"oneOf": SHAPES}, {"kind": "flag", "r": "true"}, {"kind": "flag", "r": True}, ["/r"]),
    ({"oneOf": SHAPES}, {"kind": "text", "r": 5}, {"kind": "text", "r": "5"}, ["/r"]),
    ({"items": {"anyOf": SHAPES}}, [{"kind": "circle", "r": "1"}, "x"], [{"kind": "circle", "r": 1}, "x"], ["/0/r"]),
    (
        FILTER,
        {"kind": "not", "of": {"kind": "is", "of": "1"}},
        {"kind": "not", "of": {"kind": "is", "of": 1}},
        ["/of/of"],
    ),
    (
        FILTER,
        {"kind": "and", "of": '[{"kind": "is", "of": "1"}]'},
        {"kind": "and", "of": [{"kind": "is", "of": 1}]},
        ["/of", "/of/0/of"],
    ),
    # Other combinations
    ({"allOf": [{"type": "number"}, INTEGER]}, "5.0", 5, [""]),
    ({"allOf": [INTEGER, {"type": "number"}]}, "5.0", 5, [""]),
    ({"allOf": [{"anyOf": [STRING, INTEGER]}, {"anyOf": [INTEGER, BOOLEAN]}]}, "1", 1, [""]),
    (
        {"anyOf": [_object(a=INTEGER)], "properties": {"a": {"anyOf": [INTEGER]}, "b": _nullable(BOOLEAN)}},
        {"a": "1", "b": "true"},
        {"a": 1, "b": True},
        ["/a", "/b"],
    ),
    (
        {"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": BOOLEAN}}]},
        {"a": "1", "b": "true"},
        {"a": 1, "b": True},
        ["/a", "/b"],
    ),
    ({"allOf": [{"anyOf": [INTEGER, STRING]}, {"type": "number"}]}, "1", 1, [""]),
    ({"if": {"required": ["a"]}, "then": {"properties": {"b": INTEGER}}}, {"a": 1, "b": "1"}, {"a": 1, "b": 1}, ["/b"]),
    ({"if": {"required": ["a"]}, "else": {"properties": {"b": INTEGER}}}, {"b": "1"}, {"b": 1}, ["/b"]),
    (
        _object(on=BOOLEAN) | {"if": {"properties": {"on": {"const": True}}}, "then": {"properties": {"n": INTEGER}}},
        {"on": "true", "n": "1"},
        {"on": True, "n": 1},
        ["/on", "/n"],
    ),
    ({"dependentSchemas": {"a": {"properties": {"b": INTEGER}}}}, {"a": 1, "b": "1"}, {"a": 1, "b": 1}, ["/b"]),
    (
        {"$schema": DRAFT_7, "dependencies": {"a": {"properties": {"b": INTEGER}}}},
        {"a": 1, "b": "1"},
        {"a": 1, "b": 1},
        ["/b"],
    ),
    ({"type": "integer", "not": STRING}, "1", 1, [""]),
    # Listed values
    ({"enum": [1, 2]}, "2", 2, [""]),
    ({"const": True}, "true", True, [""]),
    ({"type": "integer", "enum": [1, 2]}, "2", 2, [""]),
    ({"type": "string", "enum": ["1", "2"]}, 2, "2", [""]),
    ({"enum": ["a", 1], "type": ["string", "integer"]}, "1", 1, [""]),
    # Numbers
    ({"$schema": DRAFT_4, "type": "integer"}, 5.0, 5, [""]),
    ({"$schema": DRAFT_4, "type": "integer"}, "5.0", 5, [""]),
    ({"type": "integer", "maximum": 10}, "11", 11, [""]),
]

LEFT_ALONE: list[tuple[Any, Any]] = [
    # It fits
    ({"type": ["string", "null"]}, ""),
    ({"type": ["string", "integer"]}, "1"),
    ({"type": ["string", "array"]}, "[1]"),
    (INTEGER, 1.0),
    ({"anyOf": [INTEGER, STRING]}, "1"),
    ({"anyOf": [STRING, {"type": "null"}]}, "null"),
    ({"oneOf": [INTEGER, STRING]}, "1"),
    ({"not": INTEGER}, "1"),
    ({"properties": {"a": INTEGER}}, '{"a": "1"}'),
    ({"if": INTEGER, "then": False}, "1"),
    ({}, "1"),
    (True, "1"),
    # It cannot be made to fit
    (False, "1"),
    (INTEGER, True),
    (STRING, None),
    ({"type": "array"}, None),
    ({"type": "array", "items": STRING}, "[broken"),
    (INTEGERS, "x"),
    ({"type": "array", "items": INTEGERS}, "5"),
    ({"type": "array", "items": {"$ref": "#"}}, "5"),
    ({"type": "array", "items": {"type": "integer", "minimum": 6}}, "5"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/a"}}]}}}, 1),
    # Rules that contradict each other
    ({"allOf": [INTEGER, STRING]}, "1"),
    ({"allOf": [INTEGER, BOOLEAN]}, "1"),
    ({"type": "string", "enum": [1, 2]}, "1"),
    ({"type": "integer", "enum": ["1"]}, "1"),
    ({"allOf": [{"anyOf": [BOOLEAN]}, {"anyOf": [STRING]}]}, False),
    ({"allOf": [{"anyOf": [STRING]}, {"anyOf": [BOOLEAN]}]}, False),
    ({"allOf": [{"anyOf": [_object(a=BOOLEAN)]}, {"anyOf": [_object(a=STRING)]}]}, {"a": True}),
    ({"properties": {"a": INTEGER}, "anyOf": [_object(a=STRING)]}, {"a": "1"}),
    ({"type": "integer", "allOf": [{"anyOf": [BOOLEAN, {"type": "null"}]}]}, True),
    # Which of several is unclear, or none
    ({"oneOf": [{"type": "number"}, INTEGER]}, "1"),
    ({"oneOf": [INTEGER, {"type": "number"}]}, 1),
    ({"oneOf": [INTEGER, {"type": "number"}, STRING]}, 1),
    ({"anyOf": [INTEGER, BOOLEAN]}, "x"),
    ({"oneOf": SHAPES}, {"kind": "circle", "r": "wide"}),
    ({"oneOf": SHAPES}, {"kind": "square", "r": "1"}),
    ({"oneOf": SHAPES}, {"kind": "circle"}),
    ({"enum": ["celsius", None]}, ""),
    # Not looked into
    ({"contains": INTEGER}, ["1"]),
    ({"propertyNames": INTEGER}, {"1": 1}),
    ({"prefixItems": [True], "unevaluatedItems": INTEGER}, [1, "1"]),
    ({"not": STRING}, "1"),
]


def _solution(schema: Any, value: Any) -> Any:
    return solve(Document(compile_schema(schema)).root, value)


@each(("schema", "value", "expected", "places"), COERCED)
def test_coerced(schema: Any, value: Any, expected: Any, places: list[str]) -> None:
    """The value, and the places that were changed, in the order in which they were."""
    solution = _solution(schema, value)
    assert sorted(pointer(change.place) for change in solution.changes) == sorted(places)
    if expected is not None or places == [""]:
        assert solution.value == expected
        assert repr(solution.value) == repr(expected)


@each(("schema", "value"), LEFT_ALONE)
def test_left_alone(schema: Any, value: Any) -> None:
    """Nothing is changed, and nothing is said to be."""
    solution = _solution(schema, value)
    assert solution.changes == []
    assert repr(solution.value) == repr(value)


def test_steps_are_reported_one_by_one() -> None:
    """A parsed text is reported as it was parsed; the changes in it come after."""
    solution = _solution(_object(a=INTEGERS), '{"a": "5"}')
    assert [(change.place, change.before, change.after, change.wraps) for change in solution.changes] == [
        ((), '{"a": "5"}', {"a": "5"}, False),
        (("a",), "5", ["5"], True),
        (("a", 0), "5", 5, False),
    ]


def test_what_is_still_wrong() -> None:
    """Of the value as it was changed."""
    solution = _solution(_object(a={"type": "integer", "minimum": 5}, b=INTEGER), {"a": "1", "b": "x"})
    assert solution.value == {"a": 1, "b": "x"}
    assert sorted((pointer(error.place), error.keyword) for error in solution.violations) == [
        ("/a", "minimum"),
        ("/b", "type"),
    ]


def test_contradictions_take_nothing_else_with_them() -> None:
    """The contradicted value stays as it was, and its neighbours are changed."""
    contradiction = {"properties": {"a": {"allOf": [{"enum": [1]}, STRING]}, "b": INTEGER}}
    solution = _solution(contradiction, {"a": "1", "b": "2"})
    assert solution.value == {"a": "1", "b": 2}
    assert [change.place for change in solution.changes] == [("b",)]


def test_a_change_that_is_taken_back_leaves_no_trace() -> None:
    """What it had brought into force is not changed either."""
    schema = {
        "properties": {"a": {"enum": [1]}, "b": {}},
        "allOf": [{"properties": {"a": STRING}}],
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"properties": {"b": INTEGER}},
    }
    solution = _solution(schema, {"a": "1", "b": "2"})
    assert (solution.value, solution.changes) == ({"a": "1", "b": "2"}, [])


def test_a_contradiction_that_is_gone_in_the_end() -> None:
    """While `a` is a text, `b` has to be one; when `a` is not any more, `b` may become what it could not become before."""
    schema = {
        "properties": {"a": INTEGER, "b": {"anyOf": [INTEGERS, STRING | {"minLength": 9}]}},
        "if": {"properties": {"a": STRING}},
        "then": {"properties": {"b": STRING}},
    }
    solution = _solution(schema, {"a": "1", "b": 1})
    assert (solution.value, solution.violations) == ({"a": 1, "b": [1]}, [])
    assert [change.place for change in solution.changes] == [("a",), ("b",)]


def test_the_value_itself_stays_as_it_is() -> None:
    """Also where it is changed within."""
    value = {"a": ["1", {"b": "2"}]}
    _solution(_object(a={"type": "array", "items": {"anyOf": [INTEGER, _object(b=INTEGER)]}}), value)
    assert value == {"a": ["1", {"b": "2"}]}


@each(("levels", "is_parsed"), [(70, True), (78, True), (79, False), (100, False)])
@each("schema", [{"type": "array"}, {"anyOf": [{"type": "array"}]}, {"anyOf": [{"items": {"type": "array"}}]}])
def test_levels_of_parsed_texts(schema: Any, levels: int, is_parsed: bool) -> None:
    """With the 50 around it, a text may have as many as can be checked."""
    value: Any = "[" * levels + "]" * levels
    around = 50
    if "items" in str(schema):
        value, around = [value], 49
    for _ in range(around):
        value, schema = [value], {"items": schema}
    assert bool(_solution(schema, value).changes) is is_parsed


@pytest.mark.parametrize(
    ("levels", "is_changed"), [(MAX_NESTED_BRANCHES - 1, True), (MAX_NESTED_BRANCHES, False), (60, False)]
)
def test_branches_within_branches(levels: int, is_changed: bool) -> None:
    """48 of them are tried; a value in more is left as it is."""
    value: Any = {"kind": "is", "of": "1"}
    for _ in range(levels):
        value = {"kind": "not", "of": value}
    assert bool(_solution(FILTER, value).changes) is is_changed
