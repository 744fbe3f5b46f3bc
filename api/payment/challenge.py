"""Builds the 402 answer once for each reason, with open places for the token, which is new in every answer."""

from typing import Any

import msgspec

from api.http import Answer
from api.payment.binding import TOKEN_CHARS
from api.payment.headers import encode_header
from api.payment.ledger_terms import Channel
from shared.endpoint import Flavour
from shared.x402.exact import SCHEME
from shared.x402.wire import Challenge, Resource

OPEN = "*" * TOKEN_CHARS
"""Marks the place of a token, and appears nowhere else."""


class ChallengeForm:
    """A challenge in the body and in every header of the flavour."""

    def __init__(self, challenge: Challenge, flavour: Flavour) -> None:
        self._whole = _parts(challenge)
        self._short = None if flavour is Flavour.NEWER else _parts(_shortened(challenge))
        self.has_token = len(self._whole) > 1
        self._blank = self._filled(OPEN.encode())

    def answer(self, token: str) -> Answer:
        """The response. Without a place for a token it is always the same."""
        return self._filled(token.encode()) if self.has_token else self._blank

    def _filled(self, token: bytes) -> Answer:
        body = token.join(self._whole)
        headers = [(b"content-type", b"application/json"), (b"payment-required", encode_header(body))]
        if self._short is not None:
            headers.append((b"www-authenticate", b"X402 " + encode_header(token.join(self._short))))
        return Answer(402, tuple(headers), body)


def channel_state(channel_id: bytes, channel: Channel) -> dict[str, Any]:
    """What a payer is told of a channel, as the keys of an offer's `extra`. The number to start from is the least that the next
    voucher has to be above, and the payer's own signature proves it."""
    state = {
        "channelId": "0x" + channel_id.hex(),
        "balance": str(channel.balance),
        "totalClaimed": str(channel.claimed),
        "withdrawRequestedAt": channel.withdraw_at // 1000,
        "refundNonce": str(channel.refund_nonce),
        "chargedCumulativeAmount": str(channel.floor),
    }
    if not channel.signature:  # the ledger was lost: the chain has the last word
        return {"channelState": state}
    signed = {"signedMaxClaimable": str(channel.top), "signature": "0x" + channel.signature}
    return {"channelState": state, "voucherState": signed}


def _shortened(challenge: Challenge) -> Challenge:
    """What clients of the older flavour need, in WWW-Authenticate: with all of it twice, some could not read the headers.

    They pay in X-PAYMENT, which carries no token, and know no channels. So they get the offers with neither, where there are
    such.
    """
    payable = tuple(offer for offer in challenge.accepts if offer.scheme == SCHEME and OPEN not in offer.extra.values())
    return msgspec.structs.replace(
        challenge,
        resource=Resource(url=challenge.resource.url),
        accepts=payable or challenge.accepts,
        extensions={},
    )


def _parts(challenge: Challenge) -> list[bytes]:
    return msgspec.json.encode(challenge).split(OPEN.encode())
