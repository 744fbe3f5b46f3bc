"""Manifests of every shape that sites publish: what is sold is found, and nothing else is."""

import json
from typing import Any

import pytest

from jobs.x402_discover.document import Entry, Reading, Source
from jobs.x402_discover.reading import read
from tests.each import each

SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
PAYEE = "0x1BBAC180dC1e393ac2bAD9930BC58f532cc866a3"
OFFER = {"scheme": "exact", "network": "eip155:8453", "asset": USDC, "payTo": PAYEE, "amount": "50000"}
SITE = "https://shop.example.com"


def reading(document: Any, *, kind: Any = "catalog", path: str = "/.well-known/x402") -> Reading:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read(Source(kind, "GET", SITE + path, 200, (("content-type", "application/json"),), body))


def found(document: Any, **more: Any) -> list[tuple[str, str | None, str | None, str]]:
    """URL below the site, method, price and evidence of every call."""
    return [(e.url.removeprefix(SITE), e.method, e.price_usdc, e.evidence) for e in reading(document, **more).entries]


def only(document: Any) -> tuple[Entry, dict[str, Any]]:
    """The one call of a document, and its one offer."""
    result = reading(document)
    (entry,) = result.entries
    (place,) = entry.offers
    offer = result.offers[place]
    return entry, {name: getattr(offer, name) for name in offer.__struct_fields__}


def test_a_list_of_addresses_is_listed_without_terms() -> None:
    """The format of x402scan names calls without prices."""
    document = {"version": 1, "resources": [f"{SITE}/a", "POST /b", "get https://api.shop.example.com/c", "docs"]}
    assert found(document) == [
        ("/a", None, None, "listed"),
        ("/b", "POST", None, "listed"),
        ("https://api.shop.example.com/c", "GET", None, "listed"),
    ]
    assert reading(document).format == "resource_list"


def test_the_bazaars_items() -> None:
    """A facilitator's list, with the method where the bazaar extension puts it."""
    item = {
        "resource": f"{SITE}/scan",
        "type": "http",
        "x402Version": 2,
        "accepts": [{**OFFER, "maxTimeoutSeconds": 300}],
        "description": "Looks\nat it",
        "extensions": {"bazaar": {"info": {"input": {"type": "http", "method": "POST"}}}},
    }
    entry, offer = only({"x402Version": 2, "items": [item], "pagination": {"limit": 1, "offset": 0, "total": 1}})
    assert (entry.url, entry.method, entry.x402_version) == (f"{SITE}/scan", "POST", 2)
    assert (entry.description, entry.price_usdc, entry.evidence) == ("Looks at it", "0.05", "terms")
    assert offer == {
        "scheme": "exact",
        "network": "eip155:8453",
        "asset": USDC,
        "amount": "50000",
        "pay_to": PAYEE,
        "max_timeout_seconds": 300,
    }
    assert reading({"items": [item]}).format == "bazaar"


@each(
    ("terms", "price"),
    [
        ({"price": {"amount": "10000", "decimals": 6, "currency": "USDC", "network": "base"}}, "0.01"),
        ({"price": {"amount": 10000, "decimals": 6, "asset": "USDC"}}, "0.01"),
        ({"price": {"amount": "10000", "decimals": 6}}, "0.01"),
        ({"amount": "10000", "decimals": 6, "network": "base"}, "0.01"),
        ({"price": {"amount": "10000", "decimals": 18}}, None),
        ({"price": {"amount": "10000", "decimals": 6, "symbol": "EURC"}}, None),
        ({"price": {"amount": "0.01", "decimals": 6, "currency": "USDC"}}, "0.01"),
        ({"price": {"amount": "2", "currency": "USDC"}}, "2"),
        ({"price": "10000", "decimals": 6, "currency": "USDC"}, "0.01"),
        ({"price": "2", "decimals": 6, "currency": "USDC"}, "2"),
        ({"amount": "10000", "assetDecimals": 6, "currency": "USDC", "payTo": PAYEE}, "0.01"),
        ({"priceMicroUsdc": 10000}, "0.01"),
        ({"price_micro_usd": "10000"}, "0.01"),
        ({"microUsdc": 10000}, "0.01"),
        ({"amount_usdc_micro": 10000}, "0.01"),
        ({"priceUsdcAtomic": "10000"}, "0.01"),
        ({"priceUsdCents": 1}, "0.01"),
        ({"price": "10000 micro-USDC"}, "0.01"),
        ({"price": "10000 \u00b5USDC"}, "0.01"),
        ({"priceUsdc": 2}, "2"),
        ({"x402": {"price": "10000", "asset": USDC, "network": "base"}}, "0.01"),
        ({"price": "10000", "asset": USDC, "network": "base", "payTo": PAYEE}, "0.01"),
        ({"price": "2", "asset": USDC, "network": "base", "payTo": PAYEE}, "2"),
        ({"price": "0.5", "asset": USDC, "network": "base", "payTo": PAYEE}, "0.5"),
        ({"price": "$250", "asset": USDC, "network": "base", "payTo": PAYEE}, "250"),
        ({"pricing": {"perCall": "$0.01"}}, "0.01"),
    ],
)
def test_units_are_stated_in_many_ways(terms: Any, price: str) -> None:
    """Decimals beside an amount, or a key that names the unit: a hundredth of a dollar is never ten thousand dollars."""
    assert found({"endpoints": [{"path": "/a", **terms}]}) == [("/a", None, price, "terms")]


