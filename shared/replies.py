"""The reply channel: one list per API process, pushed to by workers and read by one blocking reader.

A reply list belongs to a process, so no call costs a subscription, and a reply to a process that is gone expires.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

import msgspec
import redis
import redis.asyncio
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

LIST_TTL_S = 60
_READ_TIMEOUT_S = 1
_READ_COUNT = 100
_RECONNECT_DELAY_S = 0.1


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """One answer. `outcome` is an encoded shared.outcome.Outcome."""

    message_id: str
    outcome: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Reply)


def send_reply(queue: redis.Redis, reply_to: str, reply: Reply) -> None:
    """Push from a worker, in one round trip. Raises redis.RedisError."""
    with queue.pipeline(transaction=False) as pipe:
        pipe.rpush(reply_to, _encoder.encode(reply))
        pipe.expire(reply_to, LIST_TTL_S)
        pipe.execute()


class ReplyReader:
    """Waits for the replies of one API process.

    Args:
        queue: a client without a socket timeout, because the reader blocks.
    """

    def __init__(self, queue: redis.asyncio.Redis) -> None:
        self._queue = queue
        self._waiting: dict[str, asyncio.Future[bytes]] = {}
        self._task: asyncio.Task[None] | None = None
        self.address = f"coinslot:replies:{uuid.uuid4().hex}"

    def start(self) -> None:
        """Begin reading, on the running event loop."""
        self._task = asyncio.create_task(self._read(), name="reply-reader")

    async def stop(self) -> None:
        """Stop reading. Whoever still waits is cancelled."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for future in self._waiting.values():
            future.cancel()

    def expect(self, message_id: str) -> asyncio.Future[bytes]:
        """A future of the encoded outcome. Ask before the message is enqueued, and `forget` it afterwards."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[message_id] = future
        return future

    def forget(self, message_id: str) -> None:
        """Nobody waits any more. A late reply is dropped: the ledger keeps the answer."""
        self._waiting.pop(message_id, None)

    async def _read(self) -> None:
        is_connected = True
        while True:
            try:
                popped: Any = await self._queue.blmpop(
                    _READ_TIMEOUT_S, 1, self.address, direction="LEFT", count=_READ_COUNT
                )
            except RedisError as error:
                if is_connected:
                    log.warning("the queue cannot be reached: %s", type(error).__name__)
                is_connected = False
                await asyncio.sleep(_RECONNECT_DELAY_S)
                continue
            is_connected = True
            for raw in popped[1] if popped else ():
                self._deliver(raw)

    def _deliver(self, raw: bytes) -> None:
        try:
            reply = _decoder.decode(raw)
        except msgspec.DecodeError:
            log.exception("dropped a reply that cannot be read")
            return
        future = self._waiting.pop(reply.message_id, None)
        if future is not None and not future.done():
            future.set_result(reply.outcome)
