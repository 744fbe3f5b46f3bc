"""Requests the price. Reads the 402: its offers, whether header and body agree, and whether it is for the URL."""

import base64
import binascii
import time
from dataclasses import dataclass
from typing import Any

import msgspec

from coinslot.address import same_resource
from coinslot.answer import Answer, answer_of
from coinslot.errors import ChallengeRefused, Unreachable
from coinslot.exchange import ConnectionLost, Exchange, Reply
from coinslot.problem import failure
from shared.x402.wire import X402_VERSION, Challenge

HEADER = "payment-required"
MAX_BYTES = 64 * 1024
MAX_OFFERS = 64


@dataclass(frozen=True, slots=True)
class Quote:
    """A challenge, decoded and as sent: a payment repeats its `resource` and `extensions` unchanged."""

    challenge: Challenge
    document: dict[str, Any]

    def check_resource(self, url: str) -> None:
        """Raises ChallengeRefused unless the challenge is for `url`: same origin, same path, no query.

        A server in between could otherwise make us pay for a call of another server.
        """
        claimed = self.challenge.resource.url
        if not same_resource(claimed, url):
            raise ChallengeRefused(
                f"the challenge is for {claimed[:200]}, not for {url}",
                hint="Call the server by the address that it names in its challenges (--url).",
            )


async def request_challenge(exchange: Exchange, url: str, body: bytes | None, *, request_id: str) -> Quote | Answer:
    """POST without a payment, which returns the price, or the answer of a free call.

    The challenge is decoded; `url` and the price limit are checked later.

    Raises:
        ChallengeRefused: the 402 cannot be decoded.
        UnreadableAnswer: the call is free, and its answer is not JSON.
        CallFailed: any other status. Nothing was charged.
        Unreachable: the server did not answer.
    """
    try:
        reply = await exchange.send("POST", url, body, {"x-request-id": request_id})
    except ConnectionLost as lost:
        raise Unreachable(f"{url}: {lost}") from None
    if reply.status == 402:
        return read(reply)
    if reply.status == 200:
        return answer_of(reply, payment=None, request_id=request_id)
    raise failure(reply, url=url, request_id=request_id, payment=None, now=time.time())


def read(reply: Reply) -> Quote:
    """The challenge of a 402: the PAYMENT-REQUIRED header, the body, or both when they are equal.

    Raises:
        ChallengeRefused: it is missing, malformed, too large, or header and body differ.
    """
    header, body = reply.headers.get(HEADER), reply.body.strip()
    # The official SDK's server sends the body `{}` with the header. That is not a challenge.
    from_body = None if body in (b"", b"{}") else _document(body, "body")
    from_header = None if header is None else _document(_unpack(header), "PAYMENT-REQUIRED header")
    if from_header is not None and from_body is not None and _canonical(from_header) != _canonical(from_body):
        raise ChallengeRefused(
            "the 402's PAYMENT-REQUIRED header and body ask for different things", status=reply.status
        )
    document = from_header or from_body
    if document is None:
        raise ChallengeRefused("the 402 carries no challenge", status=reply.status)
    try:
        challenge = msgspec.convert(document, Challenge)
    except msgspec.ValidationError as error:
        raise ChallengeRefused(f"the 402's challenge is malformed: {error}") from None
    if challenge.x402_version != X402_VERSION:
        raise ChallengeRefused(f"the 402's challenge is x402 version {challenge.x402_version}, not {X402_VERSION}")
    if len(challenge.accepts) > MAX_OFFERS:
        raise ChallengeRefused(f"the 402's challenge has more than {MAX_OFFERS} offers")
    return Quote(challenge, document)


def of(reply: Reply) -> Challenge | None:
    """The challenge of a 402, when it can be read."""
    try:
        return read(reply).challenge if reply.status == 402 else None
    except ChallengeRefused:
        return None


def _unpack(header: str) -> bytes:
    try:
        return base64.b64decode(header, validate=True)
    except (binascii.Error, ValueError):
        raise ChallengeRefused("the 402's PAYMENT-REQUIRED header is not base64") from None


def _document(content: bytes, where: str) -> dict[str, Any]:
    if len(content) > MAX_BYTES:
        raise ChallengeRefused(f"the 402's {where} is larger than {MAX_BYTES} bytes")
    try:
        document = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ChallengeRefused(f"the 402's {where} is not JSON") from None
    if not isinstance(document, dict):
        raise ChallengeRefused(f"the 402's {where} is not a JSON object")
    return document


def _canonical(document: dict[str, Any]) -> bytes:
    """A text that is equal for equal JSON. A comparison of the objects would call 1, 1.0 and true equal."""
    return msgspec.json.encode(document, order="sorted")
