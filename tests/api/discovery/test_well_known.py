"""/.well-known/x402 is both shapes in use at once."""

from collections.abc import Callable
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from x402.schemas import PaymentRequirements, ResourceInfo

from api.discovery import well_known
from api.discovery.listing import Listing
from shared.endpoint import Endpoint

LAST_UPDATED = 1_763_600_000


def test_it_is_a_manifest(shop: tuple[Listing, ...]) -> None:
    """The manifest describes the same calls, with resources and offers that the official SDK parses."""
    document = well_known.document(shop, LAST_UPDATED)
    assert (document["x402Version"], document["lastUpdated"]) == (2, LAST_UPDATED)
    assert [item["resource"]["url"] for item in document["items"]] == document["resources"]
    for item in document["items"]:
        assert item["type"] == "http"
        info = ResourceInfo.model_validate(item["resource"])
        assert (info.service_name, info.mime_type) == ("Coinslot", "application/json")
        assert all(PaymentRequirements.model_validate(offer) for offer in item["accepts"])
        assert item["input"]["method"] == "POST"
        assert item["resource"]["url"].endswith(item["input"]["routeTemplate"])


def test_it_says_how_to_call(endpoint_of: Callable[..., Endpoint], listing_of: Callable[[Endpoint], Listing]) -> None:
    """`body` and `output.schema` are schemas that the example is an instance of, as the draft's types want."""
    endpoint = endpoint_of()
    item: dict[str, Any] = well_known.document([listing_of(endpoint)], LAST_UPDATED)["items"][0]
    Draft202012Validator(item["input"]["body"]).validate(endpoint.example.request)
    Draft202012Validator(item["output"]["schema"]).validate(item["output"]["example"])
    assert item["input"]["bodyType"] == "json"


def test_it_carries_no_extension(shop: tuple[Listing, ...]) -> None:
    """Extensions are the live 402's business, and an unlisted call is nobody's."""
    text = msgspec.json.encode(well_known.document(shop, LAST_UPDATED)).decode()
    assert "extensions" not in text
    assert "erc1155" not in text