@each(
    ("text", "price"),
    [
        ("$1,250", "1250"),
        ("1,250.50 USDC", "1250.5"),
        ("$.01", "0.01"),
        ("$.", None),
        (".5,5 USDC", None),
        ("0,01 USDC", None),
        ("$5 per 1000 calls", None),
        ("$5/1,000 calls", None),
        ("$2 per 1M tokens", None),
        ("$2 per million tokens", None),
        ("$0.01/MTok", None),
        ("$0.01 per minute", None),
        ("$0.01 per call", "0.01"),
        ("$0.01/1 call", "0.01"),
        ("$0.01 / request", "0.01"),
        ("$0.01-$0.05", "0.01"),
    ],
)
def test_prices_as_people_write_them(text: str, price: str | None) -> None:
    """A comma is never cut off, and a price of many calls or of a time is none of a call."""
    entries = found({"endpoints": [{"path": "/a", "price": text, "payTo": PAYEE}]})
    assert [entry[2] for entry in entries] == [price]


@each(
    "document",
    [
        {"POST /a": {"price": "$0.01"}},
        {"api": {"v1": {"POST /a": {"price": "$0.01", "description": "d"}}}},
        {"pricing": {"network": "base", "payTo": PAYEE}, "calls": {"POST /a": "$0.01"}},
        {"products": [{"name": "A", "price": "$0.01", "checkout": "POST /a"}]},
        {"products": [{"name": "A", "price": "$0.01", "checkout": {"url": "/a", "method": "POST"}}]},
        {
            "products": [
                {"sku": "1", "pricing": {"amount": "0.01", "currency": "USDC"}, "checkoutUrl": f"POST {SITE}/a"}
            ]
        },
    ],
)
def test_methods_in_keys_and_addresses_of_checkouts(document: Any) -> None:
    """Both say where something is sold."""
    assert found(document) == [("/a", "POST", "0.01", "terms")]


@each("link", ["/openapi.json", f"{SITE}/openapi.yaml", {"url": "/openapi.json"}])
def test_a_manifest_that_links_its_openapi_document_is_none(link: Any) -> None:
    """Its calls are read as a manifest's, and the link is reported."""
    document = {"openapi": link, "x402Version": 1, "endpoints": [{"path": "/a", "price": "$0.01"}]}
    assert found(document) == [("/a", None, "0.01", "terms")]
    assert reading(document).format == "manifest"
    assert (reading(document).link or "").startswith(("/openapi", SITE))


def test_version_1_is_normalised() -> None:
    """`maxAmountRequired` is the amount, `base` is eip155:8453, and only the offer may have the address."""
    offer = {
        "scheme": "exact",
        "network": "base",
        "maxAmountRequired": "1000",
        "resource": f"{SITE}/old",
        "description": "Old",
        "payTo": PAYEE,
        "asset": USDC,
        "outputSchema": {"input": {"type": "http", "method": "GET"}},
    }
    entry, read_offer = only({"x402Version": 1, "items": [{"accepts": [offer]}]})
    assert (entry.url, entry.x402_version, entry.description, entry.price_usdc) == (f"{SITE}/old", 1, "Old", "0.001")
    assert (read_offer["network"], read_offer["amount"]) == ("eip155:8453", "1000")


