"""Dramatiq as its guide sets it up: RedisBroker, default middleware, Results on Redis, `get_result(block=True)`."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend

from tests.bench.caller import Call, serve_calls
from tests.bench.roles import THREADS, become, play, queue_url

dramatiq.set_broker(RedisBroker(url=queue_url(), middleware=None))
dramatiq.get_broker().add_middleware(Results(backend=RedisBackend(url=queue_url())))

MODULE = "tests.bench.systems.dramatiq_stock"


@dramatiq.actor(store_results=True)
def echo(text: str) -> str:
    """The job."""
    return text


def worker() -> None:
    """One worker process, as the stock command starts it."""
    become("-m", "dramatiq", MODULE, "--processes", "1", "--threads", str(THREADS))


async def connect() -> Call:
    """A waiter holds a thread and a connection, which is all that this backend offers."""
    waiters = ThreadPoolExecutor(64)

    def wait(text: str) -> str:
        result: str = echo.send(text).get_result(block=True)
        return result

    async def call(text: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(waiters, wait, text)

    return call


if __name__ == "__main__":
    play({"worker": worker, "call": lambda: serve_calls(connect)})
