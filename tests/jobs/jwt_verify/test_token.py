"""What is a token, and what is wrong with what is not."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.jwt_verify.token import MAX_DEPTH, base64url, read
from tests.each import each
from tests.jobs.jose import b64u, hs

GOOD = hs({"sub": "ada"})
HEADER, PAYLOAD, SIGNATURE = GOOD.split(".")


def _faults(token: str) -> list[str]:
    faults = read(token).faults
    assert all(fault.code == "malformed" and fault.claim is None for fault in faults)
    return [fault.message for fault in faults]


def _payload(raw: bytes | str) -> tuple[Any, list[str]]:
    token = f"{HEADER}.{b64u(raw)}.{SIGNATURE}"
    return read(token).payload, _faults(token)


def test_a_token() -> None:
    """Its parts are what was put in, and the signed bytes are those that came."""
    token = read(GOOD)
    assert (token.header, token.payload, token.faults) == ({"alg": "HS256"}, {"sub": "ada"}, ())
    assert (token.signing_input, len(token.signature or b"")) == (f"{HEADER}.{PAYLOAD}".encode(), 32)


@each(
    ("token", "word"),
    [
        ("x", "three parts"),
        (HEADER, "three parts"),
        (f"{GOOD}.", "three parts"),
        (f".{GOOD}", "three parts"),
        (f"{GOOD}.{SIGNATURE}.{SIGNATURE}", "JWE"),
        ("....", "JWE"),
        ("." * 16_383, "three parts"),
        (f"Bearer {GOOD}", "Bearer"),
        (json.dumps({"payload": PAYLOAD, "protected": HEADER, "signature": SIGNATURE}), "JSON form"),
        (" {}", "JSON form"),
        (f" {GOOD}", "header has white space"),
        (f"\ufeff{GOOD}", "header has characters"),
        (f"{GOOD} ", "signature has white space"),
        (f"{HEADER}.{PAYLOAD[:4]}\n{PAYLOAD[4:]}.{SIGNATURE}", "payload has white space"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE}=", "signature has padding"),
        (f"{HEADER}.{PAYLOAD}=.{SIGNATURE}", "payload has padding"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE[:-2]}+/", "signature has characters"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE[:-1]}é", "signature has characters"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE[:-2]}", "signature has a length"),
        (f"{HEADER}..{SIGNATURE}", "payload is empty"),
        (f".{PAYLOAD}.{SIGNATURE}", "header is empty"),
    ],
)
def test_misshapen(token: str, word: str) -> None:
    """There is one fault, and it says what to look at."""
    (message,) = _faults(token)
    assert word in message


def test_what_can_be_read_is_given() -> None:
    """A fault of one part leaves the others readable."""
    token = read(f"{HEADER}.{PAYLOAD}.!")
    assert (token.header, token.payload, token.signature) == ({"alg": "HS256"}, {"sub": "ada"}, None)
    assert read(f"{HEADER}.{PAYLOAD}").header == {"alg": "HS256"}
    assert len(_faults("!.!.!")) == 3


def test_stray_bits() -> None:
    """Of the spellings of the same bytes only the canonical one is taken."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    same = [last for last in alphabet if read(f"{HEADER}.{PAYLOAD}.{SIGNATURE[:-1]}{last}").signature is not None]
    assert len(same) == 16  # 43 characters: the last one carries four bits
    assert base64url("QQ") == b"A"
    assert [base64url(text) for text in ("QR", "Q", "QQ==", "Q Q", "QQ\n", "Q+", "\u0661\u0661")] == [None] * 7


@each(
    ("raw", "word"),
    [
        (b"", "is empty"),
        (b"hello", "not JSON"),
        (b'{"a": 1} x', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"\\udc00": 1}', "surrogate"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "NaN"),
        (b'{"a": 1e400}', "range of a double"),
        (b'{"a": -1e400}', "range of a double"),
        (b'{"a": ' + b"9" * 4301 + b"}", "4300 digits"),
        (b'{"a": 1, "a": 1}', "same name twice"),
        (b'{"a": 1, "\\u0061": 2}', "same name twice"),
        (b'{"a": [{"b": 1, "b": 2}]}', "same name twice"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
    ],
)
def test_payloads_that_are_no_claims(raw: bytes, word: str) -> None:
    """There is no payload then, and one fault that says why."""
    payload, faults = _payload(raw)
    assert payload is None
    assert [word in fault for fault in faults] == [True]
    token = read(f"{b64u(raw)}.{PAYLOAD}.{SIGNATURE}")
    assert token.header is None
    assert token.payload == {"sub": "ada"}


@each(
    ("raw", "value"),
    [
        (' \r\n{"a":\t1}', {"a": 1}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a": "\\u0000"}', {"a": "\0"}),
        ('{"a": 1.0, "b": 1e5, "c": -0.0}', {"a": 1.0, "b": 1e5, "c": -0.0}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        ('{"a": ' + "9" * 4300 + "}", {"a": int("9" * 4300)}),
        ('{"a": {"b": 1}, "c": {"b": 2}}', {"a": {"b": 1}, "c": {"b": 2}}),
        ('{"a": "' + "[" * 500 + '"}', {"a": "[" * 500}),
    ],
)
def test_payloads(raw: str, value: Any) -> None:
    """What strict JSON says is what comes out."""
    assert _payload(raw) == (value, [])


def _nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


def test_depth() -> None:
    """One hundred levels are read, one more is not, and thousands do not touch the recursion limit."""
    assert _payload(_nested(MAX_DEPTH))[1] == []
    assert _payload('{"a":' + "[" * 99 + "]" * 99 + "}")[1] == []
    for deep in (_nested(MAX_DEPTH + 1), "[" * 12_000, '{"a":' * 2_400, "[]" * 60 + _nested(101)):
        assert _payload(deep) == (None, [f"The payload has more than {MAX_DEPTH} levels."])
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(1_000_000)
        assert _payload("[" * 12_000)[0] is None
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("cty", ["JWT", "jwt"])
def test_nested_tokens(cty: str) -> None:
    """RFC 7519 section 5.2: a token in a token is named, and not opened."""
    token = hs(GOOD, {"alg": "HS256", "cty": cty})
    assert read(token).payload is None
    assert ["another token" in fault for fault in _faults(token)] == [True]


@each("b64", [False, None, 0, "false", "true", 1])
def test_unencoded_payloads_are_not_decoded(b64: Any) -> None:
    """RFC 7797: what may not be base64url is not taken for it."""
    token = read(hs({"sub": "ada"}, {"alg": "HS256", "b64": b64}))
    assert (token.payload_encoded, token.payload, token.faults) == (False, None, ())
    assert read(hs({"sub": "ada"}, {"alg": "HS256", "b64": True})).payload == {"sub": "ada"}


_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)
_VALUES = _SCALARS | st.lists(_SCALARS, max_size=3) | st.dictionaries(st.text(max_size=3), _SCALARS, max_size=3)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), _VALUES, max_size=5), st.booleans())
def test_any_json_object_is_read(value: dict[str, Any], ascii_only: bool) -> None:
    """Header and payload come out as they went in."""
    raw = json.dumps(value, ensure_ascii=ascii_only)
    assert _payload(raw) == (value, [])
    assert read(f"{b64u(raw)}..").header == value


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="ey.J={}Bearr -_\n", max_size=60))
def test_any_text_is_read_or_faulty(text: str) -> None:
    """Nothing raises, and what has no fault has all its parts."""
    token = read(text)
    assert bool(token.faults) == (token.header is None or token.payload is None or token.signature is None)
