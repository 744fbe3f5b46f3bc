"""Reads the reply list of this process (shared/queue/replies.py) and completes futures by message id."""

import asyncio
import contextlib
import logging
import uuid
from collections import deque
from collections.abc import Awaitable, Callable

import msgspec

from api.redis_client import Redis, RedisLost, RedisRefused
from shared.layouts import REPLIES
from shared.queue.replies import UNREADABLE, Cost, Parts, read_reply

log = logging.getLogger(__name__)

READ_TIMEOUT_S = 1
READ_COUNT = 100
RECONNECT_DELAY_S = 0.1
PACE_S = 0.001
BATCH_SHARE = 16
"""One in BATCH_SHARE callers of batched pools whose replies have arrived, and at least one, is answered every PACE_S."""


NO_REPLY = b""
"""In place of an outcome, none of which is empty: the answer is in the ledger, or nowhere."""


class Unread(Exception):
    """The worker could not open the job, because it has another key."""


class ReplyReader:
    """Waits for the replies of one API process.

    Args:
        queue: a connection that nothing else uses, whose commands may take longer than READ_TIMEOUT_S.
    """

    def __init__(self, queue: Redis) -> None:
        self._queue = queue
        self._waiting: dict[str, asyncio.Future[bytes | Parts]] = {}
        self._batched: set[str] = set()
        self._batch: deque[tuple[asyncio.Future[bytes | Parts], bytes | Parts]] = deque()
        self._task: asyncio.Task[None] | None = None
        self.address = f"coinslot:replies:{uuid.uuid4().hex}"
        self.on_reconnect: Callable[[], Awaitable[None]] | None = None
        self.on_cost: Callable[[str, Cost], None] | None = None
        """Called with the id of each answered message, in time or late, and what the call cost."""

    def start(self) -> None:
        """Begin reading, on the running event loop."""
        self._task = asyncio.create_task(self._read(), name="reply-reader")

    async def stop(self) -> None:
        """Stop reading, and cancel the futures that still wait."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for future in self._waiting.values():
            future.cancel()

    def expect(self, message_id: str, *, batched: bool = False) -> asyncio.Future[bytes | Parts]:
        """A future of the sealed outcome or of its parts. It raises Unread when the worker has another key.

        Call it before the message is enqueued, and `forget` afterwards.

        Args:
            batched: the caller may be answered some milliseconds later when many replies arrive at once.
        """
        future: asyncio.Future[bytes | Parts] = asyncio.get_running_loop().create_future()
        self._waiting[message_id] = future
        if batched:
            self._batched.add(message_id)
        return future

    def forget(self, message_id: str) -> None:
        """Stop waiting for a reply. A late one is dropped: the ledger keeps the answer."""
        self._waiting.pop(message_id, None)
        self._batched.discard(message_id)

    async def _read(self) -> None:
        while True:
            try:
                popped = await self._queue.call("BLMPOP", READ_TIMEOUT_S, 1, self.address, "LEFT", "COUNT", READ_COUNT)
            except (RedisLost, RedisRefused) as error:
                log.warning("no replies can be read: %s", error)
                await self._reconnect()
                continue
            for raw in popped[1] if popped else ():
                self._deliver(raw)

    async def _reconnect(self) -> None:
        """Wait until Redis answers again."""
        while True:
            await asyncio.sleep(RECONNECT_DELAY_S)
            with contextlib.suppress(RedisLost, RedisRefused):
                await self._queue.call("PING")
                if self.on_reconnect is not None:
                    await self.on_reconnect()
                return

    def _deliver(self, raw: bytes) -> None:
        try:
            reply = read_reply(raw)
        except msgspec.DecodeError:
            log.exception("dropped a reply that cannot be read")
            return
        future = self._waiting.pop(reply.message_id, None)
        if why := REPLIES.wrong(reply.layout):
            log.error("a reply cannot be read: %s", why)
            if future is not None and not future.done():
                future.set_result(NO_REPLY)
            return
        if self.on_cost is not None:
            self.on_cost(reply.message_id, Cost(reply.taken_s, reply.waited_s, reply.is_whole))
        if future is None or future.done():
            return
        if reply.outcome == UNREADABLE:
            future.set_exception(Unread("the worker has another key"))
            return
        if reply.message_id not in self._batched:
            future.set_result(reply.outcome)
            return
        self._batch.append((future, reply.outcome))
        if len(self._batch) == 1:
            future.get_loop().call_soon(self._answer_some)

    def _answer_some(self) -> None:
        for _ in range(max(1, len(self._batch) // BATCH_SHARE)):
            future, outcome = self._batch.popleft()
            if not future.done():
                future.set_result(outcome)
        if self._batch:
            asyncio.get_running_loop().call_later(PACE_S, self._answer_some)
