"""Vercel: `x-vercel-signature: <hex>`, HMAC-SHA1 over the payload, without a time. Vercel has no other scheme.

https://vercel.com/docs/webhooks/webhooks-api#securing-webhooks
"""

from __future__ import annotations

from jobs.webhook_sig_verify.claim import Claim, Delivery
from jobs.webhook_sig_verify.reading import SHA1_BYTES, sole_digest, trimmed


def claim(delivery: Delivery) -> Claim:
    """Read the claim. Raises NoClaim when the signature is not the hex of one SHA-1 digest."""
    mac = sole_digest(trimmed(delivery.signature), SHA1_BYTES)
    return Claim(scheme="sha1", algorithm="hmac_sha1", signed=delivery.payload, macs=(mac,))
