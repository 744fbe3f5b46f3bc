"""Any sender that signs with HMAC-SHA256 over the payload: hex or base64 of the digest, alone or after `sha256=`."""

from __future__ import annotations

from jobs.webhook_sig_verify.claim import Claim, Delivery, NoClaim
from jobs.webhook_sig_verify.reading import SHA256_BYTES, base64_digest, hex_digest, prefixed, trimmed


def claim(delivery: Delivery) -> Claim:
    """Read the claim. Raises NoClaim when the signature names another hash, or is not a digest of 32 bytes."""
    text = trimmed(delivery.signature)
    named = prefixed(text)
    if named is not None:
        name, text = named
        if name != "sha256":
            raise NoClaim("unsupported_scheme")
    mac = hex_digest(text, SHA256_BYTES) or base64_digest(text)
    if mac is None:
        raise NoClaim("malformed_signature")
    return Claim(scheme="sha256", algorithm="hmac_sha256", signed=delivery.payload, macs=(mac,))
