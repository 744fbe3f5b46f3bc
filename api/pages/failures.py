"""What can go wrong, in sentences: the reasons of a 502, and what every other status means for the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

REASONS: Mapping[str, str] = {
    "bad_content": "What the other system sent could not be read.",
    "block_not_found": "No node has the block that was named.",
    "captions_disabled": "The video's owner has switched captions off.",
    "connection_refused": "There was no connection, or it ended early.",
    "dns_failure": "The name has no address.",
    "http_status": "The other system answered with an error status.",
    "language_not_available": "The video has captions, but not in this language.",
    "no_captions": "The video has no captions.",
    "no_whois_server": "The registry has no WHOIS server.",
    "node_error": "The node of the ledger could not answer.",
    "not_a_feed": "The document is neither RSS nor Atom.",
    "not_a_page": "The document is no page: a download, a PDF or an image.",
    "not_configured": "This installation has no node of the chain.",
    "page_crashed": "The page ended its renderer.",
    "rate_limited": "The other system takes no more calls from us for now.",
    "servfail": "The name servers of the domain failed.",
    "stale_ledger": "The node is behind its network.",
    "timeout": "The other system did not answer in time.",
    "tls_failure": "The TLS handshake failed, or the certificate is not valid for the host.",
    "too_large": "What the other system sent is too large.",
    "too_many_redirects": "The address redirects too often.",
    "video_unavailable": "There is no such video, or it is not public.",
    "wrong_chain": "The node belongs to another chain.",
    "wrong_network": "The node belongs to another network.",
}
"""Every reason that an endpoint declares (`Endpoint.failures`)."""


class Status(NamedTuple):
    """One row. `charged`: whether the call has been paid for then."""

    status: str
    meaning: str
    charged: str
    next: str


STATUSES = (
    Status("402", "Not paid yet, or the payment was refused.", "no", "Pay what the new challenge asks for."),
    Status(
        "400", "The body is not valid; `field` names the place.", "no", "Correct it. The payment can still be used."
    ),
    Status("409", "The payment identifier belongs to another request.", "no", "Take another identifier."),
    Status("413, 415", "The body is too large, or is not JSON.", "no", "Correct it. The payment can still be used."),
    Status("429", "This payer calls this endpoint too often.", "no", "Wait, then send the same payment."),
    Status(
        "502",
        "Another system failed or said no; `reason` says which.",
        "yes",
        "If `retryable`: repeat with the same payment, free. Otherwise this is the answer.",
    ),
    Status(
        "503", "Full or down, or the settlement is not known yet.", "no, or unknown", "Repeat with the same payment."
    ),
    Status("504", "The answer took too long.", "yes", "Repeat with the same payment to fetch it, free."),
)
"""What this service answers instead of a 200, from the caller's side. Every such body but the 402 has `charged`, and the
few 400s that show only while the call runs say there that they were charged."""
