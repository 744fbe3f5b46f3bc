"""Whose reply is handed on when."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from api.redis_client import COMMAND_TIMEOUT_S, Redis
from api.replies import READ_TIMEOUT_S, ReplyReader
from shared.queue.replies import Cost, Reply, encode_reply

pytestmark = pytest.mark.anyio

CALLERS = 64


@pytest.fixture
async def reader(clean_redis: str) -> AsyncIterator[ReplyReader]:
    queue = Redis(clean_redis, timeout_s=READ_TIMEOUT_S + COMMAND_TIMEOUT_S)
    reader = ReplyReader(queue)
    yield reader
    await reader.stop()
    queue.close()


async def test_a_batch_of_slow_calls_lets_a_fast_one_pass(reader: ReplyReader, clean_redis: str) -> None:
    """Replies that are there at once: the fast pool's is handed on at once, those of slow pools one after the other."""
    slow = [reader.expect(f"slow-{number}", batched=True) for number in range(CALLERS)]
    fast = reader.expect("fast")
    pusher = Redis(clean_redis)
    replies = [*(f"slow-{number}" for number in range(CALLERS)), "fast"]
    await pusher.call("RPUSH", reader.address, *(encode_reply(Reply(name, b"answer")) for name in replies))
    reader.start()
    await fast
    assert sum(future.done() for future in slow) < CALLERS / 2
    assert await asyncio.gather(*slow) == [b"answer"] * CALLERS
    pusher.close()


async def test_a_caller_who_left_the_batch_is_passed_over(reader: ReplyReader, clean_redis: str) -> None:
    """Its deadline ended while its reply was waiting to be handed on."""
    slow = [reader.expect(f"slow-{number}", batched=True) for number in range(CALLERS)]
    pusher = Redis(clean_redis)
    await pusher.call("RPUSH", reader.address, *(encode_reply(Reply(f"slow-{n}", b"answer")) for n in range(CALLERS)))
    reader.start()
    await slow[0]
    slow[-1].cancel()
    assert await asyncio.gather(*slow[:-1]) == [b"answer"] * (CALLERS - 1)
    pusher.close()


async def test_a_late_reply_tells_what_it_took(reader: ReplyReader, clean_redis: str) -> None:
    """Nobody waits for it any more. Without the late ones, a machine that is too slow would seem fast."""
    heard: asyncio.Queue[tuple[str, Cost]] = asyncio.Queue()
    reader.on_cost = lambda *told: heard.put_nowait(told)
    reader.expect("late")
    reader.forget("late")
    pusher = Redis(clean_redis)
    await pusher.call("RPUSH", reader.address, encode_reply(Reply("late", b"answer", 5.0, 4.5, False)))
    reader.start()
    assert await heard.get() == ("late", Cost(5.0, 4.5, is_whole=False))
    pusher.close()
