"""Coinbase Developer Platform, with deliveries that Hook0's client accepts and the documented algorithm."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import (
    MALFORMED,
    MISMATCH,
    MISSING,
    NOW,
    NOW_ISO,
    UNSUPPORTED,
    VALID,
    answered,
    ask,
    mac,
    verdict,
)

PAYLOAD = '{"eventType":"wallet.activity.detected"}'
SECRET = "a2e4b8c1-7d3f-4c55-9e0a-1f2b3c4d5e6f"
H = "content-type x-event-id"
HEADERS = {"content-type": "application/json; charset=utf-8", "x-event-id": "a b.c"}
V0 = mac(SECRET, NOW, ".", PAYLOAD)
V1 = mac(SECRET, NOW, ".", H, ".", "application/json; charset=utf-8.a b.c", ".", PAYLOAD)
WRONG = "0" * 64
ACCEPTED = [json.loads(line) for line in Path(__file__).with_name("hook0.jsonl").read_text().splitlines()]
"""What hook0.mjs has from Hook0's client, signed at NOW."""


def _ask(signature: str, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    body = {"payload": PAYLOAD, "secret": SECRET, "signature": signature} | more
    return ask(provider="cdp", headers=headers, **body)


@each("delivery", ACCEPTED)
def test_what_hook0s_client_accepts_is_valid(delivery: dict[str, Any]) -> None:
    """v0, v1 and both, with no header, one and several. Any payload is in test_mutations."""
    assert verdict(ask(provider="cdp", **delivery)) == VALID
    assert verdict(ask(provider="cdp", **delivery | {"payload": delivery["payload"] + "\n"})) == MISMATCH
    assert verdict(ask(provider="cdp", **delivery | {"secret": delivery["secret"] + "x"})) == MISMATCH


@each(
    ("signature", "headers", "scheme"),
    [
        (f"t={NOW},v0={V0}", None, "v0"),
        (f"t={NOW},v0={V0}", HEADERS, "v0"),
        (f"t={NOW},v0={V0},h={H},v1={V1}", None, "v0"),
        (f"t={NOW},v0={V0},h={H},v1={V1}", HEADERS, "v1"),
        (f"t={NOW},h={H},v1={V1}", HEADERS, "v1"),
        (f"t={NOW},v0={V0},h={H},v1={WRONG}", None, "v0"),
        (f"t={NOW},v0={WRONG},h={H},v1={V1}", HEADERS, "v1"),
    ],
)
def test_v1_is_preferred_where_headers_are_given(signature: str, headers: dict[str, str] | None, scheme: str) -> None:
    """And v0 where there are none, or the sender gave nothing else; the answer says which."""
    expected = answered("cdp", scheme, timestamp=NOW_ISO, ageSeconds=60, toleranceSeconds=300)
    assert _ask(signature, headers, now=NOW + 60) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": HEADERS["content-type"], "X-EVENT-ID": "a b.c"},
        {"X-Event-Id": "a b.c", "Content-type": HEADERS["content-type"]},
        HEADERS | {"X-Other": "x", "": "", "not a name": "y", "X-Hook0-Signature": "z"},
    ],
)
def test_headers_are_found_by_name_alone(headers: dict[str, str]) -> None:
    """In any case and any order, among any others: the order of `h` is what is signed."""
    assert verdict(_ask(f"t={NOW},h={H},v1={V1}", headers)) == VALID


def test_the_order_of_h_is_signed() -> None:
    """The same headers in another order are another signature, and so are names in another case."""
    turned = "x-event-id content-type"
    assert verdict(_ask(f"t={NOW},h={turned},v1={V1}", HEADERS)) == MISMATCH
    v1 = mac(SECRET, NOW, ".", turned, ".", "a b.c.application/json; charset=utf-8", ".", PAYLOAD)
    assert verdict(_ask(f"t={NOW},h={turned},v1={v1}", HEADERS)) == VALID
    upper = H.upper()
    assert verdict(_ask(f"t={NOW},h={upper},v1={V1}", HEADERS)) == MISMATCH
    v1 = mac(SECRET, NOW, ".", upper, ".", "application/json; charset=utf-8.a b.c", ".", PAYLOAD)
    assert verdict(_ask(f"t={NOW},h={upper},v1={v1}", HEADERS)) == VALID


