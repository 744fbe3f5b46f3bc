"""Every transport of a challenge, well-formed, broken and contradictory."""

import base64
import json
from typing import Any

import pytest

from jobs.x402_discover.document import Reading, Source
from jobs.x402_discover.reading import read
from tests.each import each

URL = "https://shop.example.com/api/x?q=1"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
PAYEE = "0x1BBAC180dC1e393ac2bAD9930BC58f532cc866a3"


def v2(amount: str = "5000", **more: Any) -> dict[str, Any]:
    offer = {"scheme": "exact", "network": "eip155:8453", "asset": USDC, "amount": amount, "payTo": PAYEE}
    return {
        "x402Version": 2,
        "error": "Payment required",
        "resource": {"url": URL, "description": "A thing"},
        "accepts": [{**offer, "maxTimeoutSeconds": 60}],
        **more,
    }


def v1(amount: str = "5000") -> dict[str, Any]:
    offer = {"scheme": "exact", "network": "base", "asset": USDC, "maxAmountRequired": amount, "payTo": PAYEE}
    return {
        "x402Version": 1,
        "error": "X-PAYMENT required",
        "accepts": [{**offer, "resource": URL, "description": "Old"}],
    }


def encoded(content: Any) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


def answer(status: int = 402, body: Any = b"", **headers: str) -> Reading:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return read(Source("page", "GET", URL, status, pairs, raw))


def summary(result: Reading) -> tuple[Any, ...]:
    """Transport, version, amounts and price."""
    challenge = result.challenge
    assert challenge is not None
    price = result.entries[0].price_usdc if result.entries else None
    return challenge.transport, challenge.x402_version, [offer.amount for offer in challenge.accepts], price


def test_version_2_in_its_header() -> None:
    """The body may be anything."""
    result = answer(payment_required=encoded(v2()), body={})
    assert summary(result) == ("payment_required_header", 2, ["5000"], "0.005")
    (entry,) = result.entries
    assert (entry.url, entry.method, entry.description, entry.evidence) == (URL, "GET", "A thing", "challenge")
    assert result.challenge is not None
    assert result.challenge.status == 402
    assert result.warnings == ()


@pytest.mark.parametrize(
    "change", [lambda text: text.rstrip("="), lambda text: text.replace("+", "-").replace("/", "_")]
)
def test_base64_without_padding_or_of_urls(change: Any) -> None:
    """Both spellings of base64 have the same content."""
    header = change(encoded(v2(error="Ünpaid?>~")))
    assert summary(answer(payment_required=header)) == ("payment_required_header", 2, ["5000"], "0.005")


def test_version_1_in_the_body() -> None:
    """The names of version 1 are normalised."""
    result = answer(body=v1())
    assert summary(result) == ("body", 1, ["5000"], "0.005")
    assert result.offers[0].network == "eip155:8453"
    assert result.entries[0].description == "Old"


def test_version_2_in_the_body() -> None:
    """Many servers repeat the header's content in the body."""
    assert summary(answer(body=v2())) == ("body", 2, ["5000"], "0.005")
    assert summary(answer(body={"detail": v2()})) == ("body", 2, ["5000"], "0.005")
    assert summary(answer(body={"error": {"code": "PAYMENT_REQUIRED"}, "payment": v1()})) == (
        "body",
        1,
        ["5000"],
        "0.005",
    )


@each(
    "header",
    [
        f"X402 {encoded(v2())}",
        f"x402 {encoded(v2()).rstrip('=')}",
        f'X402 realm="shop", version="2", challenge="{encoded(v2())}"',
        f'Bearer realm="x", X402 {encoded(v2())}',
        f"X402 {encoded(v2())}, Basic realm=y",
        "X402 " + json.dumps(v2()),
    ],
)
def test_version_2_in_www_authenticate(header: str) -> None:
    """The challenge after the scheme's name, in any notation."""
    assert summary(answer(www_authenticate=header)) == ("www_authenticate", 2, ["5000"], "0.005")


def test_terms_as_parameters_of_www_authenticate() -> None:
    """Some servers write the offer as parameters of the scheme."""
    result = answer(
        www_authenticate=f'x402 scheme="exact", network="base", asset="USDC", pay_to="{PAYEE}", price="0.1"'
    )
    assert summary(result) == ("www_authenticate", None, ["100000"], "0.1")
    assert result.offers[0].pay_to == PAYEE


@each("header", ["X402", 'x402 realm="shop"', 'X402 scheme="exact"', "Basic a, x402"])
def test_x402_without_terms(header: str) -> None:
    """A demand without a price is a challenge without offers, and no paid call."""
    result = answer(www_authenticate=header)
    assert result.challenge is not None
    assert result.entries == ()
    assert any("names no terms" in text for text in result.warnings)


