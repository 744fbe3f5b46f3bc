"""What discovery serves follows what a facilitator says, and is built again for nothing else."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from api.discovery.catalogue import Catalogue
from api.discovery.listing import Listing

LAST_UPDATED = 1_763_600_000


def sponsored(listing: Listing, fee_payer: str) -> Listing:
    """The listing after the facilitator of Solana has named another fee payer."""
    offers = [
        msgspec.structs.replace(offer, extra={"feePayer": fee_payer}) if "feePayer" in offer.extra else offer
        for offer in listing.offers
    ]
    return replace(listing, offers=tuple(offers))


def test_documents_are_built_when_an_offer_has_changed(shop: tuple[Listing, ...], base_url: str) -> None:
    """All documents, and the list, have the new one at once; without a change they are the same objects."""
    listings: Sequence[Listing] = shop
    catalogue = Catalogue(lambda: listings, base_url=base_url, last_updated=lambda: LAST_UPDATED)
    before = catalogue.documents
    listings = list(shop)
    assert catalogue.documents is before
    listings = [sponsored(listing, "another") for listing in shop]
    after = catalogue.documents
    assert b"another" in catalogue.resources()
    for path in ("/bazaar.json", "/.well-known/x402", "/.well-known/x402.json"):
        old, new = before[path].body, after[path].body
        assert new == old.replace(b"EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd", b"another")
        assert new != old
    assert catalogue.documents is after
