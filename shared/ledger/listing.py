"""What the ledger knows of the catalogues of facilitators, which list a call when they settle a payment for it.

One key for each facilitator and each address of a call. All of them are in one bucket: they belong to no payer.
"""

from urllib.parse import urlsplit

from shared.ledger.keys import PREFIXES

LISTING = "listing"
"""The value of a record's field `facilitator` when its payment is settled by the listing facilitator."""
DAYS_LISTED = 30
"""Coinbase's Bazaar forgets a call so long after its last settlement there (docs/getting-found.md)."""
DAYS_BETWEEN = 25
"""So long after a settlement the next one of the same call goes there."""
BUCKET = 0


def host_of(url: str) -> str:
    """What a facilitator is called in the ledger: the host of its address, with the port."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def listing_key(host: str, resource: str) -> str:
    """Key of a hash with the fields

    - `until`: when the next payment may go there, `payment`: the last one that did
    - `settled` and `transaction`: of the last settlement
    - `status` and `status_at`: what the facilitator said of its catalogue, as JSON
    - `trouble` and `trouble_at`: why a payment did not go there

    Times are Unix milliseconds.

    Args:
        resource: address of the call.
    """
    return f"{PREFIXES[BUCKET]}listing:{host}:{resource}"
