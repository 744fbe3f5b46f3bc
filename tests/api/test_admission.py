"""What is refused before it is charged, where that takes care: long bodies."""

import json
from typing import Any

import pytest

from api.admission import Admission
from jobs.catalogue import BY_NAME
from jobs.engines.json_schema.check import MAX_BYTES
from jobs.webhook_sig_verify.endpoint import MAX_HEADER_TEXT
from tests.each import each
from tests.sites import PUBLIC

GOOD = {
    name: BY_NAME[name].example.request
    for name in ("json-repair", "llm-tool-validate", "webhook-sig-verify", "echo", "regex-test")
}


def refused(name: str, body: Any) -> tuple[str, str | None, str] | None:
    """(code, field, detail) of the problem."""
    anything: Any = None
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    problem = Admission(BY_NAME[name], anything, anything, PUBLIC).judged(raw).problem
    return problem and (problem.code, problem.field, problem.detail)


@pytest.mark.parametrize(
    ("name", "field", "most"),
    [
        ("json-repair", "schema", 2 * MAX_BYTES),
        ("llm-tool-validate", "schema", 2 * MAX_BYTES),
        ("webhook-sig-verify", "headers", 8 * MAX_HEADER_TEXT),
    ],
)
def test_a_field_is_not_decoded_when_it_is_too_long(name: str, field: str, most: int) -> None:
    """Each of these takes tens of milliseconds to decode, or a hundred."""
    for much in ([[[[]]]] * (most // 4), {str(n): {} for n in range(most // 8)}):
        assert refused(name, {**GOOD[name], field: much}) == ("invalid_body", field, f"More than {most} bytes.")


@each(
    ("name", "body", "field"),
    [
        ("regex-test", {"pattern": "a"}, "input"),
        ("regex-test", {"input": "a", "pattern": 5}, "pattern"),
        ("regex-test", [], None),
        ("faker", {"template": {"a": 5}}, "template"),
        ("faker", {"template": {"a" * 101: "person.firstName"}}, "template"),
        ("faker", {"template": 5}, "template"),
        ("webhook-sig-verify", {**GOOD["webhook-sig-verify"], "headers": {"X-Event-Id": 5}}, "headers"),
        ("webhook-sig-verify", {}, "provider"),
        ("pii-redact", {"text": "a", "patterns": ["email", 5]}, "patterns[1]"),
        ("pii-redact", {"text": "a", "patterns": [" - at `$.text`"]}, "patterns[0]"),
    ],
)
def test_the_field_is_named(name: str, body: Any, field: str | None) -> None:
    """Also one that is missing, and the one whose names or values are wrong."""
    assert (refused(name, body) or ("", "", ""))[:2] == ("invalid_body", field)


def test_spaces_and_escapes_do_not_count() -> None:
    """A schema that fits is read, however it is written: here it takes five times as many bytes."""
    schema = {"type": "object", "title": "é" * 20_000, "description": "x" * 20_000}
    body = json.dumps({"malformed": "{}", "schema": schema}, indent=1).replace("\n", "\n" * 30_000).encode()
    assert len(body) > 3 * MAX_BYTES
    assert refused("json-repair", body) is None


@each("name", GOOD)
@each("padding", [0, 40_000])
def test_long_bodies_are_judged_as_short_ones_are(name: str, padding: int) -> None:
    """Spaces make one long."""
    good = json.dumps(GOOD[name]).encode() + b" " * padding
    assert refused(name, good) is None
    for broken in (b"[" + good + b"]", good[:-padding] if padding else good + b"}", b"null" + b" " * padding):
        short = refused(name, broken.strip())
        assert refused(name, broken) == short
    assert (refused(name, b"[" + good + b"]") or ("",))[0] == "invalid_body"
    assert (refused(name, good + b"}") or ("",))[0] == "invalid_json"


def test_the_form_of_a_body_is_judged_before_the_rules_of_a_site() -> None:
    """A host is read when all of the body has been."""
    assert (refused("rss", b'{"url": "http://127.0.0.1/"}') or ("",))[0] == "blocked_address"
    assert (refused("rss", b'{"url": "http://127.0.0.1/"}}') or ("",))[0] == "invalid_json"


@each("padding", [0, 40_000])
@each(
    ("data", "code"),
    [
        (b'"\xff"', "invalid_json"),
        (b'["\xed\xa0\x80"]', "invalid_json"),
        (b'"\\ud800"', "invalid_json"),
        (b"[1,]", "invalid_json"),
        (b"[" * 5_000, "invalid_json"),
        (b"[" * 129 + b"]" * 129, "invalid_body"),
        (b"1e999", "invalid_body"),
        (b"9" * 5_000, "invalid_body"),
    ],
)
def test_what_is_not_decoded_here_can_be(data: bytes, code: str, padding: int) -> None:
    """The arguments of a tool are left to the worker, and are sound all the same."""
    body = b'{"schema":{},"data":' + data + b"}" + b" " * padding
    assert (refused("llm-tool-validate", body) or ("",))[0] == code