@each("value", ["", " ", "two  words ", "a=b,c", "\u00e9\U0001f4a1", "x" * 30_000])
def test_values_are_signed_as_they_are(value: str) -> None:
    """Whatever they are, in UTF-8."""
    v1 = mac(SECRET, NOW, ".x-a.", value, ".", PAYLOAD)
    assert verdict(_ask(f"t={NOW},h=x-a,v1={v1}", {"x-a": value})) == VALID
    assert verdict(_ask(f"t={NOW},h=x-a,v1={v1}", {"x-a": value + "x"})) == MISMATCH


@each("headers", [None, {}, {"content-type": "x"}, {"x-event-id": "y"}, {"content-type ": "x"}])
def test_missing_header(headers: dict[str, str] | None) -> None:
    """A header that v1 covers has to be there, before anything is computed."""
    found = _ask(f"t={NOW},h={H},v1={V1}", headers)
    assert verdict(found) == MISSING
    assert (found["scheme"], found["timestamp"], found["toleranceSeconds"]) == (None, None, 300)


@each(
    ("signature", "headers", "expected"),
    [
        # What was to be checked is never exchanged for what would pass.
        (f"t={NOW},v0={V0},h={H},v1={WRONG}", HEADERS, MISMATCH),
        (f"t={NOW},v0={V0},h={H},v1=zz", HEADERS, MALFORMED),
        (f"t={NOW},v0={V0},h={H},v1={V1}", {}, MISSING),
        (f"t={NOW},v0={WRONG},h={H},v1={V1}", None, MISMATCH),
        (f"t={NOW},v0={V1},h={H},v1={V0}", HEADERS, MISMATCH),
        (f"t={NOW + 1},h={H},v1={V1}", HEADERS, MISMATCH),
        (f"t={NOW} ,v0={mac(SECRET, NOW, ' .', PAYLOAD)}", None, MISMATCH),
        (f"t={NOW},h=content-type,v1={V1}", HEADERS, MISMATCH),
        # Writing.
        (f" v1={V1} , h={H},\tt={NOW},x=y,z ", HEADERS, VALID),
        (f"t={NOW},h={H},v1={V1.upper()}", HEADERS, VALID),
        (f"t={NOW},v0={V0.upper()}", None, VALID),
        (f"t=0{NOW},v0={mac(SECRET, '0', NOW, '.', PAYLOAD)}", None, VALID),
        (f"t={NOW},v1={mac(SECRET, NOW, '...', PAYLOAD)}", None, VALID),
        (f"t={NOW},h=,v1={mac(SECRET, NOW, '...', PAYLOAD)}", {}, VALID),
        (f"t={NOW},v1={V1}", HEADERS, MISMATCH),
        (f"t={NOW},h=content-type  x-event-id,v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},h= {H},v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},h=content-type\tx-event-id,v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},h=content-type:x,v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},h=\u00e9,v1={V1}", {"\u00e9": "x"}, MALFORMED),
        (f"t={NOW},h=content-type Content-Type,v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},h={H},h={H},v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},h={H},v1={V1},v1={V1}", HEADERS, MALFORMED),
        (f"t={NOW},v0={V0},v0={V0}", None, MALFORMED),
        (f"t={NOW},t={NOW},v0={V0}", None, MALFORMED),
        (f"t={NOW},v0={V0}0", None, MALFORMED),
        (f"t={NOW},v0={V0[:-1]}g", None, MALFORMED),
        (f"t={NOW},v0=", None, MALFORMED),
        (f"v0={V0}", None, MALFORMED),
        (f"t={NOW}", None, MALFORMED),
        (f"t={NOW},h={H}", HEADERS, MALFORMED),
        (f"t={NOW},v2={V0}", None, UNSUPPORTED),
        (f"t={NOW},h={H},v2={V1}", HEADERS, UNSUPPORTED),
        (V0, None, MALFORMED),
        ("", None, MALFORMED),
    ],
)
def test_signatures(signature: str, headers: dict[str, str] | None, expected: tuple[bool, str | None]) -> None:
    """Parts in any order, each once; nothing falls back."""
    assert verdict(_ask(signature, headers)) == expected
