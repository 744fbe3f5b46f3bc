"""The reply channel: one list per API process, pushed to by workers and read by one blocking reader (api/replies.py).

A reply list belongs to a process, so no call costs a subscription, and a reply to a process that is gone expires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import redis  # the API never imports it: redis-py costs 0.1 s of its start

LIST_TTL_S = 60


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """One answer. `outcome` is an encoded shared.outcome.Outcome."""

    message_id: str
    outcome: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Reply)


def read_reply(raw: bytes) -> Reply:
    """Raises msgspec.DecodeError when `raw` is not a reply."""
    return _decoder.decode(raw)


def send_reply(queue: redis.Redis, reply_to: str, reply: Reply) -> None:
    """Push from a worker, in one round trip. Raises redis.RedisError."""
    with queue.pipeline(transaction=False) as pipe:
        pipe.rpush(reply_to, _encoder.encode(reply))
        pipe.expire(reply_to, LIST_TTL_S)
        pipe.execute()
