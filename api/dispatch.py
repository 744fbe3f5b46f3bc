"""From a settled payment to an outcome: put the job on its pool's queue, wait for the reply."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Iterator

from api.replies import ReplyReader
from api.resp import Redis
from shared.endpoint import Endpoint, Pool
from shared.message import Arguments, new_message
from shared.sealing import Sealer
from shared.streams import FIELD, stream_key

log = logging.getLogger(__name__)

# Calls of one API process that may wait for a pool at once. A full pool refuses before it charges.
ROOM: dict[Pool, int] = {
    Pool.FAST: 1000,
    Pool.NET: 200,
    Pool.CHAIN: 200,
    Pool.RENDER: 8,
    Pool.WHOIS: 64,
    Pool.YOUTUBE: 32,
}


class Late(Exception):
    """The deadline passed without an answer. The job may still finish and leave its answer in the ledger."""


class Dispatcher:
    """Enqueues jobs and awaits their replies.

    Args:
        queue: the queue Redis, for short commands.
        replies: this process's reply reader.
    """

    def __init__(self, queue: Redis, replies: ReplyReader, sealer: Sealer) -> None:
        self._queue = queue
        self._replies = replies
        self._sealer = sealer
        self._taken: Counter[Pool] = Counter()

    @contextlib.contextmanager
    def seat(self, pool: Pool) -> Iterator[bool]:
        """A place among the calls that wait for a pool, from before the payment is claimed until the call is answered.

        Gives False when there is none: then nothing new may be charged.
        """
        if self._taken[pool] >= ROOM[pool]:
            yield False
            return
        self._taken[pool] += 1
        try:
            yield True
        finally:
            self._taken[pool] -= 1

    async def run(self, endpoint: Endpoint, arguments: Arguments) -> bytes:
        """Run one call on its pool. Returns an encoded shared.outcome.Outcome.

        Raises:
            Late: after the endpoint's deadline.
            RedisLost, RedisRefused: the job could not be queued, as far as is known.
        """
        message = new_message(
            endpoint,
            arguments,
            reply_to=self._replies.address,
            deadline_ms=int((time.time() + endpoint.deadline_s) * 1000),
            sealer=self._sealer,
        )
        reply = self._replies.expect(message.message_id)
        try:
            async with asyncio.timeout(endpoint.deadline_s):
                await self._queue.call("XADD", stream_key(endpoint.pool), "*", FIELD, message.encode())
                return await reply
        except TimeoutError:
            log.warning("late: endpoint=%s job=%s", endpoint.name, message.message_id)
            raise Late from None
        finally:
            self._replies.forget(message.message_id)
