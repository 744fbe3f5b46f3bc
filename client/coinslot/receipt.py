"""The receipt that comes with a paid answer: a Settlement in base64, under either of its two header names."""

import base64
import binascii

import msgspec

from coinslot.exchange import Reply
from shared.x402.evm_channel import SCHEME as CHANNEL
from shared.x402.wire import Offer, Settlement

HEADERS = ("payment-response", "x-payment-response")


def receipt_of(reply: Reply) -> Settlement | None:
    """The settlement that the server reports; None when there is none, or it cannot be read."""
    for name in HEADERS:
        try:
            return msgspec.json.decode(base64.b64decode(reply.headers[name], validate=True), type=Settlement)
        except (KeyError, binascii.Error, ValueError, RecursionError, msgspec.MsgspecError):
            continue
    return None


def shows_charge(receipt: Settlement | None, offer: Offer) -> bool:
    """Whether the receipt says that the call was charged. That of a channel can be of its deposit alone."""
    if receipt is None or not receipt.success:
        return False
    return offer.scheme != CHANNEL or (receipt.extra or {}).get("chargedAmount", "0") != "0"


def transaction_of(receipt: Settlement | None, offer: Offer) -> str:
    """The transaction of a call, for a person. Calls out of a channel have none, and a deposit has one."""
    if receipt is None or offer.scheme != CHANNEL:
        return (receipt.transaction if receipt else "") or "unknown: no receipt came"
    return f"{receipt.transaction} (deposit)" if receipt.transaction else "none: paid out of a channel"
