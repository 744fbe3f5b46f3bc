"""What holds for every schema and value, with another implementation of JSON Schema as the judge."""

import json
from typing import Any

import jsonschema_rs
import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from jobs.engines.json_schema.check import compile_schema
from jobs.llm_tool_validate import Change, Document, Solution, solve, type_of
from jobs.llm_tool_validate.places import NOTHING, copy, get, put

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_TEXTS = (
    *("", "1", "-2", "1.5", "2.0", "true", "null", "x", "[1]", '["1", "x"]', '{"a": "1"}', '"[2]"', "[1", "yes"),
    *("01", " 3 "),
)
_SCALARS = st.one_of(
    st.sampled_from(_TEXTS), st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from((1.5, 2.0, 0.0, 1e300))
)
_NAMES = st.sampled_from(("a", "b", "c/~", "", "7", "07"))

VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8
)


def _schemas() -> st.SearchStrategy[dict[str, Any]]:
    types = (
        st.sampled_from(_TYPES)
        | st.sampled_from(("integer", "boolean", "array"))
        | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True)
    )
    leaf = st.one_of(
        st.fixed_dictionaries({"type": types}),
        st.fixed_dictionaries({"enum": st.lists(_SCALARS, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"const": _SCALARS}),
        st.fixed_dictionaries({"type": st.just("integer"), "minimum": st.integers(0, 3)}),
        st.just({"$ref": "#/$defs/d"}),
        st.just({}),
    )

    def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        some = st.lists(inner, min_size=1, max_size=3)
        properties = st.dictionaries(_NAMES, inner, min_size=1, max_size=3)
        return st.one_of(
            st.fixed_dictionaries(
                {"type": st.just("object"), "properties": properties},
                optional={
                    "required": st.lists(_NAMES, max_size=2, unique=True),
                    "additionalProperties": st.booleans() | inner,
                },
            ),
            st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional={"minItems": st.integers(0, 2)}),
            st.fixed_dictionaries({"prefixItems": some, "items": inner}, optional={"uniqueItems": st.just(True)}),
            st.fixed_dictionaries({"properties": properties, "unevaluatedProperties": inner}),
            st.fixed_dictionaries({"patternProperties": st.dictionaries(st.just("^[ab0]"), inner, min_size=1)}),
            st.fixed_dictionaries({"anyOf": some}),
            st.fixed_dictionaries({"oneOf": some}),
            st.fixed_dictionaries({"allOf": some}),
            st.fixed_dictionaries({"anyOf": some, "oneOf": some, "type": types}),
            st.fixed_dictionaries({"if": inner, "then": inner}, optional={"else": inner, "properties": properties}),
            st.fixed_dictionaries({"dependentSchemas": properties, "properties": properties}),
            st.fixed_dictionaries({"not": inner, "type": types}),
            st.fixed_dictionaries({"contains": inner}),
        )

    schemas = st.recursive(leaf, around, max_leaves=6)
    definitions = (
        {"type": "integer"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/d"}, "b": {"type": "integer"}}},
        {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/d"}}, {"type": "integer"}, {"type": "null"}]},
    )
    return st.builds(lambda schema, d: {**schema, "$defs": {"d": d}}, schemas, st.sampled_from(definitions))


SCHEMAS = _schemas()


def _near(draw: st.DrawFn, schema: dict[str, Any], depth: int = 0) -> Any:
    """A value of about the schema's shape, with texts where other types may be asked for."""
    if depth > 4:
        return draw(_SCALARS)
    names = [keyword for keyword in ("anyOf", "oneOf", "allOf", "prefixItems") if keyword in schema]
    if "properties" in schema or "patternProperties" in schema:
        inner = schema.get("properties") or {"a": schema["patternProperties"]["^[ab0]"], "b": {}}
        value: Any = {name: _near(draw, part, depth + 1) for name, part in inner.items() if draw(st.integers(0, 4))}
    elif isinstance(schema.get("items"), dict) and draw(st.integers(0, 3)):
        parts = [*schema.get("prefixItems", []), schema["items"]]
        value = [_near(draw, part, depth + 1) for part in parts]
    elif names and names[0] != "prefixItems":
        value = _near(draw, draw(st.sampled_from(schema[names[0]])), depth + 1)
    else:
        value = draw(_SCALARS)
    return json.dumps(value) if isinstance(value, dict | list) and not draw(st.integers(0, 5)) else value


@st.composite
def schemas_and_values(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """Half of the values are made for the schema."""
    schema = draw(SCHEMAS)
    return schema, _near(draw, schema) if draw(st.booleans()) else draw(VALUES)


def _solved(schema: dict[str, Any], value: Any) -> Solution:
    return solve(Document(compile_schema(schema)).root, value)


def _is_the_same(change: Change) -> bool:
    """Whether a value can be read out of what it became, or what it became out of the value."""
    before, after = change.before, change.after
    if after is NOTHING:
        return before is None
    if change.wraps:
        return bool(after == [before]) and type_of(before) not in ("null", "array", "object")
    match before:
        case str():
            return before == "" if after is None and not before else _read(before, after)
        case bool():
            return bool(after == json.dumps(before))
        case int() | float():
            return after is (before == 1) if isinstance(after, bool) else bool(json.loads(after) == before)
        case _:
            return False


def _read(text: str, value: Any) -> bool:
    read = json.loads(text)
    while isinstance(read, str):
        read = json.loads(read)
    return bool(read == value) and isinstance(read, bool) is isinstance(value, bool)


@settings(deadline=None, max_examples=800)
@given(schemas_and_values())
def test_coercion(pair: tuple[dict[str, Any], Any]) -> None:
    """The judge agrees; what fits is untouched; the changes lose nothing, lead to the value, and are all there is to do."""
    schema, value = pair
    sent = msgspec.json.encode(value)
    judge = Draft202012Validator(schema)
    solution = _solved(schema, value)

    assert msgspec.json.encode(value) == sent
    assert judge.is_valid(solution.value) is (not solution.violations)
    if judge.is_valid(value):
        assert (msgspec.json.encode(solution.value), solution.changes) == (sent, [])

    replayed = msgspec.json.decode(sent)
    for change in solution.changes:
        assert get(replayed, change.place) == change.before
        assert _is_the_same(change)
        replayed = put(replayed, change.place, copy(change.after))
    assert msgspec.json.encode(replayed) == msgspec.json.encode(solution.value)

    again = _solved(schema, solution.value)
    assert msgspec.json.encode(again.value) == msgspec.json.encode(solution.value)


@settings(deadline=None, max_examples=300)
@given(schemas_and_values())
def test_errors_are_those_of_the_library(pair: tuple[dict[str, Any], Any]) -> None:
    """The keywords that replace unions find the same rules broken, at the same places, as the library's own."""
    schema, value = pair
    compiled = compile_schema(schema)
    ours = Document(compiled).root.violations(value)
    theirs = jsonschema_rs.validator_for(schema).iter_errors(value)
    assert sorted(_where(violation.error) for violation in ours) == sorted(map(_where, theirs))


def _where(error: jsonschema_rs.ValidationError) -> str:
    return repr((error.instance_path, error.schema_path, error.kind.name))
