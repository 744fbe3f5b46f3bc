"""The receipt that comes with a paid answer: a Settlement in base64, under either of its two header names."""

from __future__ import annotations

import base64
import binascii

import msgspec

from coinslot.exchange import Reply
from shared.x402.wire import Settlement

HEADERS = ("payment-response", "x-payment-response")


def receipt_of(reply: Reply) -> Settlement | None:
    """The settlement that the server reports; None when there is none, or it cannot be read."""
    for name in HEADERS:
        try:
            return msgspec.json.decode(base64.b64decode(reply.headers[name], validate=True), type=Settlement)
        except (KeyError, binascii.Error, ValueError, RecursionError, msgspec.MsgspecError):
            continue
    return None
