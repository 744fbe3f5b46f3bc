"""SAQ at its best for a waiting caller: `Queue.apply` polls every 0.5 s, so this one listens before it enqueues."""

import asyncio
import uuid
from typing import Any

from redis.asyncio import Redis
from saq.job import TERMINAL_STATUSES, Status
from saq.queue.redis import RedisQueue

from tests.bench.caller import Call, serve_calls
from tests.bench.roles import THREADS, become, play, queue_url

MODULE = "tests.bench.systems.saq_subscribe"


async def echo(context: Any, *, text: str) -> str:
    """The job."""
    return text


# redis-py's default of 5 s would end the subscription of a queue that is idle for so long.
queue = RedisQueue(Redis.from_url(queue_url(), socket_timeout=None))
settings = {"queue": queue, "functions": [echo], "concurrency": THREADS}


def worker() -> None:
    """One worker process, as the stock command starts it."""
    become("-m", "saq", f"{MODULE}.settings", "--quiet")


def is_over(key: str, status: Status) -> bool:
    """Stops listening."""
    return status in TERMINAL_STATUSES


async def connect() -> Call:
    """One subscription for the process: without a listener that stays, every call would subscribe anew."""
    await queue.connect()
    _forever.append(asyncio.create_task(queue.listen(["nobody"], is_over, timeout=None)))

    async def call(text: str) -> str:
        key = uuid.uuid4().hex
        ended = asyncio.create_task(queue.listen([key], is_over, timeout=30))
        await asyncio.sleep(0)  # it listens from here on
        await queue.enqueue("echo", key=key, text=text)
        await ended
        job = await queue.job(key)
        assert job is not None
        assert job.status is Status.COMPLETE, job
        result: str = job.result
        return result

    return call


_forever: list[asyncio.Task[None]] = []

if __name__ == "__main__":
    play({"worker": worker, "call": lambda: serve_calls(connect)})
