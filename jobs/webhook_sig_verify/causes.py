"""Says in one sentence why a signature is probably not valid.

A mismatch has few usual causes, and each can be tried: the payload with another end or other white space, or the secret in
another notation. The caller has sent the secret, so this shows it no more than it knows. Each try is one HMAC.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from urllib.parse import quote_plus

import msgspec

from jobs.webhook_sig_verify.claim import Claim, Delivery, Reason
from shared.raw_json import levels

_HEADERS: Mapping[str, str] = {
    "stripe": "Stripe-Signature",
    "github": "X-Hub-Signature-256",
    "vercel": "x-vercel-signature",
    "slack": "X-Slack-Signature",
    "cdp": "X-Hook0-Signature",
    "generic": "the sender's signature header",
}

_SECRETS: Mapping[str, str] = {
    "stripe": "the whsec_ secret of this endpoint and mode (the CLI has its own)",
    "github": "the secret that was entered for this webhook",
    "vercel": "the secret of this webhook, or of integrations the client secret",
    "slack": "the app's Signing Secret, which is no token",
    "cdp": "the secret that was shown when this subscription was made",
    "generic": "the sender's secret in the notation whose bytes it uses",
}

_FOREIGN = {"sk_": "a Stripe API key", "rk_": "a Stripe API key", "pk_": "a Stripe API key", "xox": "a Slack token"}

_MAX_FORMATTED = 64 * 1024
_MAX_LEVELS = 16
"""Indented JSON may be longer by two bytes for each level and value."""


def hint(provider: str, reason: Reason) -> str:
    """The sentence for a signature that was not compared, or was right."""
    if reason == "timestamp_out_of_tolerance":
        return (
            "The signature is right, but its time is not within the tolerance: the delivery is old or was repeated, or a clock "
            "is wrong; toleranceSeconds 0 accepts any time."
        )
    if reason == "missing_header":
        return "v1 covers headers of the delivery that are missing in `headers`: send all names that the part h lists."
    if reason == "unsupported_scheme":
        return f"The signature has a version or algorithm that {provider} does not use here."
    if provider == "generic":
        return (
            "The signature is no HMAC-SHA256: it must be 32 bytes in hex or base64, alone or after sha256=. Of a header with "
            "more parts send that one; other algorithms are not checked."
        )
    return (
        f"The signature is not in the notation of {provider}: send the whole value of {_HEADERS[provider]}, with all its "
        "parts and nothing else."
    )


def of_mismatch(provider: str, delivery: Delivery, claim: Claim, is_signed: Callable[[bytes, bytes], bool]) -> str:
    """The sentence for a signature that does not match.

    Args:
        is_signed: whether the signature is right for other signed bytes and another key.
    """
    head = claim.signed.removesuffix(delivery.payload)
    for sentence, payload in _payloads(provider, delivery.payload):
        if payload != delivery.payload and is_signed(head + payload, delivery.secret):
            return f"The signature is right for {sentence}: send the raw body, byte for byte as it was received."
    for sentence, secret in _secrets(delivery.secret):
        if secret and secret != delivery.secret and is_signed(claim.signed, secret):
            return f"The signature is right for {sentence}."
    for prefix, name in _FOREIGN.items():
        if delivery.secret.startswith(prefix.encode()):
            return f"The secret looks like {name}: send {_SECRETS[provider]}."
    return (
        "Usually the payload is not the raw body (a framework parsed it and wrote it again), or the secret is another one: "
        f"it must be {_SECRETS[provider]}."
    )


def _payloads(provider: str, payload: bytes) -> Iterator[tuple[str, bytes]]:
    yield "the payload without white space around it", payload.strip()
    yield "the payload with a line break at its end", payload + b"\n"
    yield "the payload with LF in place of CRLF", payload.replace(b"\r\n", b"\n")
    yield "the payload with CRLF in place of LF", payload.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    yield "the payload without a byte order mark", payload.removeprefix(b"\xef\xbb\xbf")
    if len(payload) > _MAX_FORMATTED:
        return
    if levels(payload) <= _MAX_LEVELS:
        with suppress(msgspec.DecodeError):
            yield "the payload as JSON without spaces", msgspec.json.format(payload, indent=-1)
            yield "the payload as JSON with an indent of two", msgspec.json.format(payload, indent=2)
    if provider == "github" and payload.startswith(b"{"):
        yield "the payload as a form, which this webhook's content type is", b"payload=" + quote_plus(payload).encode()


def _secrets(secret: bytes) -> Iterator[tuple[str, bytes]]:
    yield "the secret without white space around it", secret.strip()
    text = secret.strip().decode()
    decoders: dict[str, Callable[[str], bytes]] = {
        "hex": bytes.fromhex,
        "base64": partial(base64.b64decode, validate=True),
    }
    for name, decode in decoders.items():
        with suppress(ValueError):
            yield f"the bytes that the secret is the {name} of, but the key is the text's own bytes here", decode(text)
