"""/.well-known/x402 and /.well-known/x402.json: one document that is both shapes in use.

`version` and `resources` are the list of addresses that x402scan fans out from (its docs/DISCOVERY.md). `x402Version`,
`lastUpdated` and `items` are the manifest of x402-foundation's draft specs/extensions/well-known-discovery.md, where
`body` is a JSON Schema and no extension appears.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from api.discovery.listing import MIME_TYPE, Listing, published, resource
from jobs import schemas
from shared.x402.wire import X402_VERSION


def document(listings: Sequence[Listing], last_updated: int) -> dict[str, Any]:
    """Both shapes side by side; their keys do not meet.

    Args:
        last_updated: Unix seconds.
    """
    shown = published(listings)
    return {
        "version": 1,
        "resources": [listing.url for listing in shown],
        "x402Version": X402_VERSION,
        "lastUpdated": last_updated,
        "items": [_item(listing) for listing in shown],
    }


def _item(listing: Listing) -> dict[str, Any]:
    endpoint = listing.endpoint
    return {
        "resource": msgspec.to_builtins(resource(listing)),
        "type": "http",
        "accepts": msgspec.to_builtins(listing.offers),
        "input": {
            "method": "POST",
            "routeTemplate": endpoint.path,
            "bodyType": "json",
            "body": schemas.of(endpoint.request),
        },
        "output": {
            "mimeType": MIME_TYPE,
            "example": endpoint.example.response,
            "schema": schemas.of(endpoint.response),
        },
    }