@each(
    ("item", "call"),
    [
        ({"path": "/a", "method": "get", "price": "$0.01"}, ("/a", "GET", "0.01", "terms")),
        (
            {"path": "/a", "price": {"amount": "0.001", "currency": "USDC", "network": "base"}},
            ("/a", None, "0.001", "terms"),
        ),
        (
            {"path": "/a", "payment": {"amount": "0.002", "token": "USDC", "network": "base"}},
            ("/a", None, "0.002", "terms"),
        ),
        (
            {"url": "/a", "pricing": [{"amount": "0.01", "asset": "USDC", "network": "base"}]},
            ("/a", None, "0.01", "terms"),
        ),
        (
            {"path": "/a", "price": "0.018", "currency": "USDC", "network": "base", "payTo": PAYEE},
            ("/a", None, "0.018", "terms"),
        ),
        ({"resource": "POST /a", "price": "$0.001", "accepts": [OFFER]}, ("/a", "POST", "0.05", "terms")),
        ({"url": "/a", "priceUsdc": 0.005}, ("/a", None, "0.005", "terms")),
        ({"url": "/a", "price_usd": "5e-4"}, ("/a", None, "0.0005", "terms")),
        ({"url": "/a", "price": "0.02 USDC"}, ("/a", None, "0.02", "terms")),
        ({"url": "/a", "pricing": "$0.0003 per call"}, ("/a", None, "0.0003", "terms")),
        ({"url": "/a", "price": "0.02 ETH"}, ("/a", None, None, "terms")),
        ({"url": "/a", "price": 0.02}, ("/a", None, None, "terms")),
        ({"url": "/a/{city}", "x402": {"price": "$1", "network": "base"}}, ("/a/{city}", None, "1", "terms")),
        ({"endpoint": "a/b", "httpMethod": "POST", "cost": "$1"}, ("/a/b", "POST", "1", "terms")),
        ({"resource": {"url": "/a"}, "input": {"method": "POST"}, "accepts": [OFFER]}, ("/a", "POST", "0.05", "terms")),
        ({"url": "/a", "price": "$9/month"}, ("/a", None, None, "listed")),
        ({"url": "/a", "price": "ask us"}, ("/a", None, None, "listed")),
        ({"resource": "/a", "network": "eip155:8453", "payTo": PAYEE}, ("/a", None, None, "terms")),
    ],
)
@each("key", ["resources", "endpoints", "items"])
def test_an_entry_of_any_shape(key: str, item: dict[str, Any], call: tuple[Any, ...]) -> None:
    """Address, method and price are found under the names that are in use."""
    assert found({"x402Version": 2, key: [item]}) == [call]


def test_a_map_of_calls() -> None:
    """Keys may be the addresses, and values objects or prices."""
    document = {
        "version": "2.0",
        "endpoints": {
            "GET /price": {"description": "A price", "accepts": [OFFER], "pricing": "$0.05 per call"},
            "/pool": "$0.002",
            "POST /free": "free",
        },
        "pricing": {"tiers": {"free": {"price": "$0/month"}}},
    }
    assert found(document) == [("/price", "GET", "0.05", "terms"), ("/pool", None, "0.002", "terms")]


def test_defaults_above_are_those_of_every_call() -> None:
    """The document states network, asset and payee once, and each call its price."""
    document = {
        "network": "base",
        "asset": {"address": USDC, "symbol": "USDC"},
        "payTo": PAYEE,
        "services": [{"path": "/a", "method": "GET", "price": "0.01"}],
    }
    entry, offer = only(document)
    assert (entry.price_usdc, offer["amount"], offer["asset"], offer["pay_to"]) == ("0.01", "10000", USDC, PAYEE)
    assert found({"price": "$0.01", "network": "base", "resources": ["/a", "/b"]}) == [
        ("/a", None, "0.01", "terms"),
        ("/b", None, "0.01", "terms"),
    ]


def test_default_offers_take_the_price_of_the_call() -> None:
    """The document's `accepts` has no amounts, and each call has a price."""
    document = {
        "accepts": [{"network": "eip155:8453", "asset": "USDC", "address": PAYEE}],
        "resources": [{"path": "/map", "price": "0.01"}],
    }
    entry, offer = only(document)
    assert (entry.price_usdc, offer["amount"], offer["pay_to"]) == ("0.01", "10000", PAYEE)


