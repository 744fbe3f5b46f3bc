"""The catalogue and everything derived from it say what the literal table says."""

import json
from typing import Any

import pytest

from api.discovery.catalogue import documents
from api.discovery.listing import Listing
from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint
from shared.x402 import evm
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.wire import Offer
from tests.contract import forgotten
from tests.contract.endpoints import ENDPOINTS, SPECIFIED, Row
from tests.each import each

BASE_URL = "https://coinslot.example"
PAY_TO = "0x" + "11" * 20
USDC_ON_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

ROWS = {row.name: row for row in ENDPOINTS}
SHOWN = [row for row in ENDPOINTS if row.listed]

pytestmark = forgotten.NEEDS_ROWS


def _offers(endpoint: Endpoint) -> tuple[Offer, ...]:
    if Rail.BASE in endpoint.rails:
        return evm.offers(EVM_USDC["eip155:8453"], endpoint.price, PAY_TO)
    rlusd = Offer(
        scheme="exact",
        network="xrpl:0",
        amount=endpoint.price.text(),
        asset="524C555344000000000000000000000000000000",
        pay_to="rPayee",
        max_timeout_seconds=60,
        extra={"issuer": "rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De"},
    )
    return (rlusd,)


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    """Path to decoded document, for the whole catalogue."""
    listings = [Listing(endpoint, BASE_URL + endpoint.path, _offers(endpoint)) for endpoint in CATALOGUE]
    return {path: json.loads(body) for path, body in documents(listings, BASE_URL, 1_763_600_000).items()}


def _amount(row: Row) -> str:
    return row.price if row.usdc_atomic is None else row.usdc_atomic


def test_the_table_has_29_endpoints() -> None:
    """the specification has 29 endpoints, each with its own name and path, and one of them is unlisted."""
    assert len(SPECIFIED) == 29
    assert len({row.name for row in ENDPOINTS}) == len({row.path for row in ENDPOINTS}) == len(ENDPOINTS)
    assert [row.name for row in SPECIFIED if not row.listed] == ["chain/erc1155-balance"]


def test_what_is_specified_is_what_is_sold() -> None:
    """The catalogue has exactly the endpoints of the table, each once."""
    assert sorted(endpoint.name for endpoint in CATALOGUE) == sorted(row.name for row in ENDPOINTS)


@each("endpoint", CATALOGUE)
def test_every_declaration_equals_its_row(endpoint: Endpoint) -> None:
    """Path, price, category, pool, flavour, rails and listing of each endpoint are the table's."""
    row = ROWS[endpoint.name]
    assert endpoint.path == row.path
    assert endpoint.price.text() == row.price
    assert endpoint.category.value == row.category
    assert endpoint.pool.value == row.pool
    assert endpoint.flavour.value == row.flavour
    assert tuple(rail.value for rail in endpoint.rails) == row.rails
    assert endpoint.listed is row.listed


@each("endpoint", CATALOGUE)
def test_every_usdc_amount_is_the_literal_one(endpoint: Endpoint) -> None:
    """The atomic amount that a caller is asked to sign is the digits written in the table."""
    row = ROWS[endpoint.name]
    assert (str(endpoint.price.atomic(6)) if Rail.BASE in endpoint.rails else None) == row.usdc_atomic


def test_openapi_sells_the_listed_rows_at_their_prices(published: dict[str, Any]) -> None:
    """Both pricing extensions of every operation carry the table's price."""
    paths = published["/openapi.json"]["paths"]
    assert set(paths) == {row.path for row in SHOWN}
    for row in SHOWN:
        pricing = paths[row.path]["post"]["x-coinslot-pricing"]
        payment = paths[row.path]["post"]["x-payment-info"]
        assert float(payment["price"]["amount"]) == float(row.price)
        assert payment["protocols"][0]["x402"]["amount"] == _amount(row)
        if row.usdc_atomic is not None:
            assert pricing == {
                "priceAtomic": row.usdc_atomic,
                "priceUsdc": float(row.price),
                "network": "eip155:8453",
                "asset": USDC_ON_BASE,
                "assetSymbol": "USDC",
                "payTo": PAY_TO,
            }


def test_openapi_shows_the_older_header_where_it_is_sent(published: dict[str, Any]) -> None:
    """WWW-Authenticate is documented on the rows that are not of the newer flavour, PAYMENT-REQUIRED on all."""
    for row in SHOWN:
        headers = published["/openapi.json"]["paths"][row.path]["post"]["responses"]["402"]["headers"]
        assert "PAYMENT-REQUIRED" in headers
        assert ("WWW-Authenticate" in headers) is (row.flavour != "newer")


def test_the_bazaar_sells_the_listed_rows_at_their_prices(published: dict[str, Any]) -> None:
    """/bazaar.json has every listed row as a call and as a tool, and no other, with its amount and category."""
    listed = published["/bazaar.json"]["items"]
    calls = {item["resource"]: item for item in listed if item["type"] == "http"}
    tools = {_tool(item): item for item in listed if item["type"] == "mcp"}
    assert set(calls) == {BASE_URL + row.path for row in SHOWN}
    assert set(tools) == {row.name.replace("/", "_") for row in SHOWN}
    assert len(listed) == 2 * len(SHOWN)
    for row in SHOWN:
        for item in (calls[BASE_URL + row.path], tools[row.name.replace("/", "_")]):
            assert [offer["amount"] for offer in item["accepts"]] == [_amount(row)]
            assert item["tags"] == [row.category]


def _tool(item: dict[str, Any]) -> str:
    assert item["resource"] == f"{BASE_URL}/mcp"
    name: str = item["extensions"]["bazaar"]["info"]["input"]["toolName"]
    return name


@pytest.mark.parametrize("path", ["/.well-known/x402", "/.well-known/x402.json"])
def test_the_well_known_documents_sell_the_listed_rows_at_their_prices(published: dict[str, Any], path: str) -> None:
    """Both shapes of the well-known document have every listed row, and no other, with its amount."""
    urls = {BASE_URL + row.path for row in SHOWN}
    assert set(published[path]["resources"]) == urls
    items = {item["resource"]["url"]: item for item in published[path]["items"]}
    assert set(items) == urls
    for row in SHOWN:
        assert [offer["amount"] for offer in items[BASE_URL + row.path]["accepts"]] == [_amount(row)]
