"""GitHub: `X-Hub-Signature-256: sha256=<hex>`, HMAC over the payload.

GitHub still sends the older X-Hub-Signature, `sha1=<hex>`, too. It is accepted, and the answer says that it is weak.
https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
"""

from __future__ import annotations

from jobs.webhook_sig_verify.claim import Claim, Delivery, NoClaim
from jobs.webhook_sig_verify.reading import SHA1_BYTES, SHA256_BYTES, prefixed, sole_digest, trimmed


def claim(delivery: Delivery) -> Claim:
    """Read the claim. Raises NoClaim when the signature names another hash or none, or the rest is not its digest."""
    named = prefixed(trimmed(delivery.signature))
    if named is None:
        raise NoClaim("malformed_signature")
    name, text = named
    if name == "sha256":
        mac = sole_digest(text, SHA256_BYTES)
        return Claim(scheme="sha256", algorithm="hmac_sha256", signed=delivery.payload, macs=(mac,))
    if name == "sha1":
        mac = sole_digest(text, SHA1_BYTES)
        return Claim(scheme="sha1", algorithm="hmac_sha1", signed=delivery.payload, macs=(mac,), is_weak=True)
    raise NoClaim("unsupported_scheme")
