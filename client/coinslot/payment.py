"""A signed payment and the request that it belongs to. Sending it twice charges once; signing anew charges twice."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shared.money import Price
from shared.x402.wire import X402_VERSION, Offer, Payment

HEADER = "PAYMENT-SIGNATURE"
# Servers limit the header, ours to 16 KB. Only the repeated extensions can be long, and only indexers need them.
MAX_HEADER_CHARS = 12_000


@dataclass(frozen=True, slots=True)
class SignedPayment:
    """A payment and its request, which may be sent any number of times.

    Attributes:
        url: where the call is POSTed.
        body: the exact bytes of the request, None for no body.
        header: value of PAYMENT-SIGNATURE. Everyone who has it can fetch the answer, so it is not shown.
        price: of `offer`, in whole units of the asset.
        asset: the asset's symbol, for people.
        payer: the account that pays; empty when it is not known.
        signed_at: Unix seconds; 0 when it is not known.
    """

    url: str
    body: bytes | None = field(repr=False)
    header: str = field(repr=False)
    offer: Offer
    price: Price
    asset: str
    payer: str = ""
    signed_at: int = 0


def encode(offer: Offer, payload: dict[str, Any], *, resource: dict[str, Any], extensions: dict[str, Any]) -> str:
    """The header's value: base64 of the specification's PaymentPayload.

    Args:
        offer: the accepted offer, unchanged.
        payload: from the rail's signer.
        resource, extensions: from the challenge, unchanged.
    """
    payment = Payment(
        x402_version=X402_VERSION, accepted=offer, payload=payload, resource=resource, extensions=extensions or None
    )
    header = _base64(payment)
    if len(header) > MAX_HEADER_CHARS:
        header = _base64(msgspec.structs.replace(payment, extensions=None))
    return header


def decode(header: str) -> Payment:
    """The payment in a header. Raises ValueError when it is not a payment."""
    try:
        return msgspec.json.decode(base64.b64decode(header, validate=True), type=Payment)
    except (binascii.Error, msgspec.MsgspecError, UnicodeError, RecursionError):
        raise ValueError("not a payment header") from None


def _base64(payment: Payment) -> str:
    return base64.b64encode(msgspec.json.encode(payment)).decode("ascii")
