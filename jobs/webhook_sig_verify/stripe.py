"""Stripe: `Stripe-Signature: t=<time>,v1=<hex>[,v1=<hex>][,v0=<hex>]`, HMAC-SHA256 over `<time>.<payload>`.

While a secret is being rolled, there is one v1 for each secret. Stripe adds v0 to test events; it authenticates nothing, and
neither does any other version. https://docs.stripe.com/webhooks#verify-manually
"""

from __future__ import annotations

from jobs.webhook_sig_verify.claim import Claim, Delivery, NoClaim
from jobs.webhook_sig_verify.reading import SHA256_BYTES, hex_digest, parts_of, time_of, without_digest


def claim(delivery: Delivery) -> Claim:
    """Read the claim. Raises NoClaim when the signature has no time, or no v1 that is a digest."""
    parts = parts_of(delivery.signature)
    written, signed_at = time_of(parts)
    candidates = [value for name, value in parts if name == "v1"]
    if not candidates:
        raise without_digest(parts)
    macs = tuple(mac for value in candidates if (mac := hex_digest(value, SHA256_BYTES)) is not None)
    if not macs:
        raise NoClaim("malformed_signature")
    return Claim(
        scheme="v1",
        algorithm="hmac_sha256",
        signed=written.encode() + b"." + delivery.payload,
        macs=macs,
        signed_at=signed_at,
    )
