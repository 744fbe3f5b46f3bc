"""Reads the notations that signatures consist of. Each function accepts any text."""

import base64
import re
from collections.abc import Sequence

from jobs.webhook_sig_verify.claim import NoClaim

SHA256_BYTES = 32
SHA1_BYTES = 20
MAX_SECONDS = 2**63 - 1

_SECONDS = re.compile(r"[0-9]{1,19}")
_HEX = re.compile(r"[0-9a-fA-F]*")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{43}|[A-Za-z0-9_-]{43})=?")
_PREFIXED = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,15})=([^=].*)")
_VERSION = re.compile(r"v[0-9]{1,3}")

Parts = Sequence[tuple[str, str]]


def trimmed(text: str) -> str:
    """Remove the white space that HTTP allows around a header's value."""
    return text.strip(" \t")


def seconds(text: str) -> int | None:
    """Read Unix seconds in ASCII digits. None with a sign, a space, a point or an exponent."""
    if not _SECONDS.fullmatch(text) or int(text) > MAX_SECONDS:
        return None
    return int(text)


def hex_digest(text: str, size: int) -> bytes | None:
    """Read a digest of `size` bytes in hex of either case. None for anything else."""
    # bytes.fromhex alone would accept white space.
    return bytes.fromhex(text) if len(text) == 2 * size and _HEX.fullmatch(text) else None


def sole_digest(text: str, size: int) -> bytes:
    """Read a signature that is one hex digest.

    Raises:
        NoClaim: it is not a digest of `size` bytes.
    """
    digest = hex_digest(text, size)
    if digest is None:
        raise NoClaim("malformed_signature")
    return digest


def base64_digest(text: str) -> bytes | None:
    """Read a SHA-256 digest in base64, standard or URL-safe (not mixed), with or without padding. None for anything else."""
    if not _BASE64.fullmatch(text):
        return None
    standard = text.removesuffix("=").replace("-", "+").replace("_", "/") + "="
    digest = base64.b64decode(standard)
    # The last character has two bits more than the digest needs. Only one of the texts with the same digest is accepted.
    return digest if base64.b64encode(digest).decode() == standard else None


def prefixed(text: str) -> tuple[str, str] | None:
    """Split `sha256=ab` into name and rest. None without a name: the padding of bare base64 does not end one."""
    found = _PREFIXED.fullmatch(text)
    return (found[1], found[2]) if found else None


def parts_of(signature: str) -> Parts:
    """Split `t=1,v1=ab` into pairs, in order. Parts without `=` are skipped."""
    split = (trimmed(part).partition("=") for part in signature.split(","))
    return [(name, value) for name, assigned, value in split if assigned]


def only(parts: Parts, name: str) -> str | None:
    """The value of a part that may appear only once, or None.

    Raises:
        NoClaim: it appears twice, and readers would disagree about which one counts.
    """
    values = [value for key, value in parts if key == name]
    if len(values) > 1:
        raise NoClaim("malformed_signature")
    return values[0] if values else None


def time_of(parts: Parts) -> tuple[str, int]:
    """The part `t`, as written and as Unix seconds.

    Raises:
        NoClaim: the part is missing, or is not a time.
    """
    written = only(parts, "t")
    value = None if written is None else seconds(written)
    if written is None or value is None:
        raise NoClaim("malformed_signature")
    return written, value


def without_digest(parts: Parts) -> NoClaim:
    """The error when a signature has no digest of a known scheme: it has another version, or none."""
    has_other = any(_VERSION.fullmatch(name) for name, _ in parts)
    return NoClaim("unsupported_scheme" if has_other else "malformed_signature")
