"""Puts the job of a settled payment on its pool's queue and waits for the reply."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from api.backlog import Backlog, Work
from api.call_log import CallLog
from api.causes import Cause
from api.deadlines import Deadlines
from api.pools import PoolRefusal, Pools
from api.redis_client import Redis, RedisLost, RedisRefused
from api.replies import NO_REPLY, ReplyReader
from shared.endpoint import Endpoint
from shared.failpoints import reach
from shared.pools import POOLS, Pool
from shared.process.scheduling import BatchScheduling
from shared.queue.message import Arguments, new_job
from shared.queue.replies import Cost, Parts
from shared.queue.streams import FIELD, stream_key
from shared.sealing.sealing import Sealer

QUEUE_PATIENCE_S = 3.0
"""How long a paid call tries to reach a queue that restarts."""
RETRY_S = 0.1
BUSY_CALLERS = 24
"""With so many callers of the micro pool waiting at once, they wait for each other more than for anything else."""
SAMPLE_S = 0.2


class ReplyTimeout(Exception):
    """The deadline passed without an answer. The job may still finish and leave its answer in the ledger."""


@dataclass(slots=True, eq=False)
class _Sent:
    """A job that was sent, with what is needed to send it again.

    The Redis client reports to it that the job was added (Awaiting), api/deadlines.py that its deadline passed (Waiting).
    """

    endpoint: Endpoint
    size: int
    encoded: bytes
    reply: asyncio.Future[bytes | Parts]
    send_with_retries: "Callable[[_Sent], None]"
    entry_id: bytes = b""

    def done(self) -> bool:
        return self.reply.done()

    def set_result(self, entry_id: bytes) -> None:
        self.entry_id = entry_id
        reach("enqueued")

    def set_exception(self, error: RedisLost | RedisRefused) -> None:
        if isinstance(error, RedisLost):
            # The job may have been added: then it runs twice, and its first result wins.
            self.send_with_retries(self)
        elif not self.reply.done():
            self.reply.set_exception(error)

    def expire(self) -> None:
        if not self.reply.done():
            self.reply.set_result(NO_REPLY)


class Slot:
    """One call's place among those that wait for a pool, given back when the context is left.

    Attributes:
        refusal: why the pool takes no new call; None when this call has the slot. Nothing new may be charged without it.
    """

    __slots__ = ("_dispatcher", "_endpoint", "_work", "refusal")

    def __init__(self, dispatcher: "Dispatcher", endpoint: Endpoint, work: Work | None) -> None:
        self._dispatcher = dispatcher
        self._endpoint = endpoint
        self._work = work
        self.refusal: PoolRefusal | None = None

    async def __aenter__(self) -> "Slot":
        self.refusal = await self._dispatcher.take(self._endpoint, self._work)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.refusal is None:
            self._dispatcher.give_back(self._endpoint, self._work)


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
        self._taken: Counter[str] = Counter()
        self._sent: dict[str, _Sent] = {}
        self._deadlines = Deadlines()
        self._sending: set[asyncio.Task[None]] = set()
        self._batch_scheduling = BatchScheduling(many=BUSY_CALLERS, few=BUSY_CALLERS // 3)
        self._peak = 0
        self._sample_timer: asyncio.TimerHandle | None = None
        self._backlog = Backlog()
        replies.on_reconnect = self._send_lost_again
        replies.on_cost = self._learn

    def start(self) -> None:
        """Begin to sample how many callers wait at once, on the running event loop."""
        self._batch_scheduling.adjust(self._peak)
        self._peak = self._taken[Pool.MICRO]
        self._sample_timer = asyncio.get_running_loop().call_later(SAMPLE_S, self.start)

    def stop(self) -> None:
        """Stop sampling."""
        if self._sample_timer is not None:
            self._sample_timer.cancel()

    def slot(self, endpoint: Endpoint, payer: str, size: int) -> Slot:
        """A place among the calls that wait for the endpoint's pool: `async with dispatcher.slot(...) as slot`.

        A call takes it before its payment is claimed, and holds it until it is answered.

        Args:
            size: of its body, in bytes.
        """
        return Slot(self, endpoint, self._backlog.work(endpoint, size, payer) if endpoint.calculates else None)

    async def take(self, endpoint: Endpoint, work: Work | None = None) -> PoolRefusal | None:
        """Count one more call of the endpoint's pool. Returns why the pool takes none, and then counts nothing.

        Args:
            work: of a call that calculates.
        """
        pool = endpoint.pool
        if self._refusal(endpoint, work):
            await self._pools.look_again()
        # Nothing is awaited between this look and the count: a burst must not share one slot.
        refusal = self._refusal(endpoint, work)
        if refusal is None:
            self._taken[pool] += 1
            self._peak = max(self._peak, self._taken[Pool.MICRO])
            if work is not None:
                self._backlog.add(work)
        return refusal

    def give_back(self, endpoint: Endpoint, work: Work | None = None) -> None:
        """Count one call less: it is answered."""
        self._taken[endpoint.pool] -= 1
        if work is not None:
            self._backlog.remove(work)

    def _refusal(self, endpoint: Endpoint, work: Work | None) -> PoolRefusal | None:
        taken = self._taken[endpoint.pool]
        refusal = self._pools.refusal(endpoint, taken)
        if refusal is None and work is not None:
            scale = self._pools.scale(endpoint.pool, taken)
            if retry_after_s := self._backlog.retry_after_s(work, scale=scale):
                return PoolRefusal(Cause.POOL_SLOW, retry_after_s=retry_after_s)
        return refusal

    def _learn(self, job_id: str, cost: Cost) -> None:
        sent = self._sent.get(job_id)
        if sent is not None and sent.endpoint.calculates and cost.is_whole:
            self._backlog.learn(sent.endpoint, sent.size, cost.taken_s - cost.waited_s)
        self._backlog.measured(cost)

    async def run(self, endpoint: Endpoint, arguments: Arguments, call_log: CallLog | None = None) -> bytes:
        """Run one call on its pool. Returns a sealed Outcome (shared/sealing/answers.py).

        Args:
            call_log: gets the job's id.

        Raises:
            ReplyTimeout: the endpoint's deadline passed.
            Unread: the workers have another key.
            RedisLost, RedisRefused: the job could not be queued, as far as is known.
        """
        job = new_job(
            endpoint,
            arguments,
            reply_to=self._replies.address,
            deadline_ms=int((self._pools.clock.now_s() + endpoint.deadline_s) * 1000),
            sealer=self._sealer,
        )
        if call_log is not None:
            call_log.job_id = job.id
        reply = self._replies.expect(job.id, batched=POOLS[endpoint.pool].is_batched)
        sent = _Sent(endpoint, len(arguments.body), job.encoded, reply, self._send_with_retries)
        self._sent[job.id] = sent
        self._deadlines.watch(sent, endpoint.deadline_s)
        try:
            self._send(sent)
            if answer := await reply:
                return answer if isinstance(answer, bytes) else await self._joined(answer)
        finally:
            del self._sent[job.id]
            self._replies.forget(job.id)
        raise ReplyTimeout

    async def _joined(self, parts: Parts) -> bytes:
        taken: list[bytes] = []
        for number in range(parts.count):
            part = await self._queue.call("LPOP", parts.list_of(number))
            if part is None:  # lost with the queue
                raise ReplyTimeout
            taken.append(part)
        return b"".join(taken)

    def _send(self, sent: _Sent) -> None:
        """Enqueue without waiting for Redis: the reply confirms it, and one pass of the event loop is saved."""
        if not self._queue.post(sent, *_addition(sent)):
            self._send_with_retries(sent)

    def _send_with_retries(self, sent: _Sent) -> None:
        task = asyncio.create_task(self._send_again(sent))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send_again(self, sent: _Sent) -> None:
        give_up_at = time.monotonic() + QUEUE_PATIENCE_S
        while not sent.done():
            try:
                sent.set_result(await self._queue.call(*_addition(sent)))
                return
            except (RedisLost, RedisRefused) as error:
                if isinstance(error, RedisRefused) or time.monotonic() >= give_up_at:
                    if not sent.reply.done():
                        sent.reply.set_exception(error)
                    return
            await asyncio.sleep(RETRY_S)

    async def _send_lost_again(self) -> None:
        """Send again what is no longer in its stream after the connection to the queue was lost.

        Redis lost the job or its reply. A second run gives the answer that the ledger may already have.
        """
        for sent in [sent for sent in self._sent.values() if sent.entry_id]:
            stream = stream_key(sent.endpoint.pool)
            if not await self._queue.call("XRANGE", stream, sent.entry_id, sent.entry_id):
                self._send(sent)


def _addition(sent: _Sent) -> tuple[str | bytes, ...]:
    return ("XADD", stream_key(sent.endpoint.pool), "*", FIELD, sent.encoded)
