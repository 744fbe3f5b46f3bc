"""The JSON documents of discovery as bytes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from api.discovery import bazaar, openapi, well_known
from api.discovery.listing import Listing


def documents(listings: Sequence[Listing], base_url: str, last_updated: int, contact: str = "") -> dict[str, bytes]:
    """Path on the API to body. The same arguments give the same bytes.

    Args:
        base_url: public address of the API; every listing's address is below it.
        last_updated: Unix seconds of when what is shown last changed.
        contact: COINSLOT_CONTACT.

    Raises:
        ValueError: a listing is elsewhere, so that the documents would contradict each other.
    """
    base_url = base_url.rstrip("/")
    for listing in listings:
        if listing.url != base_url + listing.endpoint.path:
            raise ValueError(f"{listing.endpoint.name} is listed at {listing.url}, not below {base_url}")
    manifest = msgspec.json.encode(well_known.document(listings, last_updated))
    return {
        "/openapi.json": msgspec.json.encode(openapi.document(listings, base_url, contact)),
        "/bazaar.json": msgspec.json.encode(bazaar.catalogue_document(listings, last_updated)),
        "/.well-known/x402": manifest,
        "/.well-known/x402.json": manifest,
    }
