"""Finds keys and hashes in hexadecimal: 32 digits or more in one piece, with at least one letter and one decimal digit.

A full git hash or an Ethereum address is one too, because nothing distinguishes it from a key. The pieces of a UUID are too
short.
"""

from __future__ import annotations

from jobs.engines.text.linear import compiled
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import joins, joins_before

_HEX = compiled(r"(?:0[xX])?([0-9a-fA-F]{32,})")


def find(text: str) -> list[Span]:
    """Find the secrets in a text."""
    found = []
    for match in _HEX.finditer(text):
        start, end = match.start(), match.end()
        if joins_before(text, start) or joins(text[end : end + 1]):
            continue
        body = match[1] or ""
        if not body.isdigit() and not body.isalpha():
            found.append(Span(start, end, "hex_secret"))
    return found
