"""The state of each pool, read from the queue Redis a few times a second, so that a pool that cannot answer charges nothing."""

import asyncio
import logging
import time
from dataclasses import dataclass

from api.causes import Cause
from api.redis_client import Redis, RedisLost, RedisRefused
from shared.endpoint import Endpoint
from shared.pools import POOLS, Pool
from shared.queue.pool_states import SCRIPT, PoolState, arguments, pool_states, server_time_s
from shared.queue.queue_clock import QueueClock
from shared.queue.streams import POOL_NAMES

log = logging.getLogger(__name__)

WATCH_S = 0.25
FRESH_S = 0.02
"""A state this young is not read again before a refusal."""
STALE_S = 2.0
"""A state older than that says nothing: the queue does not answer."""
LONGEST_WAIT = 0.6
"""Part of an endpoint's deadline. When the oldest message of its pool has waited that long, a new one would be late."""


@dataclass(frozen=True, slots=True)
class PoolRefusal:
    """Why a pool takes no new call. Nothing new is charged then.

    Attributes:
        reason: the port's own code of cause PORT_UNAVAILABLE, such as `no_browser`.
        retry_after_s: where it depends on what is in the pool.
    """

    cause: Cause
    reason: str | None = None
    retry_after_s: int | None = None


class Pools:
    """Watches the pools.

    Args:
        queue: the queue Redis.

    Attributes:
        clock: of the queue, measured with every read.
    """

    def __init__(self, queue: Redis) -> None:
        self.clock = QueueClock()
        self._queue = queue
        self._names = tuple(POOLS)
        self._states: dict[str, PoolState] = {}
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin watching, on the running event loop."""
        self._watching = asyncio.create_task(self._watch(), name="pool-watch")

    async def stop(self) -> None:
        """Stop watching."""
        tasks = [task for task in (self._watching, self._reading) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def states(self) -> dict[str, PoolState]:
        """The state of every pool now. Empty when the queue does not answer."""
        await self._refresh()
        return self._states

    def refusal(self, endpoint: Endpoint, taken: int) -> PoolRefusal | None:
        """Why this endpoint's pool takes no new call; None when it takes one.

        Args:
            taken: calls of this process that are on their way to the pool or in it.
        """
        state = self._states.get(endpoint.pool)
        if state is None or time.monotonic() - self._read_at > STALE_S:
            return PoolRefusal(Cause.QUEUE_UNREADABLE)
        if not state.workers:
            return PoolRefusal(Cause.NO_WORKER)
        if not state.available:
            return PoolRefusal(Cause.PORT_UNAVAILABLE, state.reason)
        if state.closed_ms:
            return PoolRefusal(Cause.UPSTREAM_CLOSED)
        if max(taken, state.depth) >= POOLS[endpoint.pool].room * state.available:
            return PoolRefusal(Cause.POOL_FULL)
        if state.waited_ms > endpoint.deadline_s * 1000 * LONGEST_WAIT:
            return PoolRefusal(Cause.POOL_SLOW)
        return None

    def scale(self, pool: str, taken: int) -> float:
        """The calls in a pool in proportion to the `taken` ones of this process, for each worker."""
        state = self._states[pool]
        return max(1.0, state.depth / max(1, taken)) / max(1, state.available)

    async def look_again(self) -> None:
        """Read the states again before a refusal: they may be a quarter of a second old."""
        fresh = time.monotonic() - FRESH_S
        # Twice: the first may only wait for a read that began before.
        for _ in range(2):
            if self._read_at < fresh:
                await self._refresh()

    async def _watch(self) -> None:
        while True:
            await self._refresh()
            await asyncio.sleep(WATCH_S)

    async def _refresh(self) -> None:
        # One read at a time, shared by all that wait for it.
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)

    async def _read(self) -> None:
        read_at = time.monotonic()
        try:
            if not self._states:  # the first time, and when the queue is back
                added = " ".join(name for name in self._names if name not in set(Pool))
                await self._queue.call("SET", POOL_NAMES, added)
            states = await self._queue.call("EVAL", SCRIPT, *arguments(self._names))
        except (RedisLost, RedisRefused) as error:
            if self._states:
                log.warning("the queue cannot be read: %s", error)
            self._states = {}
            return
        self.clock.measured(read_at, time.monotonic(), server_time_s(states))
        self._states = pool_states(states, self._names)
        self._read_at = read_at
