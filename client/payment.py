"""A signed payment and the request that it belongs to. Sending it twice charges once; signing anew charges twice."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shared.money import Price
from shared.x402.wire import X402_VERSION, Offer, Payment

HEADER = "PAYMENT-SIGNATURE"
# Servers cap the header, ours at 16 KB. The echoed extensions are a courtesy to indexers, and all that can be long.
MAX_HEADER_CHARS = 12_000


@dataclass(frozen=True, slots=True)
class SignedPayment:
    """What to send, again and again if need be, until an answer comes.

    Attributes:
        url: where the call is POSTed.
        body: the exact bytes of the request, None for no body.
        header: value of PAYMENT-SIGNATURE. Whoever has it can collect the answer, so it is not shown.
        price: what `offer` asks, in whole units of the asset.
        asset: the asset's symbol, for people.
    """

    url: str
    body: bytes | None = field(repr=False)
    header: str = field(repr=False)
    offer: Offer
    price: Price
    asset: str


def encode(offer: Offer, payload: dict[str, Any], *, resource: dict[str, Any], extensions: dict[str, Any]) -> str:
    """The header's value: base64 of the specification's PaymentPayload.

    Args:
        offer: the accepted offer, as the challenge had it.
        payload: what the rail's signer made.
        resource, extensions: of the challenge, echoed.
    """
    payment = Payment(
        x402_version=X402_VERSION, accepted=offer, payload=payload, resource=resource, extensions=extensions or None
    )
    header = _base64(payment)
    if len(header) > MAX_HEADER_CHARS:
        header = _base64(msgspec.structs.replace(payment, extensions=None))
    return header


def decode(header: str) -> Payment:
    """What a header says. Raises ValueError when it is not a payment."""
    try:
        return msgspec.json.decode(base64.b64decode(header, validate=True), type=Payment)
    except (binascii.Error, msgspec.MsgspecError, UnicodeError, RecursionError):
        raise ValueError("not a payment header") from None


def _base64(payment: Payment) -> str:
    return base64.b64encode(msgspec.json.encode(payment)).decode("ascii")
