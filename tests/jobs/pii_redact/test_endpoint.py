"""The endpoint: what a request may be, and what comes back."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.pii_redact.endpoint import ENDPOINT, MOST_OWN, NEVER_SEARCHED, CustomPattern, Request, exhausted, run
from jobs.pii_redact.spans import KINDS, PLACEHOLDERS
from jobs.ports import Context
from shared.endpoint import InvalidField
from tests.each import each

_CONTEXT = Context(payer="0x0")
_NAMES = (
    *("ok", "redacted", "counts", "totalRedactions", "findings", "inputBytes", "outputBytes", "redactedBytes"),
    *("patternsApplied", "notSearched", "error"),
)
_ALL = (
    "user@example.com 415-555-0132 123-45-6789 4111111111111111 10.0.0.1 d41d8cd98f00b204e9800998ecf8427e "
    "AKIAIOSFODNN7EXAMPLE GB82WEST12345698765432"
)


def _request(body: Any) -> Request:
    return msgspec.json.decode(json.dumps(body).encode(), type=Request)


def _answer(text: str, **patterns: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(msgspec.json.encode(run(_request({"text": text, **patterns}), _CONTEXT)))
    return answer


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer."""
    request = msgspec.convert(ENDPOINT.example.request, Request)
    assert msgspec.to_builtins(run(request, _CONTEXT)) == ENDPOINT.example.response


def test_redacted() -> None:
    """Everything is redacted when no pattern is named, with a count for each kind and the places, but no values."""
    assert _answer(_ALL) == {
        "ok": True,
        "redacted": "[EMAIL] [PHONE] [SSN] [CREDIT_CARD] [IPV4] [HEX_SECRET] [SECRET] [IBAN]",
        "counts": {
            "email": 1,
            "phone": 1,
            "ssn": 1,
            "credit_card": 1,
            "ipv4": 1,
            "hex_secret": 1,
            "secret": 1,
            "iban": 1,
        },
        "totalRedactions": 8,
        "findings": [
            {"kind": "email", "start": 0, "end": 16},
            {"kind": "phone", "start": 17, "end": 29},
            {"kind": "ssn", "start": 30, "end": 41},
            {"kind": "credit_card", "start": 42, "end": 58},
            {"kind": "ipv4", "start": 59, "end": 67},
            {"kind": "hex_secret", "start": 68, "end": 100},
            {"kind": "secret", "start": 101, "end": 121},
            {"kind": "iban", "start": 122, "end": 144},
        ],
        "inputBytes": 144,
        "outputBytes": 71,
        "redactedBytes": 137,
        "patternsApplied": ["email", "phone", "ssn", "credit_card", "ipv4", "hex_secret", "secret", "iban"],
        "notSearched": list(NEVER_SEARCHED),
        "error": None,
    }


def test_nothing_to_redact() -> None:
    """A clean text comes back as it is, with zeros."""
    answer = _answer("Nothing in here.", patterns=["email", "phone"])
    assert (answer["ok"], answer["redacted"], answer["findings"]) == (True, "Nothing in here.", [])
    assert answer["counts"] == {"email": 0, "phone": 0}
    assert (answer["totalRedactions"], answer["redactedBytes"]) == (0, 0)
    assert answer["inputBytes"] == answer["outputBytes"] == 16


@each("kind", KINDS)
def test_one_kind(kind: str) -> None:
    """Only the kind that was asked for is redacted, counted and applied."""
    answer = _answer(_ALL, patterns=[kind])
    assert answer["counts"] == {kind: 1}
    assert answer["patternsApplied"] == [kind]
    assert answer["redacted"].count("[") == answer["totalRedactions"] == len(answer["findings"]) == 1
    assert f"[{kind.upper()}]" in answer["redacted"]


def test_patterns_are_applied_once_each() -> None:
    """A kind that is named twice counts once; the order is that of the request."""
    answer = _answer(_ALL, patterns=["phone", "email", "phone"])
    assert answer["patternsApplied"] == ["phone", "email"]
    assert answer["counts"] == {"phone": 1, "email": 1}


def test_absent_and_null_patterns_are_all() -> None:
    """Both mean everything."""
    assert _answer(_ALL) == _answer(_ALL, patterns=None) == _answer(_ALL, patterns=list(KINDS))


