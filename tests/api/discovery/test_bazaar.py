"""The bazaar extension and /bazaar.json, read by the official SDK as a facilitator and as a buyer would."""

import copy
import json
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest
from jsonschema import Draft202012Validator
from x402.extensions.bazaar import (
    ListDiscoveryResourcesParams,
    extract_discovery_info,
    validate_and_extract,
    validate_discovery_extension_spec,
    with_bazaar,
)
from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync
from x402.schemas import PaymentRequired, PaymentRequirements

from api.discovery import bazaar
from api.discovery.catalogue import Catalogue, Filters
from api.discovery.listing import Listing, resource
from api.discovery.routes import RESOURCES
from jobs.catalogue import CATALOGUE
from shared.call_path import tool_name
from shared.endpoint import Endpoint
from shared.x402.wire import Challenge
from tests.api.discovery.conftest import make_endpoint
from tests.each import each

LAST_UPDATED = 1_763_600_000


ENDPOINTS = [make_endpoint(), *(endpoint for endpoint in CATALOGUE if endpoint.listed)]
"""The made-up endpoint, then each that is sold publicly."""


@each("endpoint", ENDPOINTS)
def test_the_schema_can_refuse(endpoint: Endpoint) -> None:
    """The schema is not empty words: another method, body type or key, or no body, is refused."""
    extension = bazaar.extension(endpoint)
    validator = Draft202012Validator(extension["schema"])
    for change in ({"method": "GET"}, {"bodyType": "text"}, {"type": "mcp"}, {"other": 1}, {"body": 7}, {"body": None}):
        info = copy.deepcopy(extension["info"])
        info["input"] |= change
        assert not validator.is_valid(info), change
    info = copy.deepcopy(extension["info"])
    del info["input"]["body"]
    assert not validator.is_valid(info)


@each("endpoint", ENDPOINTS)
def test_the_sdk_accepts_the_extension(endpoint: Endpoint) -> None:
    """The official facilitator code finds the extension valid, by protocol and by schema, and reads the example back."""
    extension = json.loads(msgspec.json.encode(bazaar.extension(endpoint)))
    assert validate_discovery_extension_spec(extension).errors == []
    found = validate_and_extract(extension)
    assert found.errors == []
    assert found.info is not None
    assert found.info.input.body == endpoint.example.request
    assert found.info.output is not None
    assert found.info.output.example == endpoint.example.response


@each("endpoint", ENDPOINTS)
def test_the_sdk_accepts_the_extension_of_the_tool(endpoint: Endpoint) -> None:
    """The same of each call as a tool of the MCP server; its schema refuses another tool and what is no tool."""
    extension = json.loads(msgspec.json.encode(bazaar.tool_extension(endpoint)))
    assert validate_discovery_extension_spec(extension).errors == []
    found = validate_and_extract(extension)
    assert found.errors == []
    assert (found.info.input.tool_name, found.info.input.example) == (
        tool_name(endpoint.name),
        endpoint.example.request,
    )
    Draft202012Validator(found.info.input.input_schema).validate(found.info.input.example)
    validator = Draft202012Validator(extension["schema"])
    for change in ({"type": "http"}, {"toolName": "other"}, {"inputSchema": None}, {"other": 1}):
        assert not validator.is_valid({"input": extension["info"]["input"] | change}), change


@each("endpoint", ENDPOINTS)
@pytest.mark.parametrize("detail", [*bazaar.Detail][1:])
def test_an_extension_that_says_less_of_the_answer_is_valid_as_well(endpoint: Endpoint, detail: bazaar.Detail) -> None:
    """What a long challenge carries. The call itself is described as in a short one, unless that would be too long, too."""
    extension = json.loads(msgspec.json.encode(bazaar.extension(endpoint, detail)))
    assert validate_discovery_extension_spec(extension).errors == []
    found = validate_and_extract(extension)
    assert (found.errors, found.info is not None) == ([], True)
    assert extension["info"]["output"] == {"type": "json"}
    whole = json.loads(msgspec.json.encode(bazaar.extension(endpoint)["schema"]))
    if detail is bazaar.Detail.NOTHING_OF_EITHER:
        whole["properties"]["input"]["properties"]["body"] = {"type": "object"}
    assert extension["schema"]["properties"]["input"] == whole["properties"]["input"]


@each("endpoint", ENDPOINTS)
def test_a_facilitator_indexes_a_paid_call(endpoint: Endpoint, listing_of: Callable[[Endpoint], Listing]) -> None:
    """From a payment that echoes our challenge, the official facilitator code catalogues the call as we describe it."""
    listing = listing_of(endpoint)
    challenge = json.loads(
        msgspec.json.encode(
            Challenge(
                error="payment_required",
                resource=resource(listing),
                accepts=listing.offers,
                extensions={bazaar.KEY: bazaar.extension(endpoint)},
            )
        )
    )
    parsed = PaymentRequired.model_validate(challenge)
    payment = {
        "x402Version": 2,
        "accepted": challenge["accepts"][0],
        "payload": {},
        "resource": challenge["resource"],
        "extensions": challenge["extensions"],
    }
    found = extract_discovery_info(payment, parsed.accepts[0])
    assert found is not None
    assert found.resource_url == listing.url
    assert found.method == "POST"
    assert found.description == endpoint.summary
    assert found.mime_type == "application/json"
    assert found.service_name == "Coinslot"
    assert found.tags == [endpoint.category.value]


