"""x402-discover: the paid calls of manifests of many shapes, and none where nothing is sold."""

import json
from collections.abc import Iterator
from typing import Any

from jobs.x402_discover.document import Source
from jobs.x402_discover.reading import read
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


def measures(held_out: bool) -> Iterator[Measure]:
    """Documents whose one call is found with its price, and documents in which nothing is priced."""
    paid, free = (_PAID_SET_ASIDE, _FREE_SET_ASIDE) if held_out else (_PAID, _FREE)
    yield Measure("priced calls", len(paid), sum(_calls(document) == _CALL for document in paid))
    yield Measure("nothing sold", len(free), sum(not any(price for _, price in _calls(document)) for document in free))


def _calls(document: Any) -> set[tuple[str, str | None]]:
    source = Source("catalog", "GET", f"{_SITE}/.well-known/x402", 200, (), json.dumps(document).encode())
    return {(entry.url.removeprefix(_SITE), entry.price_usdc) for entry in read(source).entries}
