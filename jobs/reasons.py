"""The reasons of a 502, in sentences for the caller."""

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "bad_content": "What the other system sent could not be read.",
    "block_not_found": "No node has the block that was named.",
    "bot_wall": "The site shows programs a challenge or a refusal in the place of the page.",
    "captions_disabled": "The video's owner has switched captions off.",
    "connection_refused": "There was no connection, or it ended early.",
    "dns_failure": "The name has no address.",
    "http_status": "The other system answered with an error status.",
    "language_not_available": "The video has captions, but not in this language.",
    "no_captions": "The video has no captions.",
    "no_whois_server": "The registry has neither a WHOIS nor an RDAP server.",
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
"""Every reason that our endpoints declare (`Endpoint.failures`). Packages bring sentences for others (`failure_texts`)."""
