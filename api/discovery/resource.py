"""A listing as the `resource` object of a challenge and of the discovery documents."""

from __future__ import annotations

from api.discovery.listing import Listing
from shared.x402.wire import Resource

SERVICE_NAME = "Coinslot"
MIME_TYPE = "application/json"


def resource(listing: Listing) -> Resource:
    """What is sold, in the words that facilitators index (specs/extensions/bazaar.md, Service Metadata)."""
    return Resource(
        url=listing.url,
        description=listing.endpoint.summary,
        mime_type=MIME_TYPE,
        service_name=SERVICE_NAME,
        tags=(listing.endpoint.category.value,),
    )