def test_what_was_not_searched_for() -> None:
    """The kinds that were not requested come first, then what no kind finds."""
    answer = _answer("x", patterns=["phone", "iban"])
    assert answer["notSearched"] == ["email", "ssn", "credit_card", "ipv4", "hex_secret", "secret", *NEVER_SEARCHED]


def test_own_patterns() -> None:
    """They are replaced and counted beside the kinds: the whole match, or the group. The longest of overlapping ones counts."""
    answer = _answer(
        "EMP-00417 Jo, dossier ÄÖ/7, EMP-00418@example.com, ＥＭＰ-00419",
        patterns=["email"],
        customPatterns=[
            {"name": "employee", "pattern": r"EMP-\d{5}"},
            {"name": "dossier", "pattern": r"dossier (\pL+/\d+)|nothing", "placeholder": "***"},
        ],
    )
    assert answer["redacted"] == "[EMPLOYEE] Jo, dossier ***, [EMAIL], [EMPLOYEE]"
    assert answer["counts"] == {"email": 1, "employee": 2, "dossier": 1}
    assert answer["patternsApplied"] == ["email", "employee", "dossier"]
    assert [finding["kind"] for finding in answer["findings"]] == ["employee", "dossier", "email", "employee"]


@each(
    ("pattern", "redacted"),
    [
        (".+", "[OWN][EMAIL][OWN][OWN][OWN]"),
        (r"(?:^|\W)a", "[OWN]a [EMAIL] [IPV4] [OWN][OWN]é"),
        (r"a\W*$", "aa [EMAIL] [IPV4] [OWN] [OWN]"),
        (r"\b", "aa [EMAIL] [IPV4] [OWN] aé"),
        (r"[^\d]é", "aa [EMAIL] [IPV4] [OWN] [OWN]"),
    ],
)
def test_own_patterns_leave_placeholders(pattern: str, redacted: str) -> None:
    """What was redacted before is no part of a match, and a match of no characters is none."""
    own = [{"name": "own", "pattern": pattern}]
    assert _answer("aa [EMAIL] 10.0.0.1 [OWN] aé", customPatterns=own)["redacted"] == redacted


@each(
    ("custom", "field", "says"),
    [
        ({"pattern": "(a"}, "pattern", "missing )"),
        ({"pattern": "(?=a)b"}, "pattern", "no look-around"),
        ({"pattern": r"(a)\1"}, "pattern", "no back-references"),
        ({"pattern": "a{1001}"}, "pattern", "1001"),
        ({"pattern": r"\pL{1000}"}, "pattern", "too large"),
        ({"pattern": "(a)(b)"}, "pattern", "more than one group"),
        ({"pattern": "a*"}, "pattern", "the empty text"),
        ({"name": "Order"}, "name", "lower-case letters"),
        ({"name": "email"}, "name", "built-in kinds"),
        ({"name": "order\n"}, "name", "lower-case letters"),
    ],
)
def test_bad_patterns_are_refused(custom: dict[str, str], field: str, says: str) -> None:
    """Before the payment, with the field and the reason."""
    with pytest.raises(InvalidField, match=re.escape(says)) as refused:
        Request(text="x", custom_patterns=[CustomPattern(**({"name": "own", "pattern": "a"} | custom))])
    assert refused.value.field == f"customPatterns[0].{field}"


@each(
    "custom",
    [
        [{"name": "a", "pattern": "b"}] * (MOST_OWN + 1),
        [{"name": "a", "pattern": "b" * 201}],
        [{"name": "a" * 33, "pattern": "b"}],
        [{"name": "a", "pattern": "b", "placeholder": ""}],
        [{"name": "a", "pattern": "b", "placeholder": "c" * 65}],
        [{"name": "a", "pattern": ""}],
        [{"name": "a", "regex": "b", "pattern": "b"}],
        [{"name": "a", "pattern": "b"}, {"name": "a", "pattern": "c"}],
        [{"pattern": "b"}],
        "b",
    ],
)
def test_own_patterns_are_bounded(custom: Any) -> None:
    """Their number and size, and which fields they have."""
    with pytest.raises(msgspec.ValidationError, match=r"customPatterns|A name has"):
        _request({"text": "x", "customPatterns": custom})