def test_a_call_with_its_own_price_does_not_get_the_default_amount() -> None:
    """The more specific price is the only one that counts."""
    document = {"accepts": [OFFER], "resources": [{"path": "/dear", "price": "$2"}, {"path": "/usual"}]}
    assert found(document) == [("/dear", None, "2", "terms"), ("/usual", None, "0.05", "terms")]


def test_a_base_address_is_put_before_paths() -> None:
    """Also when it has a path, but not twice."""
    document = {"baseUrl": "https://api.shop.example.com/v1", "endpoints": [{"path": "/a"}, {"path": "/v1/b"}, "/c"]}
    assert [call[0] for call in found(document)] == [f"https://api.shop.example.com/v1/{name}" for name in "abc"]


@each(
    "document",
    [
        {"name": "a publisher", "wallet": PAYEE, "network": "eip155:5042002", "asset": "USDC"},
        {"name": "x402watch", "version": "1.0.0", "api": f"{SITE}/api", "documentation": SITE},
        {"resources": [{"resource": f"{SITE}/free", "method": "GET", "accepts": []}]},
        {"resources": [{"resource": f"{SITE}/free", "pricing": [{"amount": "0", "asset": "USDC", "network": "base"}]}]},
        {
            "resources": [
                {"url": "/free", "price": "$0.00"},
                {"url": "/free", "free": True},
                {"url": "/free", "paid": False},
            ]
        },
        {"x402Version": 2, "payTo": PAYEE, "network": "base", "url": SITE, "provider": {"name": "us", "url": SITE}},
        {"resources": [{"resource": "mcp://tool/x", "accepts": [OFFER]}, {"url": "wss://h/x", "accepts": [OFFER]}]},
        {"items": [{"resource": f"{SITE}/mcp", "type": "mcp", "accepts": [OFFER]}]},
        {"resources": [{"url": "http://user:secret@shop.example.com/", "accepts": [OFFER]}]},
        {"endpoints": {"info": f"{SITE}/info", "quote": f"{SITE}/quote"}, "tools": [f"{SITE}/docs"]},
        {"resources": [{"inputSchema": {"url": "/x", "price": "$1"}, "example": {"url": "/y", "accepts": [OFFER]}}]},
        {"resources": [True, None, 5, [], {}, "", " ", "two words", "GET"]},
        [],
        5,
        None,
        "text",
    ],
)
def test_what_is_not_paid_is_not_reported(document: Any) -> None:
    """No evidence of payment, no call."""
    assert found(document) == []


def test_free_calls_are_counted() -> None:
    """They are not reported as calls; a warning has their number."""
    document = {"resources": [{"url": "/free", "price": "$0"}, {"url": "http://a:b@h/x", "accepts": [OFFER]}]}
    warnings = reading(document).warnings
    assert any("Free calls" in text and text.endswith(": 1.") for text in warnings)
    assert any("HTTP does not call" in text and text.endswith(": 1.") for text in warnings)


def test_a_frame_around_calls_is_no_call() -> None:
    """The address and payee of the outer object are defaults of the calls inside."""
    document = {
        "url": SITE,
        "price": "$1",
        "payTo": PAYEE,
        "network": "base",
        "resources": [{"path": "/a", "price": "$2"}],
    }
    assert found(document) == [("/a", None, "2", "terms")]


@each(
    ("document", "is_found"),
    [
        ([{"url": "/shirt", "price": 19.99}], False),
        ({"products": [{"url": "/shirt", "price": "$19.99"}]}, False),
        ({"items": [{"url": "/a"}, "/b"]}, False),
        ({"items": [{"url": "/a", "accepts": [OFFER]}]}, True),
        ({"products": [{"url": "/a", "price": "$1", "network": "base", "payTo": PAYEE}]}, True),
        ({"x402Version": 2, "items": [{"url": "/a", "price": "$1"}]}, True),
    ],
)
@each("kind", ["page", "guess"])
def test_prices_of_other_documents_are_not_x402s(kind: str, document: Any, is_found: bool) -> None:
    """In a document that is not x402's, a price by itself may be the price of a shirt."""
    assert bool(found(document, kind=kind, path="/bazaar.json")) is is_found


