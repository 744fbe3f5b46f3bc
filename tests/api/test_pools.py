"""Why a pool takes no new call: every cause, told apart from the others."""

import dataclasses
import time

import pytest
import redis

from api.causes import Cause
from api.pools import STALE_S, PoolRefusal, Pools
from api.redis_client import Redis
from jobs.echo import ENDPOINT
from shared.pools import POOLS, Pool
from shared.queue.pool_states import PoolState
from shared.queue.streams import GROUP, stream_key, unavailable_key
from tests.each import each

IDLE = PoolState(depth=0, running=0, waited_ms=0, workers=2, available=2, closed_ms=0, reason="")


def refusal(state: PoolState | None, *, age_s: float = 0.0, taken: int = 0) -> PoolRefusal | None:
    """Of a state that was read so long ago; None: it could not be read."""
    pools = Pools(Redis("redis://127.0.0.1:1/0"))
    pools._states = {} if state is None else {ENDPOINT.pool: state}
    pools._read_at = time.monotonic() - age_s
    return pools.refusal(ENDPOINT, taken)


@each(
    ("changes", "expected"),
    [
        ({}, None),
        ({"workers": 0, "available": 0}, Cause.NO_WORKER),
        ({"closed_ms": 1}, Cause.UPSTREAM_CLOSED),
        ({"depth": 2 * POOLS[ENDPOINT.pool].room}, Cause.POOL_FULL),
        ({"depth": POOLS[ENDPOINT.pool].room, "available": 1, "reason": "no_browser"}, Cause.POOL_FULL),
        ({"waited_ms": 24_999}, Cause.POOL_SLOW),
        ({"available": 1, "reason": "no_browser"}, None),
    ],
)
def test_each_cause_is_told(changes: dict[str, int], expected: Cause | None) -> None:
    """A worker that cannot work makes no room, and does not close a pool in which another can."""
    refused = refusal(dataclasses.replace(IDLE, **changes))
    assert refused == (expected and PoolRefusal(expected))


def test_the_ports_reason_is_told_when_no_worker_can_work() -> None:
    """Beside the cause."""
    refused = refusal(dataclasses.replace(IDLE, available=0, reason="no_browser"))
    assert refused == PoolRefusal(Cause.PORT_UNAVAILABLE, "no_browser")


def test_calls_on_their_way_count() -> None:
    """They are not in the queue yet."""
    assert refusal(IDLE, taken=2 * POOLS[ENDPOINT.pool].room) == PoolRefusal(Cause.POOL_FULL)


def test_an_unreadable_queue_is_no_missing_worker() -> None:
    """Nor is a state that is too old."""
    assert refusal(None) == PoolRefusal(Cause.QUEUE_UNREADABLE)
    assert refusal(IDLE, age_s=STALE_S + 1) == PoolRefusal(Cause.QUEUE_UNREADABLE)


@pytest.mark.anyio
async def test_a_queue_that_does_not_answer_is_unreadable() -> None:
    """There is no Redis at this address."""
    pools = Pools(Redis("redis://127.0.0.1:1/0"))
    assert await pools.states() == {}
    assert pools.refusal(ENDPOINT, 0) == PoolRefusal(Cause.QUEUE_UNREADABLE)


@pytest.mark.anyio
async def test_a_reason_counts_while_its_consumer_lives(clean_redis: str) -> None:
    """One of two consumers reports a reason, then both do; a key of a consumer that is not there says nothing."""
    stream = stream_key(Pool.RENDER)
    queue = Redis(clean_redis)
    pools = Pools(queue)
    with redis.Redis.from_url(clean_redis) as client:
        client.xgroup_create(stream, GROUP, mkstream=True)
        for name in ("one", "two"):
            client.xgroup_createconsumer(stream, GROUP, name)
        client.set(unavailable_key(Pool.RENDER, "one"), "no_browser")
        client.set(unavailable_key(Pool.RENDER, "gone"), "no_browser")
        state = (await pools.states())[Pool.RENDER]
        assert (state.workers, state.available, state.reason) == (2, 1, "no_browser")
        client.set(unavailable_key(Pool.RENDER, "two"), "no_browser")
        state = (await pools.states())[Pool.RENDER]
        assert (state.workers, state.available, state.reason) == (2, 0, "no_browser")
    queue.close()
