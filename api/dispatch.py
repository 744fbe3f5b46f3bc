"""From a settled payment to an outcome: put the job on its pool's queue, wait for the reply."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial

from api.pools import Pools
from api.replies import ReplyReader
from api.resp import Redis, RedisLost, RedisRefused
from shared.endpoint import UNHURRIED, Endpoint, Pool
from shared.failpoints import reach
from shared.message import Arguments, new_job
from shared.sealing import Sealer
from shared.streams import FIELD, stream_key

log = logging.getLogger(__name__)

PATIENCE_S = 3.0
"""How long a paid call tries to reach a queue that is being restarted."""
RETRY_S = 0.1


class Late(Exception):
    """The deadline passed without an answer. The job may still finish and leave its answer in the ledger."""


@dataclass(slots=True)
class _Sent:
    """A job on its way: what is needed to send it again."""

    stream: str
    encoded: bytes
    entry_id: bytes = b""


class Dispatcher:
    """Enqueues jobs and awaits their replies.

    Args:
        queue: the queue Redis, for short commands.
        replies: this process's reply reader.
    """

    def __init__(self, queue: Redis, replies: ReplyReader, pools: Pools, sealer: Sealer) -> None:
        self._queue = queue
        self._replies = replies
        self._pools = pools
        self._sealer = sealer
        self._taken: Counter[Pool] = Counter()
        self._sent: dict[str, tuple[_Sent, asyncio.Future[bytes]]] = {}
        self._sending: set[asyncio.Task[None]] = set()
        replies.on_reconnect = self._send_lost_again

    async def take_seat(self, endpoint: Endpoint) -> str | None:
        """A place among the calls that wait for the endpoint's pool, from before the payment is claimed until the call is
        answered.

        Gives None, and then `leave_seat` is owed; or why there is no place, as a code of the failure table: then nothing new
        may be charged.
        """
        pool = endpoint.pool
        if self._pools.refusal(endpoint, self._taken[pool]):
            await self._pools.look_again()
        # Nothing is awaited between the judgement and the taking: a burst must not share one place.
        refusal = self._pools.refusal(endpoint, self._taken[pool])
        if refusal is None:
            self._taken[pool] += 1
        return refusal

    def leave_seat(self, endpoint: Endpoint) -> None:
        """The call is answered."""
        self._taken[endpoint.pool] -= 1

    async def run(self, endpoint: Endpoint, arguments: Arguments) -> bytes:
        """Run one call on its pool. Returns a sealed Outcome (shared/answers.py).

        Raises:
            Late: after the endpoint's deadline.
            Unread: the workers have another key.
            RedisLost, RedisRefused: the job could not be queued, as far as is known.
        """
        job = new_job(
            endpoint,
            arguments,
            reply_to=self._replies.address,
            deadline_ms=int((time.time() + endpoint.deadline_s) * 1000),
            sealer=self._sealer,
        )
        reply = self._replies.expect(job.id, unhurried=endpoint.pool in UNHURRIED)
        sent = _Sent(stream_key(endpoint.pool), job.encoded)
        self._sent[job.id] = sent, reply
        # A timer costs a third of asyncio.timeout.
        timer = reply.get_loop().call_later(endpoint.deadline_s, _expire, reply)
        try:
            self._send(sent, reply)
            if answer := await reply:
                return answer
        finally:
            timer.cancel()
            del self._sent[job.id]
            self._replies.forget(job.id)
        log.warning("late: endpoint=%s job=%s", endpoint.name, job.id)
        raise Late

    def _send(self, sent: _Sent, reply: asyncio.Future[bytes]) -> None:
        """Enqueue without waiting for it: the reply says enough, and a turn of the event loop is saved."""
        posted = self._queue.post(*_addition(sent))
        if posted is None:
            self._send_patiently(sent, reply)
        else:
            posted.add_done_callback(partial(self._posted, sent, reply))

    def _posted(self, sent: _Sent, reply: asyncio.Future[bytes], posted: asyncio.Future[bytes]) -> None:
        error = posted.exception()
        if error is None:
            sent.entry_id = posted.result()
            reach("enqueued")
        elif isinstance(error, RedisLost):
            # It may have been added all the same. Then it runs twice, and its first result wins.
            self._send_patiently(sent, reply)
        elif not reply.done():
            reply.set_exception(error)

    def _send_patiently(self, sent: _Sent, reply: asyncio.Future[bytes]) -> None:
        task = asyncio.create_task(self._send_again(sent, reply))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send_again(self, sent: _Sent, reply: asyncio.Future[bytes]) -> None:
        give_up_at = time.monotonic() + PATIENCE_S
        while not reply.done():
            try:
                sent.entry_id = await self._queue.call(*_addition(sent))
                reach("enqueued")
                return
            except (RedisLost, RedisRefused) as error:
                if isinstance(error, RedisRefused) or time.monotonic() >= give_up_at:
                    if not reply.done():
                        reply.set_exception(error)
                    return
            await asyncio.sleep(RETRY_S)

    async def _send_lost_again(self) -> None:
        """The connection to the queue was lost, and is there again: what is not in its stream any more was either lost with
        Redis, or its reply was. Running it again gives the answer that the ledger may have already."""
        for sent, reply in [(sent, reply) for sent, reply in self._sent.values() if sent.entry_id]:
            if not await self._queue.call("XRANGE", sent.stream, sent.entry_id, sent.entry_id):
                self._send(sent, reply)


def _addition(sent: _Sent) -> tuple[str | bytes, ...]:
    return ("XADD", sent.stream, "*", FIELD, sent.encoded)


def _expire(reply: asyncio.Future[bytes]) -> None:
    if not reply.done():
        reply.set_result(b"")  # no outcome is empty
