"""What we publish of ourselves can be read: x402-discover finds every listed call in every document, at its price."""

from api.discovery.catalogue import documents
from api.discovery.listing import Listing
from jobs.catalogue import CATALOGUE
from jobs.x402_discover.document import Source
from jobs.x402_discover.reading import read
from shared.x402 import evm
from shared.x402.networks import EVM_USDC, Rail
from tests.contract import forgotten
from tests.contract.endpoints import ENDPOINTS
from tests.each import each

BASE_URL = "https://coinslot.example"
ROWS = {row.name: row for row in ENDPOINTS}
SOLD = [endpoint for endpoint in CATALOGUE if endpoint.listed and Rail.BASE in endpoint.rails]

pytestmark = forgotten.NEEDS_ROWS


@each("path", ["/openapi.json", "/bazaar.json", "/.well-known/x402", "/.well-known/x402.json"])
def test_every_listed_call_is_found_at_its_price(path: str) -> None:
    """URL, price, offer and, where the document says it, the method."""
    usdc = EVM_USDC["eip155:8453"]
    listings = [Listing(e, BASE_URL + e.path, evm.offers(usdc, e.price, "0x" + "11" * 20)) for e in SOLD]
    body = documents(listings, BASE_URL, 1_763_600_000)[path]
    result = read(Source("guess", "GET", BASE_URL + path, 200, (("content-type", "application/json"),), body))
    with_terms = {entry.url: entry for entry in result.entries if entry.evidence == "terms"}
    assert set(with_terms) == {BASE_URL + endpoint.path for endpoint in SOLD}
    for endpoint in SOLD:
        entry = with_terms[BASE_URL + endpoint.path]
        assert entry.price_usdc == ROWS[endpoint.name].price
        assert entry.method == "POST"
        assert entry.description == endpoint.summary
        (place,) = entry.offers
        assert result.offers[place].amount == ROWS[endpoint.name].usdc_atomic
        assert result.offers[place].asset == usdc.address
    assert {entry.url for entry in result.entries} == set(with_terms)
