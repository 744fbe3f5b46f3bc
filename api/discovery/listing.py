"""An endpoint as this installation sells it: with its address and the offers of the rails that are configured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from shared.endpoint import Category, Endpoint
from shared.x402.wire import Offer, Resource

SERVICE_NAME = "Coinslot"
MIME_TYPE = "application/json"
MCP_PATH = "/mcp"
"""The MCP server, of which each call is a tool."""
CATEGORIES: Mapping[Category, str] = {
    Category.UTILITY: "Small tools on what you send.",
    Category.DATA: "Facts fetched from the web and from chains.",
    Category.SECURITY: "Judgements about texts, hosts, wallets and transactions.",
}
"""What the calls of each category have in common, in the order of the documents."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One row of every discovery document.

    Attributes:
        url: absolute address of the call, below the configured public base URL.
        offers: the challenge's `accepts`, in order; never empty.
    """

    endpoint: Endpoint
    url: str
    offers: tuple[Offer, ...]


def published(listings: Sequence[Listing]) -> tuple[Listing, ...]:
    """The listings that discovery shows, in order. Every document starts from this set.

    Raises:
        ValueError: two share an address or an operation id (`chain/call` and `chain-call` would), or one has no offer
            and therefore no price that could be shown.
    """
    shown = tuple(listing for listing in listings if listing.endpoint.listed)
    for listing in shown:
        if not listing.offers:
            raise ValueError(f"{listing.endpoint.name} has no offer: none of its rails is configured")
    for kind, names in (
        ("address", [listing.url for listing in shown]),
        ("operation id", [listing.endpoint.operation_id for listing in shown]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{kind} used twice: {', '.join(twice)}")
    return shown


def resource(listing: Listing) -> Resource:
    """A listing as the `resource` object of challenges and documents, in the words that facilitators index
    (specs/extensions/bazaar.md, Service Metadata)."""
    return Resource(
        url=listing.url,
        description=listing.endpoint.summary,
        mime_type=MIME_TYPE,
        service_name=SERVICE_NAME,
        tags=(listing.endpoint.category.value,),
    )


def tool_resource(listing: Listing) -> Resource:
    """A listing as the `resource` object of its tool: all tools have the address of the MCP server."""
    base_url = listing.url.removesuffix(listing.endpoint.path)
    return msgspec.structs.replace(resource(listing), url=base_url + MCP_PATH)
