"""The answer to a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from coinslot.errors import UnreadableAnswer
from coinslot.exchange import Reply
from coinslot.payment import SignedPayment
from coinslot.problem import request_id_of
from coinslot.receipt import receipt_of
from shared.money import Price
from shared.x402.wire import Offer, Settlement

if TYPE_CHECKING:
    from coinslot.payment_folder import SavedPayment


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with status 200.

    Attributes:
        body: the decoded JSON.
        raw: the body as it was sent. Its numbers are exact, while a fraction in `body` is a float.
        price: the amount paid, in whole units of the asset; None for a free call.
        offer: the offer that was paid; None for a free call.
        receipt: the settlement as the server reports it; None for a free call, or when the server sent none.
        request_id: the id for questions to the server's operator.
        saved: the payment's file, when the call was made with `keep`: remove it once the answer has been taken.
    """

    body: Any
    raw: bytes
    price: Price | None
    offer: Offer | None
    receipt: Settlement | None
    request_id: str
    saved: SavedPayment | None = None


def answer_of(reply: Reply, *, payment: SignedPayment | None, request_id: str) -> Answer:
    """Read an answer with status 200.

    Args:
        payment: the payment; None for a free call, whose receipt means nothing.
        request_id: the id that we sent, for a server that names none.

    Raises:
        UnreadableAnswer: the body is not JSON.
    """
    receipt = None if payment is None else receipt_of(reply)
    shown_id = request_id_of(reply) or request_id
    try:
        body = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise UnreadableAnswer(
            "the answer is not JSON",
            raw=reply.body,
            charged=payment is not None and (True if receipt is not None and receipt.success else "unknown"),
            payment=payment,
            status=reply.status,
            request_id=shown_id,
        ) from None
    return Answer(
        body=body,
        raw=reply.body,
        price=None if payment is None else payment.price,
        offer=None if payment is None else payment.offer,
        receipt=receipt,
        request_id=shown_id,
    )
