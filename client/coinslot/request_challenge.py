"""Sends the unpaid request, which returns the price, or the answer of a free call."""

from __future__ import annotations

import time

from coinslot import challenge
from coinslot.answer import Answer, answer_of
from coinslot.challenge import Quote
from coinslot.errors import Unreachable
from coinslot.exchange import ConnectionLost, Exchange
from coinslot.problem import failure


async def request_challenge(exchange: Exchange, url: str, body: bytes | None, *, request_id: str) -> Quote | Answer:
    """POST without a payment. The challenge is decoded; `url` and the price limit are checked later.

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
        return challenge.read(reply)
    if reply.status == 200:
        return answer_of(reply, payment=None, request_id=request_id)
    raise failure(reply, url=url, request_id=request_id, payment=None, now=time.time())