@each(
    ("offer", "amount", "price"),
    [
        ({"network": "base", "asset": "USDC", "maxAmountRequired": "0.5"}, "500000", "0.5"),
        ({"network": "8453", "asset": USDC.lower(), "amount": "7"}, "7", "0.000007"),
        (
            {"network": "solana", "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "amount": "1000"},
            "1000",
            "0.001",
        ),
        (
            {"network": "solana", "asset": "epjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "amount": "1000"},
            "1000",
            None,
        ),
        (
            {
                "network": "stellar:pubnet",
                "asset": "CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75",
                "amount": "10000",
            },
            "10000",
            "0.001",
        ),
        (
            {
                "network": "xrpl:0",
                "asset": "5553444300000000000000000000000000000000",
                "amount": "0.001",
                "extra": {"issuer": "rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE"},
            },
            "0.001",
            "0.001",
        ),
        ({"network": "xrpl:0", "asset": "5553444300000000000000000000000000000000", "amount": "1"}, "1", None),
        ({"network": "xrpl:0", "asset": "RLUSD", "amount": "0.010000"}, "0.01", None),
        ({"network": "base", "asset": "0x" + "12" * 20, "amount": "1000"}, "1000", None),
        ({"network": "base", "asset": "0x" + "12" * 20, "price": "$1"}, None, None),
        ({"network": "unheard-of", "asset": "USDC", "amount": "1000"}, "1000", None),
        ({"network": "base", "asset": "USDC", "price": "0.0000001"}, None, "0.0000001"),
        ({"network": "base", "asset": "USDC", "amount": "0001000"}, "1000", "0.001"),
        ({"network": "base", "asset": "USDC", "amount": "9" * 78}, "9" * 78, None),
    ],
)
def test_amounts_and_prices(offer: dict[str, Any], amount: str | None, price: str | None) -> None:
    """Amounts are atomic, decimals on XRPL; a price in USDC is one of an asset that is known to be USDC."""
    entry, read_offer = only({"resources": [{"url": "/a", "accepts": [{"payTo": "payee", **offer}]}]})
    assert (read_offer["amount"], entry.price_usdc) == (amount, price)


@each("amount", ["-5", "1,000", "0x10", "1e999999999", "9" * 79, "NaN", "Infinity", "", " 5", [5], {"a": 1}, True])
def test_amounts_that_are_none(amount: Any) -> None:
    """An invalid amount is null, and the rest of the offer is kept."""
    entry, read_offer = only({"resources": [{"url": "/a", "accepts": [{**OFFER, "amount": amount}]}]})
    assert (read_offer["amount"], read_offer["pay_to"], entry.price_usdc) == (None, PAYEE, None)


def test_the_same_call_twice_is_one() -> None:
    """A repeated call is reported once."""
    assert len(found({"resources": [{"url": "/a", "accepts": [OFFER]}] * 3})) == 1


def test_ten_thousand_items() -> None:
    """All are found, and their common terms are kept once."""
    document = {"x402Version": 2, "accepts": [OFFER], "resources": [f"/call/{number}" for number in range(10_000)]}
    result = reading(document)
    assert (len(result.entries), len(result.offers), result.is_cut) == (10_000, 1, False)
    document["resources"].append("/one/more")
    result = reading(document)
    assert (len(result.entries), result.is_cut) == (10_000, True)
    assert any("There is more" in text for text in result.warnings)


@pytest.mark.parametrize(
    "networks",
    [
        ["base", "solana"],
        [{"network": "base", "asset": USDC}, {"name": "solana"}],
        {"base": {"asset": USDC, "payTo": PAYEE}, "solana": {"chainId": "solana"}},
    ],
)
def test_one_price_on_several_networks(networks: Any) -> None:
    """`networks` says where the terms of the manifest hold; each is an offer."""
    document = {
        "x402Version": 2,
        "public_base_url": "https://api.shop.example.com/v2",
        "networks": networks,
        "payTo": PAYEE,
        "endpoints": [{"path": "/weather", "method": "GET", "price": "$0.01"}],
    }
    result = reading(document)
    (entry,) = result.entries
    assert (entry.url, entry.price_usdc) == ("https://api.shop.example.com/v2/weather", "0.01")
    assert [result.offers[place].network for place in entry.offers] == ["eip155:8453", SOLANA]
    assert {result.offers[place].pay_to for place in entry.offers} == {PAYEE}


def test_a_call_on_one_of_the_networks() -> None:
    """Its own network counts, and not all of them."""
    document = {
        "networks": ["base", "solana"],
        "payTo": PAYEE,
        "endpoints": [{"path": "/a", "price": "$1", "network": "base"}],
    }
    result = reading(document)
    assert [result.offers[place].network for place in result.entries[0].offers] == ["eip155:8453"]
