"""Coinbase Developer Platform, which delivers through Hook0: `X-Hook0-Signature: t=<time>,v0=<hex>,h=<names>,v1=<hex>`.

- v0 is HMAC-SHA256 over `<time>.<payload>`.
- v1 is HMAC-SHA256 over `<time>.<names>.<values>.<payload>`: the names as in `h`, separated by single spaces, and the
  values of these headers in the same order, joined by `.`.

If the caller gives headers, v1 is checked and v0 never replaces it, because the caller wants the headers checked. Without
headers v0 is checked, if present. https://docs.cdp.coinbase.com/webhooks/verify-signatures
"""

import re

from jobs.webhook_sig_verify.claim import Claim, Delivery, NoClaim
from jobs.webhook_sig_verify.reading import SHA256_BYTES, only, parts_of, sole_digest, time_of, without_digest

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A header's name: a token of RFC 9110."""


def claim(delivery: Delivery) -> Claim:
    """Read the claim. Raises NoClaim when the parts are not a signature, or a covered header is missing."""
    parts = parts_of(delivery.signature)
    written, signed_at = time_of(parts)
    v0, names, v1 = only(parts, "v0"), only(parts, "h"), only(parts, "v1")
    if v1 is not None and (v0 is None or delivery.headers is not None):
        mac = sole_digest(v1, SHA256_BYTES)
        signed = f"{written}.{names or ''}.{_values(names or '', delivery)}."
        return Claim(
            scheme="v1",
            algorithm="hmac_sha256",
            signed=signed.encode() + delivery.payload,
            macs=(mac,),
            signed_at=signed_at,
        )
    if v0 is None:
        raise without_digest(parts)
    return Claim(
        scheme="v0",
        algorithm="hmac_sha256",
        signed=f"{written}.".encode() + delivery.payload,
        macs=(sole_digest(v0, SHA256_BYTES),),
        signed_at=signed_at,
    )


def _values(names: str, delivery: Delivery) -> str:
    """The header values that v1 signs. The lookup ignores case; the signature covers the names as in `h`."""
    wanted = names.split(" ") if names else []
    # A repeated name would let a short signature require megabytes of one long value.
    if not all(_NAME.fullmatch(name) for name in wanted) or len({name.lower() for name in wanted}) < len(wanted):
        raise NoClaim("malformed_signature")
    headers = delivery.headers or {}
    if any(name.lower() not in headers for name in wanted):
        raise NoClaim("missing_header")
    return ".".join(headers[name.lower()] for name in wanted)
