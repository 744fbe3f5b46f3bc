"""The endpoint: what a request may be, and what comes back."""

import json
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.json_repair.endpoint import ENDPOINT, exhausted
from tests.each import each
from tests.jobs.calls import CONTEXT, answer_to, refusal_of, request_of

_request = partial(request_of, ENDPOINT)
_refusal = partial(refusal_of, ENDPOINT)


def _answer(malformed: str, **more: Any) -> dict[str, Any]:
    return answer_to(ENDPOINT, {"malformed": malformed, **more})


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer."""
    assert answer_to(ENDPOINT, ENDPOINT.example.request) == ENDPOINT.example.response


@each(
    ("malformed", "error"),
    [
        (" ", "not_repairable"),
        ("// nothing", "not_repairable"),
        ("[" * 100_000, "too_complex"),
        ("a(" * 50_000, "too_complex"),
    ],
)
def test_without_a_value(malformed: str, error: str) -> None:
    """A text without a value is a negative answer that says why, with all its keys."""
    answer = _answer(malformed, schema={"type": "object"})
    assert answer == {
        "ok": False,
        "repaired": None,
        "wasModified": None,
        "repairs": [],
        "schemaValid": None,
        "schemaErrors": [],
        "error": error,
        "dialect": "https://json-schema.org/draft/2020-12/schema",
        "formatAsserted": True,
    }


@each(
    ("malformed", "schema", "repaired", "valid"),
    [
        ("None", None, None, None),
        ("[1,]", True, [1], True),
        ("[1,]", False, [1], False),
        ("[1,]", {}, [1], True),
        ("{a: 1,}", {"required": ["a"], "properties": {"a": {"type": "integer"}}}, {"a": 1}, True),
        ("{a: [1, 'x']}", {"properties": {"a": {"items": {"type": "integer"}}}}, {"a": [1, "x"]}, False),
    ],
)
def test_a_value_is_judged_by_the_schema(malformed: str, schema: Any, repaired: Any, valid: bool | None) -> None:
    """A value that breaks the schema is given too, but not ok. Null is a value, and no schema."""
    answer = _answer(malformed, schema=schema)
    assert (answer["ok"], answer["repaired"], answer["error"]) == (valid is not False, repaired, None)
    assert (answer["schemaValid"], answer["schemaErrors"] == []) == (valid, valid is not False)


@each(
    ("malformed", "schema", "repaired"),
    [
        ('"{\\"a\\": 1}"', {"type": "object"}, {"a": 1}),
        ('"{\\"a\\": 1}"', {"type": ["object", "string"]}, '{"a": 1}'),
        ('"{\\"a\\": 1}"', {"type": "array"}, '{"a": 1}'),
        ('"{\\"a\\": 1}"', None, '{"a": 1}'),
        (json.dumps(json.dumps(json.dumps({"a": [1]}))), {"type": "object"}, {"a": [1]}),
        ('"{\\"a\\": True,}"', {"type": "object"}, {"a": True}),
        ('"hello"', {"type": "object"}, "hello"),
    ],
)
def test_json_that_was_encoded_twice(malformed: str, schema: Any, repaired: Any) -> None:
    """It is decoded where the schema refuses a string and takes what is in it."""
    answer = _answer(malformed, schema=schema)
    assert answer["repaired"] == repaired
    assert answer["wasModified"] is not isinstance(repaired, str)
    assert bool(answer["repairs"]) is answer["wasModified"]


def test_offsets_in_an_encoded_text_are_those_of_the_outer() -> None:
    """An escape has two characters there, and one inside."""
    malformed = '"{\\"a\\": True}"'
    kinds = {one["kind"]: one for one in _answer(malformed, schema={"type": "object"})["repairs"]}
    assert kinds["python_literal"] == {
        "kind": "python_literal",
        "offset": malformed.index("True"),
        "before": "True",
        "after": "true",
    }


@each(("entity", "sign"), [("&quot;", '"'), ("&#34;", '"'), ("&#x27;", "'")])
def test_what_an_entity_became(entity: str, sign: str) -> None:
    """The repair has the entity of its place, and the sign that it means."""
    found = _answer(f"{{{entity}a{entity}: 1}}")["repairs"][0]
    assert (found["kind"], found["offset"], found["before"], found["after"]) == ("html_entity", 1, entity, sign)


def test_huge_numbers_never_become_infinity() -> None:
    """What readers of the answer could only read as Infinity, or not at all, is a string; other integers are exact."""
    answer = _answer("[1e400, -1e400, NaN, 123456789012345678901234567890, " + "9" * 5000 + "]")
    assert answer["repaired"] == ["1e400", "-1e400", None, 123456789012345678901234567890, "9" * 5000]


@pytest.mark.parametrize("length", [0, 100_001])
def test_length_is_bounded(length: int) -> None:
    """An empty text and one of more than 100 000 code points are refused."""
    with pytest.raises(msgspec.ValidationError, match="malformed"):
        _request({"malformed": "x" * length})


def test_length_counts_code_points() -> None:
    """100 000 emoji are accepted, also in the longest way to write them, which the body limit allows."""
    body = b'{"malformed": "[' + b"\\ud83d\\ude00" * 99_998 + b']"}'
    assert len(body) < ENDPOINT.max_body_bytes - 64 * 1024
    request = _request(body)
    assert len(request.malformed) == 100_000
    assert ENDPOINT.run(request, CONTEXT).repaired == ["😀" * 99_998]


@pytest.mark.parametrize("assert_format", [True, False])
def test_formats_count_unless_the_caller_says_otherwise(assert_format: bool) -> None:
    """The answer says by which draft the schema was read, and whether its formats decided."""
    answer = _answer("['tomorrow']", schema={"items": {"format": "date"}}, assertFormat=assert_format)
    assert answer["dialect"] == "https://json-schema.org/draft/2020-12/schema"
    assert (answer["formatAsserted"], answer["schemaValid"]) == (assert_format, not assert_format)


@each("body", [{}, {"malformed": None}, {"malformed": 1}, {"malformed": ["[1,]"]}])
def test_malformed_is_a_string(body: Any) -> None:
    """The text must be there, as a string."""
    with pytest.raises(msgspec.ValidationError, match="malformed"):
        _request(body)


@each(
    ("schema", "code"),
    [
        ({"type": "nope"}, "invalid_schema"),
        ("{}", "invalid_schema"),
        ([], "invalid_schema"),
        ({"pattern": "(?=a"}, "invalid_schema"),
        ({"$ref": "http://127.0.0.1:9/"}, "remote_ref_not_allowed"),
        ({"$schema": "file:///etc/passwd"}, "unknown_dialect"),
    ],
)
def test_bad_schemas_are_refused_with_the_request(schema: Any, code: str) -> None:
    """A schema that cannot be used is refused before anything is paid, by name of the field."""
    refusal = _refusal({"malformed": "{}", "schema": schema})
    assert (refusal.code, refusal.field) == (code, "schema")


def test_exhausted() -> None:
    """When the time runs out the answer is negative and says so."""
    answer = msgspec.to_builtins(exhausted(_request({"malformed": "[1]"})))
    assert (answer["ok"], answer["repaired"], answer["error"]) == (False, None, "too_complex")


@settings(deadline=None)
@given(st.text(min_size=1, max_size=80), st.sampled_from([None, True, {"type": "object"}]))
def test_any_text_gets_a_whole_answer(malformed: str, schema: Any) -> None:
    """Whatever is sent, the answer is UTF-8 JSON with every key, and decodes with a strict reader."""
    _answer(malformed, schema=schema)