def test_schemas_are_where_indexers_look(endpoint_of: Callable[..., Endpoint]) -> None:
    """x402scan reads the request schema below input.body and the response schema below output.example."""
    schema = bazaar.extension(endpoint_of())["schema"]["properties"]
    assert "maxItems" in schema["input"]["properties"]["body"]["properties"]
    assert "findings" in schema["output"]["properties"]["example"]["properties"]


def test_the_answer_is_only_outlined(endpoint_of: Callable[..., Endpoint]) -> None:
    """The header has room for all that a caller needs to ask, and of the answer for the names and types."""
    schema = bazaar.extension(endpoint_of())["schema"]["properties"]
    assert "What to look at." in json.dumps(schema["input"])
    assert schema["output"]["properties"]["example"]["properties"]["findings"] == {"type": "array"}


def test_an_unlisted_endpoint_has_no_extension(endpoint_of: Callable[..., Endpoint]) -> None:
    """A facilitator would index what carries the extension, so an unlisted endpoint is refused it."""
    for extension in (bazaar.extension, bazaar.tool_extension):
        with pytest.raises(ValueError, match="unlisted"):
            extension(endpoint_of(listed=False))


def test_a_buyer_reads_the_catalogue_with_the_sdk(shop: tuple[Listing, ...]) -> None:
    """The official client lists /bazaar.json like any facilitator's catalogue, and every offer parses."""
    document = msgspec.json.encode(bazaar.catalogue_document(shop, LAST_UPDATED))
    answering = httpx.MockTransport(lambda request: httpx.Response(200, content=document))
    with httpx.Client(transport=answering) as http:
        client = HTTPFacilitatorClientSync(FacilitatorConfig(url="https://coinslot.example", http_client=http))
        listed = with_bazaar(client).extensions.bazaar.list_resources()
    assert listed.x402_version == 2
    assert (listed.pagination.limit, listed.pagination.offset, listed.pagination.total) == (56, 0, 56)
    shown = [listing for listing in shop if listing.endpoint.listed]
    expected = [("http", listing, listing.url) for listing in shown]
    expected += [("mcp", listing, "https://coinslot.example/mcp") for listing in shown]
    for item, (kind, listing, address) in zip(listed.items, expected, strict=True):
        assert (item.resource, item.type, item.x402_version) == (address, kind, 2)
        assert (item.description, item.mime_type) == (listing.endpoint.summary, "application/json")
        assert (item.service_name, item.tags) == ("Coinslot", [listing.endpoint.category.value])
        assert item.last_updated == LAST_UPDATED
        offers = [PaymentRequirements.model_validate(offer) for offer in item.accepts or []]
        assert [offer.amount for offer in offers] == [offer.amount for offer in listing.offers]
        assert validate_and_extract((item.extensions or {})["bazaar"]).valid


def test_a_buyer_reads_it_in_parts_with_the_sdk(shop: tuple[Listing, ...], base_url: str) -> None:
    """The official client asks /discovery/resources of any facilitator: the parts together are /bazaar.json."""
    catalogue = Catalogue(lambda: shop, base_url=base_url, last_updated=lambda: LAST_UPDATED)

    def answer(request: httpx.Request) -> httpx.Response:
        asked = request.url.params
        assert request.url.path == RESOURCES
        filters = Filters(kind=asked["type"], extension=asked["extensions"])
        body = catalogue.resources(filters, limit=int(asked["limit"]), offset=int(asked["offset"]))
        return httpx.Response(200, content=body)

    found: list[dict[str, Any]] = []
    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        client = HTTPFacilitatorClientSync(FacilitatorConfig(url=base_url, http_client=http))
        for offset in range(0, 30, 10):
            listed = with_bazaar(client).extensions.bazaar.list_resources(
                ListDiscoveryResourcesParams(type="http", extensions="bazaar", limit=10, offset=offset)
            )
            assert (listed.pagination.limit, listed.pagination.offset, listed.pagination.total) == (10, offset, 28)
            found += [item.resource for item in listed.items]
    whole = json.loads(catalogue.documents["/bazaar.json"].body)["items"]
    assert found == [item["resource"] for item in whole if item["type"] == "http"]
    tools = json.loads(catalogue.resources(Filters(kind="mcp"), limit=100))["items"]
    assert tools == [item for item in whole if item["type"] == "mcp"]
    nothing = {"x402Version": 2, "items": [], "pagination": {"limit": 20, "offset": 0, "total": 0}}
    assert json.loads(catalogue.resources(Filters(kind="other"))) == nothing


def test_an_empty_shop_has_an_empty_catalogue() -> None:
    """Nothing on sale is a valid catalogue."""
    document = bazaar.catalogue_document((), LAST_UPDATED)
    assert document == {"x402Version": 2, "items": [], "pagination": {"limit": 0, "offset": 0, "total": 0}}