@each("header", ['Payment id="x", method="tempo"', 'L402 macaroon="x"', "Bearer x402", "X4021 abc"])
def test_other_schemes_are_not_x402(header: str) -> None:
    """A 402 by itself is no evidence of x402."""
    result = answer(www_authenticate=header, body={"message": "pay"})
    assert (result.challenge, result.entries) == (None, ())
    assert result.warnings == ("The target answers 402 without x402 payment terms that can be read.",)


@each("header", ["", "%%%", "bm8gSlNPTg==", encoded([1]), encoded("x"), encoded(5), "A" * 40_000])
def test_a_broken_header_is_reported_and_the_body_counts(header: str) -> None:
    """The next transport is read."""
    result = answer(payment_required=header, body=v1())
    assert summary(result) == ("body", 1, ["5000"], "0.005")
    assert any("not the base64" in text for text in result.warnings)


def test_transports_that_contradict_each_other() -> None:
    """The header, which clients of version 2 read, is reported with a warning."""
    result = answer(payment_required=encoded(v2("5000")), body=v2("1"))
    assert summary(result) == ("payment_required_header", 2, ["5000"], "0.005")
    assert any("contradicts itself" in text for text in result.warnings)
    agreeing = answer(payment_required=encoded(v2()), body=v1(), www_authenticate=f"X402 {encoded(v2())}")
    assert agreeing.warnings == ()


def test_another_origins_challenge_is_reported() -> None:
    """A server behind a proxy may not know its public name."""
    result = answer(body=v2(resource={"url": "http://localhost:3000/api/x"}))
    assert result.entries[0].url == URL
    assert any("another origin: http://localhost:3000" in text for text in result.warnings)


@pytest.mark.parametrize("status", [200, 204, 301])
def test_what_is_no_refusal_is_no_challenge(status: int) -> None:
    """The header on a successful response is only a warning."""
    result = answer(status, payment_required=encoded(v2()), body=b"<p>hi</p>")
    assert (result.challenge, result.entries) == (None, ())
    assert any("which belongs to a 402" in text for text in result.warnings)


@pytest.mark.parametrize("status", [401, 403])
def test_terms_on_another_refusal_are_terms(status: int) -> None:
    """Terms in a 401 or 403 count, and the status is reported."""
    result = answer(status, www_authenticate=f"X402 {encoded(v2())}")
    assert result.challenge is not None
    assert (result.challenge.status, len(result.entries)) == (status, 1)


def test_a_price_of_nothing_is_free() -> None:
    """Offers of zero, and an empty list of offers, are no paid call."""
    for content in (v2("0"), {**v2(), "accepts": []}):
        assert answer(body=content).entries == ()


def test_the_method_is_the_declared_one() -> None:
    """Servers that demand payment for any method declare the method that they mean."""
    bazaar = {"bazaar": {"info": {"input": {"type": "http", "method": "POST"}}}}
    assert answer(payment_required=encoded(v2(extensions=bazaar))).entries[0].method == "POST"
    old = v1()
    old["accepts"][0]["outputSchema"] = {"input": {"type": "http", "method": "post"}}
    assert answer(body=old).entries[0].method == "POST"


def test_several_offers_keep_their_order() -> None:
    """The price is that of the first one in USDC."""
    usdc = v2()["accepts"][0]
    other = {**usdc, "asset": "0x" + "12" * 20, "amount": "9"}
    result = answer(body={**v2(), "accepts": [other, usdc, "junk", None, {}]})
    assert summary(result) == ("body", 2, ["9", "5000"], "0.005")


@each(
    "body",
    [
        b"[" * 200_000,
        b'{"x402Version":1,"accepts":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"x402Version":' + b"9" * 10_000 + b',"accepts":[{"maxAmountRequired":' + b"9" * 100_000 + b',"payTo":"a"}]}',
        b'{"x402Version":true,"accepts":{"a":1}}',
        b'{"x402Version":1e400,"accepts":[NaN,Infinity,{"amount":-Infinity}]}',
        b'{"accepts":[{"payTo":"\\ud800","network":"\\udfff","amount":"5","asset":"\xff\xfe"}],"description":"\\ud83d"}',
        "\ufeff{}".encode(),
        b"\xff\xfe\x00",
        b"\0" * 1000,
    ],
)
def test_hostile_bodies(body: bytes) -> None:
    """Every body is answered, and the answer can be encoded."""
    import msgspec

    result = answer(body=body)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(result), type=Reading) == result
    msgspec.json.encode([result.challenge, result.offers])
