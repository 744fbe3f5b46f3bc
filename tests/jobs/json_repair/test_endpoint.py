"""The endpoint: what a request may be, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.json_repair.endpoint import ENDPOINT, Request, exhausted, run
from jobs.ports import Context
from shared.endpoint import InvalidField
from tests.each import each

_CONTEXT = Context(payer="0x0")
_NAMES = (
    "ok",
    "repaired",
    "wasModified",
    "repairs",
    "schemaValid",
    "schemaErrors",
    "error",
    "dialect",
    "formatAsserted",
)


def _request(body: Any) -> Request:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return msgspec.json.decode(raw, type=Request)


def _answer(malformed: str, **schema: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        msgspec.json.encode(run(_request({"malformed": malformed, **schema}), _CONTEXT))
    )
    return answer


def _refusal(body: Any) -> InvalidField:
    with pytest.raises(msgspec.ValidationError) as caught:
        _request(body)
    assert isinstance(caught.value.__cause__, InvalidField)
    return caught.value.__cause__


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer."""
    request = msgspec.convert(ENDPOINT.example.request, Request)
    assert msgspec.to_builtins(run(request, _CONTEXT)) == ENDPOINT.example.response


def test_repaired() -> None:
    """A repaired text has its value, says that it was modified, and what was done."""
    assert _answer("{'a': 1}") == {
        "ok": True,
        "repaired": {"a": 1},
        "wasModified": True,
        "repairs": [{"kind": "single_quotes", "offset": 1}],
        "schemaValid": None,
        "schemaErrors": [],
        "error": None,
        "dialect": None,
        "formatAsserted": None,
    }


def test_strict_json_is_not_modified() -> None:
    """Strict JSON comes back as it is."""
    answer = _answer('{"a": [1, 2.0, null]}')
    assert answer["repaired"] == {"a": [1, 2.0, None]}
    assert answer["wasModified"] is False
    assert answer["repairs"] == []


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


def test_null_is_a_value() -> None:
    """JSON null is repaired to null, which is not the same as no value."""
    answer = _answer("None")
    assert (answer["ok"], answer["repaired"], answer["error"]) == (True, None, None)


def test_value_that_fits_the_schema() -> None:
    """With a schema that the value fits, it is ok and valid."""
    answer = _answer("{a: 1,}", schema={"required": ["a"], "properties": {"a": {"type": "integer"}}})
    assert (answer["ok"], answer["schemaValid"], answer["schemaErrors"]) == (True, True, [])


def test_value_that_does_not_fit_the_schema() -> None:
    """A repaired value that breaks the schema is still given, but not ok."""
    answer = _answer("{a: [1, 'x']}", schema={"properties": {"a": {"items": {"type": "integer"}}}})
    assert (answer["ok"], answer["schemaValid"], answer["error"]) == (False, False, None)
    assert answer["repaired"] == {"a": [1, "x"]}
    assert [(error["path"], error["keyword"]) for error in answer["schemaErrors"]] == [("/a/1", "type")]


@each(("schema", "valid"), [(True, True), (False, False), (None, None), ({}, True)])
def test_boolean_and_null_schemas(schema: Any, valid: bool | None) -> None:
    """true and false are schemas; null is the same as no schema."""
    assert _answer("[1,]", schema=schema)["schemaValid"] is valid


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
    assert run(request, _CONTEXT).repaired == ["😀" * 99_998]


@pytest.mark.parametrize("assert_format", [True, False])
def test_formats_count_unless_the_caller_says_otherwise(assert_format: bool) -> None:
    """The answer says by which draft the schema was read, and whether its formats decided."""
    request = {"malformed": "['tomorrow']", "schema": {"items": {"format": "date"}}, "assertFormat": assert_format}
    answer = msgspec.to_builtins(run(_request(request), _CONTEXT))
    assert answer["dialect"] == "https://json-schema.org/draft/2020-12/schema"
    assert (answer["formatAsserted"], answer["schemaValid"]) == (assert_format, not assert_format)


@each("body", [{}, {"malformed": None}, {"malformed": 1}, {"malformed": ["[1,]"]}])
def test_malformed_is_a_string(body: Any) -> None:
    """The text must be there, as a string."""
    with pytest.raises(msgspec.ValidationError, match="malformed"):
        _request(body)


def test_unknown_fields_are_ignored() -> None:
    """A field that is not known does not matter."""
    assert _request({"malformed": "x", "strict": True}).malformed == "x"


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
    assert tuple(answer) == _NAMES


@settings(deadline=None)
@given(st.text(min_size=1, max_size=80), st.sampled_from([None, True, {"type": "object"}]))
def test_any_text_gets_a_whole_answer(malformed: str, schema: Any) -> None:
    """Whatever is sent, the answer is UTF-8 JSON with every key, and decodes with a strict reader."""
    raw = msgspec.json.encode(run(Request(malformed=malformed, schema=schema), _CONTEXT))
    assert tuple(msgspec.json.decode(raw)) == _NAMES
