"""Decodes and cuts the texts of WHOIS servers."""

import codecs
from collections.abc import Sequence

MOST_BYTES = 64 * 1024


def decode(raw: bytes, encodings: Sequence[str] = ("utf-8", "latin-1")) -> str:
    """Decode in the first encoding that fits. A character that is cut at the end does not count against an encoding."""
    for encoding in encodings:
        if encoding == "iso2022_jp" and b"\x1b" not in raw:
            continue  # without escapes it is plain ASCII, which proves nothing
        try:
            return codecs.getincrementaldecoder(encoding)().decode(raw, final=False)
        except UnicodeDecodeError:
            continue
    return raw.decode(encodings[-1], "replace")


def cut(text: str) -> tuple[str, bool]:
    """Cut a text to 64 KB of UTF-8. Returns also whether something was left out."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MOST_BYTES:
        return text, False
    return encoded[:MOST_BYTES].decode("utf-8", "ignore"), True
