"""Finds keys that their form shows: an issuer's prefix (keys.py), a name before them (assignments.py), or one of these.

| what | form |
|---|---|
| AWS secret access key | 40 characters of base64 after a word for it |
| JWT | three parts of base64url, the first of which is a JSON object with `alg` |
| private key | a PEM block, also when its end is missing |

Keys and hashes in hexadecimal are of another kind, `hex_secret`: 32 digits or more in one piece, with at least one letter and
one decimal digit. A full git hash or an Ethereum address is one too, because nothing distinguishes it from a key. The pieces
of a UUID are too short.
"""

import base64
import binascii
from collections.abc import Iterator

import msgspec

from jobs.engines.text.linear import compiled
from jobs.pii_redact import assignments, keys
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import joins, joins_before

_AWS_SECRET = compiled(
    r"(?i)(?:aws.{0,20}?)?(?:secret.{0,3}?access.{0,3}?key|aws.{0,3}?secret(?:.{0,3}?key)?)[\"'`]? ?(?:=>|:=|[:=]|is)? ?[\"'`]?"
    r"([0-9A-Za-z/+]{40})"
)
_JWT = compiled(r"(ey[0-9A-Za-z_-]{10,})\.(ey[0-9A-Za-z_-]*)\.([0-9A-Za-z_-]*)")
_BEGIN = compiled(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = compiled(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK = compiled(r"(?:[0-9A-Za-z+/=\s]|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,200})*")
_WORD = frozenset("_-")
_HEX = compiled(r"(?:0[xX])?([0-9a-fA-F]{32,})")


def find(text: str) -> list[Span]:
    """Find the secrets in a text."""
    found = [Span(start, end, "secret") for start, end in (*keys.find(text), *assignments.find(text))]
    # A search of the whole text costs far more than to see that a part of each match is not there.
    for match in _AWS_SECRET.finditer(text) if "secret" in text.casefold() else ():
        after = text[match.end() : match.end() + 1]
        if not joins(after) and after not in ("/", "+", "="):
            found.append(Span(match.start(1), match.end(1), "secret"))
    for match in _JWT.finditer(text) if "ey" in text else ():
        if _is_whole(text, match.start(), match.end()) and _is_header(match[1] or ""):
            found.append(Span(match.start(), match.end(), "secret"))
    return found + [Span(start, end, "secret") for start, end in _blocks(text)]


def find_hex(text: str) -> list[Span]:
    """Find the hexadecimal secrets in a text."""
    found = []
    for match in _HEX.finditer(text):
        body = match[1] or ""
        is_part = joins_before(text, match.start()) or joins(text[match.end() : match.end() + 1])
        if not (is_part or body.isdigit() or body.isalpha()):
            found.append(Span(match.start(), match.end(), "hex_secret"))
    return found


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (joins(before) or before in _WORD or joins(after) or after in _WORD)


def _is_header(part: str) -> bool:
    try:
        header = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (msgspec.DecodeError, binascii.Error, UnicodeDecodeError, ValueError):
        return False
    return isinstance(header, dict) and "alg" in header


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The PEM blocks. One without its end reaches as far as its content may."""
    if "-----BEGIN " not in text:
        return
    begins = [(match.start(), match.end()) for match in _BEGIN.finditer(text)]
    ends = {match.start(): match.end() for match in _END.finditer(text)}
    for index, (start, end) in enumerate(begins):
        limit = begins[index + 1][0] if index + 1 < len(begins) else len(text)
        content = _BLOCK.match(text[end:limit])
        reached = end + (content.end() if content else 0)
        yield start, ends.get(reached, reached)
