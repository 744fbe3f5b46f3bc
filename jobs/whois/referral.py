"""IANA's record of a top-level domain: which server its registry has."""

from __future__ import annotations

from jobs.whois.lines import tokens
from jobs.whois.values import whois_server


def referral(text: str) -> str | None:
    """What the record names, as a host would be written; None when it names nothing, or there is no record.

    It is a stranger's word until jobs.hosts has read it.
    """
    found: dict[str, str] = {}
    for token in tokens(text):
        if token.key in ("refer", "whois") and token.value:
            found.setdefault(token.key, token.value)
    value = found.get("refer") or found.get("whois")
    return (whois_server(value) or value[:255].lower()) if value else None