def test_bytes_are_utf8_and_offsets_are_code_points() -> None:
    """An emoji is one code point of four bytes; what has no width inside a finding is a part of it."""
    answer = _answer("😀 415\u00ad-555-0132 é", patterns=["phone"])
    assert answer["findings"] == [{"kind": "phone", "start": 2, "end": 15}]
    assert answer["redacted"] == "😀 [PHONE] é"
    assert (answer["inputBytes"], answer["outputBytes"], answer["redactedBytes"]) == (22, 15, 14)


def test_redacting_twice() -> None:
    """The second time there is nothing to do."""
    answer = _answer(_answer(_ALL)["redacted"])
    assert answer["redacted"] == "[EMAIL] [PHONE] [SSN] [CREDIT_CARD] [IPV4] [HEX_SECRET] [SECRET] [IBAN]"
    assert answer["totalRedactions"] == 0
    assert set(answer["counts"].values()) == {0}


@pytest.mark.parametrize("length", [0, 100_001])
def test_length_is_bounded(length: int) -> None:
    """An empty text and one of more than 100 000 code points are refused."""
    with pytest.raises(msgspec.ValidationError, match="text"):
        _request({"text": "x" * length})


def test_length_counts_code_points() -> None:
    """100 000 emoji are accepted, also in the longest way to write them, which the body limit allows."""
    body = b'{"text": "' + b"\\ud83d\\ude00" * 100_000 + b'"}'
    assert len(body) < ENDPOINT.max_body_bytes - 64 * 1024
    answer = run(msgspec.json.decode(body, type=Request), _CONTEXT)
    assert (answer.redacted, answer.input_bytes) == ("😀" * 100_000, 400_000)


@each("body", [{}, {"text": None}, {"text": 1}, {"text": ["a"]}, {"patterns": ["email"]}])
def test_text_is_a_string(body: Any) -> None:
    """The text must be there, as a string."""
    with pytest.raises(msgspec.ValidationError, match="text"):
        _request(body)


@each(
    "patterns",
    [[], "email", {"email": True}, ["EMAIL"], ["e-mail"], ["email", "name"], [None], [1], [["email"]], ["email"] * 9],
)
def test_patterns_are_known_kinds(patterns: Any) -> None:
    """An empty list, another type and an unknown kind are refused before anything is paid, by name of the field."""
    with pytest.raises(msgspec.ValidationError, match="patterns"):
        _request({"text": "x", "patterns": patterns})


def test_lone_surrogates_do_not_get_in() -> None:
    """Half of a surrogate pair is no JSON text that is accepted, so every text has a UTF-8 form."""
    for half in (b"\\ud800", b"\\udc00", b"\\ud800x"):
        with pytest.raises(msgspec.DecodeError):
            msgspec.json.decode(b'{"text": "' + half + b'"}', type=Request)


def test_exhausted() -> None:
    """When the time runs out nothing claims to be redacted, and every key is there."""
    answer = msgspec.to_builtins(exhausted(_request({"text": "é user@example.com"})))
    assert tuple(answer) == _NAMES
    assert answer == {
        **dict.fromkeys(_NAMES),
        "ok": False,
        "inputBytes": 19,
        "patternsApplied": [],
        "notSearched": [*KINDS, *NEVER_SEARCHED],
        "error": "too_complex",
    }


@settings(deadline=None)
@given(st.text(min_size=1, max_size=80), st.none() | st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
def test_any_text_gets_a_whole_answer(text: str, patterns: list[Any] | None) -> None:
    """Whatever is sent, the answer is UTF-8 JSON with every key, and its numbers agree with each other."""
    raw = msgspec.json.encode(run(Request(text=text, patterns=patterns), _CONTEXT))
    answer = msgspec.json.decode(raw)
    assert tuple(answer) == _NAMES
    assert answer["inputBytes"] == len(text.encode())
    assert answer["outputBytes"] == len(answer["redacted"].encode())
    placeholders = sum(len(PLACEHOLDERS[finding["kind"]]) for finding in answer["findings"])
    assert answer["outputBytes"] == answer["inputBytes"] - answer["redactedBytes"] + placeholders
    assert answer["totalRedactions"] == len(answer["findings"]) == sum(answer["counts"].values())


def test_the_declaration_loads_no_engine() -> None:
    """The API imports every job: RE2 and the tables of phone numbers are loaded by the first call."""
    program = "import json, sys, jobs.pii_redact.endpoint; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[3], capture_output=True, check=True
    )
    assert {"re2", "phonenumbers", "jobs.pii_redact.redaction"}.isdisjoint(json.loads(answer.stdout))
