"""Paid operations of OpenAPI documents, and the free ones beside them."""

import json
from typing import Any

from jobs.x402_discover.document import Reading, Source
from jobs.x402_discover.reading import read
from tests.each import each

SITE = "https://shop.example.com"
OFFER = {
    "scheme": "exact",
    "network": "eip155:8453",
    "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "payTo": "0x1BBAC180dC1e393ac2bAD9930BC58f532cc866a3",
    "amount": "5000",
}


def reading(document: dict[str, Any]) -> Reading:
    body = json.dumps({"openapi": "3.1.0", **document}).encode()
    return read(Source("guess", "GET", f"{SITE}/openapi.json", 200, (), body))


def found(operation: dict[str, Any], **document: Any) -> list[tuple[str, str | None, str | None, str, int]]:
    """URL below the site, method, price, evidence and number of offers of what one operation gives."""
    result = reading({"paths": {"/x": {"post": operation}}, **document})
    assert result.format == "openapi"
    return [(e.url.removeprefix(SITE), e.method, e.price_usdc, e.evidence, len(e.offers)) for e in result.entries]


@each(
    ("operation", "price", "evidence", "offers"),
    [
        (
            {
                "x-payment-info": {
                    "price": {"mode": "fixed", "currency": "USD", "amount": "0.005000"},
                    "protocols": [{"x402": OFFER}],
                }
            },
            "0.005",
            "terms",
            1,
        ),
        (
            {
                "x-payment-info": {
                    "price": {"mode": "fixed", "currency": "USD", "amount": "1"},
                    "protocols": [{"x402": {}}],
                }
            },
            "1",
            "terms",
            0,
        ),
        ({"x-payment-info": {"protocols": ["x402"], "pricingMode": "fixed", "price": "$0.01"}}, "0.01", "terms", 0),
        (
            {
                "x-payment-info": {
                    "price": {"mode": "dynamic", "currency": "USD", "min": "0.01", "max": "2"},
                    "protocols": ["x402"],
                }
            },
            None,
            "terms",
            0,
        ),
        ({"x-payment-info": OFFER}, "0.005", "terms", 1),
        (
            {"x-acme-pricing": {**OFFER, "priceAtomic": "5000", "priceUsdc": 0.005, "assetSymbol": "USDC"}},
            "0.005",
            "terms",
            1,
        ),
        ({"x-price": "$0.02"}, "0.02", "terms", 0),
        ({"x-x402": {"accepts": [OFFER]}}, "0.005", "terms", 1),
        ({"responses": {"402": {"description": "Pay"}}}, None, "listed", 0),
        (
            {"responses": {"402": {"content": {"application/json": {"example": {"accepts": [OFFER]}}}}}},
            "0.005",
            "terms",
            1,
        ),
        (
            {
                "responses": {
                    "402": {"content": {"application/json": {"examples": {"a": {"value": {"accepts": [OFFER]}}}}}}
                }
            },
            "0.005",
            "terms",
            1,
        ),
    ],
)
def test_a_paid_operation(operation: dict[str, Any], price: str | None, evidence: str, offers: int) -> None:
    """By an extension about payment, or by its 402."""
    assert found(operation) == [("/x", "POST", price, evidence, offers)]


@each(
    "operation",
    [
        {},
        {"summary": "Costs $5", "responses": {"200": {}}},
        {"x-internal": {"price": "$1"}},
        {"x-payment-info": {"price": {"currency": "USD", "amount": "1"}, "protocols": [{"mpp": {"method": "tempo"}}]}},
        {"x-payment-info": {"price": {"currency": "USD", "amount": "0"}, "protocols": ["x402"]}},
        {"x-price": "free", "responses": {"402": {}}},
        {"x-payment-info": "none"},
        {"x-payment-info": ["x402"]},
        {"responses": []},
    ],
)
def test_a_free_operation(operation: dict[str, Any]) -> None:
    """Without evidence of x402, or for nothing."""
    assert found(operation) == []


@each(
    ("servers", "url"),
    [
        ([{"url": "https://api.shop.example.com/v1/"}], "https://api.shop.example.com/v1/x"),
        ([{"url": "/v2"}], f"{SITE}/v2/x"),
        (
            [{"url": "{scheme}://api.shop.example.com", "variables": {"scheme": {"default": "https"}}}],
            "https://api.shop.example.com/x",
        ),
        ([{"url": 5}], f"{SITE}/x"),
        ([], f"{SITE}/x"),
        ("junk", f"{SITE}/x"),
    ],
)
def test_where_operations_are(servers: Any, url: str) -> None:
    """Below the first server, which may be relative and have variables."""
    operation = {"x-price": "$1"}
    assert [call[0] for call in found(operation, servers=servers)] == [url.removeprefix(SITE)]
    inside = reading({"servers": [{"url": "/no"}], "paths": {"/x": {"servers": servers, "post": operation}}})
    if servers and servers != "junk" and servers != [{"url": 5}]:
        assert [entry.url for entry in inside.entries] == [url]


def test_swagger_2() -> None:
    """Host and base path."""
    document = {
        "swagger": "2.0",
        "host": "api.shop.example.com",
        "basePath": "/v1",
        "paths": {"/x": {"get": {"x-price": "$1"}}},
    }
    result = read(Source("guess", "GET", f"{SITE}/openapi.json", 200, (), json.dumps(document).encode()))
    assert [entry.url for entry in result.entries] == ["https://api.shop.example.com/v1/x"]


def test_terms_for_all_operations() -> None:
    """The document's own extension is the default of what answers 402, and makes nothing paid that does not."""
    paths = {"/paid/{id}": {"get": {"responses": {"402": {}}, "description": "D"}}, "/free": {"get": {}}}
    result = reading({"x-payment-info": OFFER, "paths": paths})
    (entry,) = result.entries
    assert (entry.url, entry.description, entry.price_usdc, entry.evidence) == (
        f"{SITE}/paid/{{id}}",
        "D",
        "0.005",
        "terms",
    )


@each(
    "paths",
    [
        None,
        [],
        {"x": 1},
        {"/x": None},
        {"/x": {"get": None}},
        {"/x": {"x-y": {}}},
        {"nohost": {"get": {"x-price": "$1"}}},
    ],
)
def test_broken_documents(paths: Any) -> None:
    """Nothing is found, and nothing breaks."""
    assert reading({"paths": paths}).entries == ()
