"""Whatever a document says, it is read, and what is reported of it can be shown."""

import base64
import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engines.text.names import names
from jobs.x402_discover.document import MAX_FIELD, Reading, Source
from jobs.x402_discover.locators import MAX_URL
from jobs.x402_discover.reading import calculate

_WORDS = names(
    """
    resources items endpoints accepts resource url path price pricing payment amount maxAmountRequired network asset
    payTo x402Version x402 extra method metadata /b openapi paths get x-payment-info x-acme-pricing responses 402
    protocols servers baseUrl currency mode free description issuer symbol data input input.method
    """
)
_KEYS = st.sampled_from(sorted(_WORDS | {"GET /a"}))
_SAMPLES = names(
    """
    https://shop.example.com/a /a //c http://[::1 a/b $0.01 0.5 1000 1e-3 base eip155:8453 xrpl:0 USDC
    0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 free POST 1e400 {a}
    """
)
_TEXTS = st.sampled_from(sorted(_SAMPLES | {"POST /b"})) | st.text(st.characters(), max_size=12)
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(_KEYS, st.text(max_size=5)), inner, max_size=6)
    ),
    max_leaves=40,
)


def checked(source: Source) -> None:
    reading = msgspec.msgpack.decode(calculate(msgspec.msgpack.encode(source)), type=Reading)
    msgspec.json.encode([reading.offers, reading.challenge, reading.hints])
    for entry in reading.entries:
        assert entry.url.startswith(("http://", "https://"))
        assert len(entry.url) <= MAX_URL
        assert entry.price_usdc is None or float(entry.price_usdc) > 0
        assert all(place < len(reading.offers) for place in entry.offers)
        assert entry.evidence != "listed" or not entry.offers
    for offer in reading.offers:
        for value in (offer.scheme, offer.network, offer.asset, offer.amount, offer.pay_to):
            assert value is None or 0 < len(value) <= MAX_FIELD
        assert offer.amount is None or offer.amount.replace(".", "", 1).isdecimal()


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_KEYS, _VALUES, max_size=8), st.sampled_from(["page", "catalog", "guess"]))
def test_any_document(document: Any, kind: Any) -> None:
    """Any document is read as a catalog."""
    body = json.dumps(document).encode()
    checked(Source(kind, "GET", "https://shop.example.com/x", 200, (("content-type", "application/json"),), body))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_KEYS, _VALUES, max_size=8), st.text(st.characters(max_codepoint=255), max_size=40))
def test_any_challenge(document: Any, text: str) -> None:
    """Any document and text is read as a challenge, in every transport."""
    encoded = base64.b64encode(json.dumps(document).encode()).decode()
    for headers in (
        (("payment-required", encoded),),
        (("payment-required", text),),
        (("www-authenticate", f"X402 {encoded}"),),
        (("www-authenticate", f"x402 {text}"), ("www-authenticate", text)),
    ):
        checked(Source("page", "POST", "https://shop.example.com/x", 402, headers, json.dumps(document).encode()))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.text(st.characters(max_codepoint=255), max_size=30))
def test_any_bytes(body: bytes, content_type: str) -> None:
    """Any bytes are read as a page."""
    for raw in (body, b"<" + body, b"<a href=" + body, b"{" + body):
        checked(Source("page", "GET", "https://shop.example.com/x", 200, (("content-type", content_type),), raw))
