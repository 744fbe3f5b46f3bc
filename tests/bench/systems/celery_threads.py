"""celery on Redis, with its thread pool, which suits jobs that answer somebody better than its default of processes."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from celery import Celery

from tests.bench.caller import Call, serve_calls
from tests.bench.roles import THREADS, become, play, queue_url

MODULE = "tests.bench.systems.celery_threads"

app = Celery("bench", broker=queue_url(), backend=queue_url())
app.conf.broker_connection_retry_on_startup = True


@app.task(name="echo")
def echo(text: str) -> str:
    """The job."""
    return text


def worker() -> None:
    """One worker process, without the chatter between workers that only clusters need."""
    become(
        *("-m", "celery", "-A", MODULE, "worker", "--pool", "threads", "--concurrency", str(THREADS)),
        *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"),
    )


async def connect() -> Call:
    """A waiter holds a thread."""
    waiters = ThreadPoolExecutor(64)

    def wait(text: str) -> str:
        result: str = echo.delay(text).get(timeout=30)
        return result

    async def call(text: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(waiters, wait, text)

    return call


if __name__ == "__main__":
    play({"worker": worker, "call": lambda: serve_calls(connect)})
