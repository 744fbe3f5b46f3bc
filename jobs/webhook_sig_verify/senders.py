"""How each sender signs. A function reads the claim of a signature, or raises NoClaim. CDP's is in cdp.py."""

from jobs.webhook_sig_verify.claim import Claim, Delivery, NoClaim
from jobs.webhook_sig_verify.reading import (
    SHA1_BYTES,
    SHA256_BYTES,
    base64_digest,
    hex_digest,
    parts_of,
    prefixed,
    sole_digest,
    time_of,
    trimmed,
    without_digest,
)


def stripe(delivery: Delivery) -> Claim:
    """`Stripe-Signature: t=<time>,v1=<hex>[,v1=<hex>][,v0=<hex>]`, HMAC-SHA256 over `<time>.<payload>`.

    While a secret is being rolled, there is one v1 for each secret. Stripe adds v0 to test events; it authenticates nothing,
    and neither does any other version. https://docs.stripe.com/webhooks#verify-manually
    """
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


def github(delivery: Delivery) -> Claim:
    """`X-Hub-Signature-256: sha256=<hex>`, HMAC over the payload.

    GitHub still sends the older X-Hub-Signature, `sha1=<hex>`, too. It is accepted, and the answer says that it is weak.
    https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
    """
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


def vercel(delivery: Delivery) -> Claim:
    """`x-vercel-signature: <hex>`, HMAC-SHA1 over the payload, without a time. Vercel has no other scheme.

    https://vercel.com/docs/webhooks/webhooks-api#securing-webhooks
    """
    mac = sole_digest(trimmed(delivery.signature), SHA1_BYTES)
    return Claim(scheme="sha1", algorithm="hmac_sha1", signed=delivery.payload, macs=(mac,))


def slack(delivery: Delivery) -> Claim:
    """`X-Slack-Signature: v0=<hex>`, HMAC-SHA256 over `v0:<time>:<payload>`; the time is X-Slack-Request-Timestamp.

    https://docs.slack.dev/authentication/verifying-requests-from-slack
    """
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


def generic(delivery: Delivery) -> Claim:
    """Any sender that signs with HMAC-SHA256 over the payload: hex or base64 of the digest, alone or after `sha256=`."""
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
