"""Bytes of a WHOIS server as text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

MOST_BYTES = 64 * 1024


def decode(raw: bytes, encodings: Sequence[str] = ("utf-8", "latin-1")) -> str:
    """In the first encoding that fits. A character that the limit cut through does not make another encoding fit better."""
    for encoding in encodings:
        if encoding == "iso2022_jp" and b"\x1b" not in raw:
            continue  # without its escapes it is ASCII, and says nothing
        try:
            return codecs.getincrementaldecoder(encoding)().decode(raw, final=False)
        except UnicodeDecodeError:
            continue
    return raw.decode(encodings[-1], "replace")


def cut(text: str) -> tuple[str, bool]:
    """At most 64 KB of UTF-8, and whether something was left out."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MOST_BYTES:
        return text, False
    return encoded[:MOST_BYTES].decode("utf-8", "ignore"), True
