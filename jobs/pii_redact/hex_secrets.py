"""Keys and hashes in hexadecimal: 32 digits or more in one piece, among them a letter and a decimal digit.

A full git hash or an Ethereum address is one too: nothing in it tells it from a key. UUIDs have no piece that is long enough.
"""

from __future__ import annotations

from jobs.pii_redact.linear import compiled
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import joins, joins_before

_HEX = compiled(r"(?:0[xX])?([0-9a-fA-F]{32,})")


def find(text: str) -> list[Span]:
    """The secrets in a text."""
    found = []
    for match in _HEX.finditer(text):
        start, end = match.start(), match.end()
        if joins_before(text, start) or joins(text[end : end + 1]):
            continue
        body = match[1] or ""
        if not body.isdigit() and not body.isalpha():
            found.append(Span(start, end, "hex_secret"))
    return found
