"""Slack: `X-Slack-Signature: v0=<hex>`, HMAC-SHA256 over `v0:<time>:<payload>`; the time is X-Slack-Request-Timestamp.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

from jobs.webhook_sig_verify.claim import Claim, Delivery, NoClaim
from jobs.webhook_sig_verify.reading import SHA256_BYTES, prefixed, sole_digest, trimmed


def claim(delivery: Delivery) -> Claim:
    """Read the claim. Raises NoClaim when the signature has no version or another one, or the rest is not a digest."""
    assert delivery.timestamp is not None  # the request requires one for slack
    named = prefixed(trimmed(delivery.signature))
    if named is None:
        raise NoClaim("malformed_signature")
    version, text = named
    if version != "v0":
        raise NoClaim("unsupported_scheme")
    return Claim(
        scheme="v0",
        algorithm="hmac_sha256",
        signed=b"v0:" + delivery.timestamp.encode() + b":" + delivery.payload,
        macs=(sole_digest(text, SHA256_BYTES),),
        signed_at=int(delivery.timestamp),
    )
