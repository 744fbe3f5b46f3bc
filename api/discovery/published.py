"""The listings that discovery shows. Every document starts from this set."""

from __future__ import annotations

from collections.abc import Sequence

from api.discovery.listing import Listing


def published(listings: Sequence[Listing]) -> tuple[Listing, ...]:
    """The listed ones, in order.

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
