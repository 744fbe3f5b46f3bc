"""x402-discover: the paid calls of manifests of many shapes, and none where nothing is sold."""

import json
from collections.abc import Iterator
from typing import Any

from jobs.x402_discover.document import Source
from jobs.x402_discover.reading import read
from tests.jobs.x402_discover.test_endpoint import SITE, page, report
from tests.quality.scorer import Measure

_SITE = "https://shop.example.com"
_PAYEE = "0x1BBAC180dC1e393ac2bAD9930BC58f532cc866a3"
_OFFER = {"scheme": "exact", "network": "base", "payTo": _PAYEE, "amount": "10000"}
_CALL = {("/tea", "0.01")}

_PAID: list[Any] = [
    {"x402Version": 2, "items": [{"resource": f"{_SITE}/tea", "accepts": [{**_OFFER, "asset": "USDC"}]}]},
    {"payTo": _PAYEE, "network": "base", "endpoints": [{"path": "/tea", "price": "$0.01"}]},
    {
        "payTo": _PAYEE,
        "networks": ["base"],
        "public_base_url": _SITE,
        "endpoints": [{"path": "/tea", "price": "$0.01"}],
    },
    {"items": [{"path": "/tea", "price": {"amount": "10000", "decimals": 6, "currency": "USDC"}, "payTo": _PAYEE}]},
    {"endpoints": [{"path": "/tea", "priceMicroUsdc": 10000}]},
    {"payTo": _PAYEE, "network": "base", "endpoints": [{"path": "/tea", "amount": "10000", "decimals": 6}]},
    {"endpoints": [{"path": "/tea", "price": {"value": "0.01", "amount": 10000, "decimals": 6}, "payTo": _PAYEE}]},
    {"x402": {"routes": {"GET /tea": {"price": "$0.01", "network": "base"}}}},
    {"openapi": "/openapi.json", "endpoints": [{"path": "/tea", "price": "$0.01"}]},
    {"GET /tea": {"price": "$0.01", "network": "base"}},
    {"products": [{"name": "Tea", "price": "$0.01", "checkout": "/tea"}]},
]
_PAID_SET_ASIDE: list[Any] = [
    {"payTo": _PAYEE, "supported_networks": ["base", "polygon"], "services": [{"url": "/tea", "price_usd": "0.01"}]},
    {"networks": {"base": {"payTo": _PAYEE}}, "routes": {"GET /tea": {"price": "0.01 USDC"}}},
    {
        "networks": [{"id": "base", "recipient": _PAYEE}],
        "publicBaseUrl": _SITE,
        "tools": [{"endpoint": "/tea", "cost": "$0.01"}],
    },
    {"payment": {"wallet": _PAYEE, "chain": "base"}, "resources": {"/tea": "$0.01"}},
    [{"endpoint": f"{_SITE}/tea", "pricing": {"amount": "0.01", "currency": "USDC"}, "payTo": _PAYEE}],
]
_FREE: list[Any] = [
    {"endpoints": [{"path": "/tea"}]},
    {"networks": ["base"], "endpoints": ["https://docs.example.com/"]},
]
_FREE_SET_ASIDE: list[Any] = [
    {"name": "a shop", "contact": {"url": f"{_SITE}/tea"}, "networks": ["mainnet"]},
    {"networks": {"tv": {"url": f"{_SITE}/tea"}}},
    {"payTo": _PAYEE, "endpoints": [{"path": "/tea", "price": 0}]},
]


_MONEY, _HIGH = "money is mentioned", "1,000 USDC"
_PLACE = "/.well-known/x402"
# A page of a site, its body, words of a warning, and whether there is one.
_WARNED: list[tuple[str, Any, str, bool]] = [
    (_PLACE, {"tariff": {"a": {"price": "one cent in USDC"}}}, _MONEY, True),
    ("/", "<p>Pay with USDC over x402.</p>", _MONEY, True),
    ("/", "<p>Shoes for $19.99</p>", _MONEY, False),
    ("/", "<p>Hello</p>", _MONEY, False),
    (_PLACE, {"endpoints": [{"path": "/a", "priceUsdc": 1000.5}]}, _HIGH, True),
    (_PLACE, {"endpoints": [{"path": "/a", "priceUsdc": 1000}]}, _HIGH, False),
]
_WARNED_SET_ASIDE: list[tuple[str, Any, str, bool]] = [
    (_PLACE, {"pricing": "0.02 USDC a call", "docs": "ask us"}, _MONEY, True),
    (_PLACE, {"endpoints": [{"path": "/a", "price": "$25000"}]}, _HIGH, True),
    (_PLACE, {"endpoints": [{"path": "/a", "price": "$0.25"}]}, _HIGH, False),
    ("/", "<p>We take payments in EUR.</p>", _MONEY, False),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Documents whose one call is found with its price, and documents in which nothing is priced."""
    paid, free = (_PAID_SET_ASIDE, _FREE_SET_ASIDE) if held_out else (_PAID, _FREE)
    yield Measure("priced calls", len(paid), sum(_calls(document) == _CALL for document in paid))
    yield Measure("nothing sold", len(free), sum(not any(price for _, price in _calls(document)) for document in free))
    warned = _WARNED_SET_ASIDE if held_out else _WARNED
    told = [(word in " ".join(_warnings(path, body))) is is_told for path, body, word, is_told in warned]
    yield Measure("warnings", len(told), sum(told))
    if not held_out:
        linked = {
            f"GET {SITE}/.well-known/x402": page({"openapi": "/spec/v1.json", "x402Version": 1}),
            f"GET {SITE}/spec/v1.json": page(
                {"openapi": "3.1.0", "paths": {"/tea": {"get": {"x-payment-info": {"price": "$0.01"}}}}}
            ),
        }
        found = [entry["priceUsdc"] for entry in report(linked)[0]["endpoints"]]
        yield Measure("an OpenAPI document that is linked", 1, found == [0.01])


def _warnings(path: str, body: Any) -> list[str]:
    warnings: list[str] = report({f"GET {SITE}{path}": page(body)})[0]["warnings"]
    return warnings


def _calls(document: Any) -> set[tuple[str, str | None]]:
    source = Source("catalog", "GET", f"{_SITE}/.well-known/x402", 200, (), json.dumps(document).encode())
    return {(entry.url.removeprefix(_SITE), entry.price_usdc) for entry in read(source).entries}
