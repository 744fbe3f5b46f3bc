"""The payment header: strict, by content, and never an exception that is not a refusal."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import Problem
from api.payment.headers import MAX_HEADER_BYTES, decode_payment, find_payment
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import FlatPayment, Payment
from tests.each import each

ACCEPTED = {
    "scheme": "exact",
    "network": "eip155:8453",
    "amount": "1000",
    "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "payTo": "0x1111111111111111111111111111111111111111",
    "maxTimeoutSeconds": 60,
    "extra": {"name": "USD Coin", "version": "2"},
}
V2: dict[str, Any] = {"x402Version": 2, "accepted": ACCEPTED, "payload": {"signature": "0x"}}
FLAT: dict[str, Any] = {"x402Version": 1, "scheme": "exact", "network": "base", "payload": {"signature": "0x"}}


def encoded(content: Any) -> bytes:
    return base64.b64encode(content if isinstance(content, bytes) else json.dumps(content).encode())


def reason(value: bytes) -> str:
    """Of the 402, or of the 400."""
    with pytest.raises((PaymentRefused, Problem)) as refused:
        decode_payment(value)
    if isinstance(refused.value, Problem):
        assert (refused.value.code, refused.value.charged) == ("invalid_payment", False)
    return refused.value.reason or ""


def test_the_shape_is_judged_by_content() -> None:
    """`accepted` makes it v2, top-level scheme and network make it flat; a v1 network name becomes CAIP-2."""
    assert isinstance(decode_payment(encoded(V2)), Payment)
    flat = decode_payment(encoded(FLAT))
    assert isinstance(flat, FlatPayment)
    assert flat.network == "eip155:8453"
    assert isinstance(decode_payment(encoded({**FLAT, "x402Version": 2, "network": "eip155:8453"})), FlatPayment)


def test_unknown_fields_are_ignored_and_echoes_kept() -> None:
    """Clients echo resource and extensions, and add what a later version of the specification has."""
    payment = decode_payment(encoded({**V2, "resource": {"url": "u"}, "extensions": {"bazaar": {}}, "later": 1}))
    assert isinstance(payment, Payment)
    assert (payment.resource, payment.extensions) == ({"url": "u"}, {"bazaar": {}})


@each("version", [1, 3, 99, "2", 2.0, True, None, [2], -2])
def test_v2_takes_version_2_only(version: Any) -> None:
    """The number 2: not its text, not 2.0, not another version."""
    assert reason(encoded({**V2, "x402Version": version})) == "invalid_x402_version"


@each("version", [0, 3, 99, "1", 1.0, True, None])
def test_flat_takes_versions_1_and_2_only(version: Any) -> None:
    """As the v1 clients in use send it."""
    assert reason(encoded({**FLAT, "x402Version": version})) == "invalid_x402_version"


NESTED: Any = {}
for _ in range(80):
    NESTED = {"a": NESTED}

UNDECODABLE: dict[str, list[bytes]] = {
    "payment_not_base64": [
        b"not base64!",
        encoded(V2)[:-3],
        encoded(V2) + b"\n",
        encoded(V2) + b"====",
        encoded(V2) + b", " + encoded(V2),
        encoded(V2).replace(b"A", b"-"),
        b"\xff\xfe",
    ],
    "payment_not_utf8": [b"null", encoded(b"\xff\xff"), encoded(b'{"a":"\xed\xa0\x80"}')],
    "payment_not_json": [
        b"",
        encoded(b"{"),
        encoded(b"[]"),
        encoded(b"null"),
        encoded(b"2"),
        encoded(b'"text"'),
        encoded(b"\xef\xbb\xbf{}"),
        encoded(b'{"x402Version":2,"x402Version":2,"accepted":{},"payload":{}}'),
        encoded(b'{"x402Version":2,"accepted":{},"payload":{"a":NaN}}'),
        encoded(b'{"x402Version":2,"accepted":{},"payload":{"a":Infinity}}'),
        encoded({**V2, "extensions": NESTED}),
        encoded({**V2, "extensions": {"a": "\ud800"}}),
        encoded({**V2, "payload": {"\udfff": 1}}),
        *(encoded({**V2, "extensions": {"many": [one] * 500}}) for one in (1, [], {}, "")),
        *(encoded({**V2, "extensions": {"long": sign * int("9" * 200)}}) for sign in (1, -1)),
        encoded(b"[" * 5000),
        encoded(b'{"a":' * 2000),
    ],
    "payment_too_long": [encoded(b" " * MAX_HEADER_BYTES), b"e" * (MAX_HEADER_BYTES + 1)],
    "payment_shape": [
        encoded({}),
        encoded({**V2, "accepted": None}),
        encoded({**V2, "accepted": []}),
        encoded({**V2, "payload": "x"}),
        encoded({**V2, "payload": None}),
        encoded({**V2, "resource": "x"}),
        encoded({**V2, "extensions": []}),
        *(
            encoded({**V2, "accepted": {k: v for k, v in ACCEPTED.items() if k != gone}})
            for gone in ACCEPTED
            if gone != "extra"
        ),
        *(encoded({**V2, "accepted": {**ACCEPTED, key: 7.5}}) for key in ACCEPTED),
        encoded({**FLAT, "payload": 1}),
        encoded({**FLAT, "scheme": 1}),
    ],
}


@each("why", UNDECODABLE)
def test_what_cannot_be_decoded_is_refused_with_a_reason(why: str) -> None:
    """A reason of its own for each way. Never another exception, never accepted."""
    assert {reason(value) for value in UNDECODABLE[why]} == {why}


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_decoded(value: bytes) -> None:
    """Whatever comes, raw or as base64 of anything, no other exception is raised."""
    for attempt in (value, base64.b64encode(value)):
        assert reason(attempt)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.sampled_from(["x402Version", "accepted", "payload", "resource", "extensions"]), JSON)
def test_any_field_may_hold_anything(key: str, value: Any) -> None:
    """A field of any JSON value gives a payment or a refusal."""
    value = encoded({**V2, key: value})
    try:
        assert isinstance(decode_payment(value), Payment)
    except (PaymentRefused, Problem):
        assert reason(value) in ("invalid_x402_version", "payment_shape", "payment_not_json")


@each(
    ("headers", "found"),
    [
        ([], None),
        ([(b"payment-signature", b"a")], (b"a", False)),
        ([(b"x-payment", b"a")], (b"a", True)),
        ([(b"payment-signature", b"a"), (b"x-payment", b"a")], (b"a", True)),
    ],
)
def test_either_header_is_found(headers: list[tuple[bytes, bytes]], found: tuple[bytes, bool] | None) -> None:
    """Both are accepted everywhere; X-PAYMENT is remembered for the receipt."""
    presented = find_payment(headers)
    assert (presented and (presented.value, presented.older)) == found


@pytest.mark.parametrize(
    "headers",
    [
        [(b"payment-signature", b"a"), (b"payment-signature", b"a")],
        [(b"x-payment", b"a"), (b"x-payment", b"b")],
        [(b"payment-signature", b"a"), (b"x-payment", b"b")],
    ],
)
def test_two_different_payments_are_ambiguous(headers: list[tuple[bytes, bytes]]) -> None:
    """A proxy and we might each read another one."""
    with pytest.raises(PaymentRefused, match="ambiguous_payment"):
        find_payment(headers)
