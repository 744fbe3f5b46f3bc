"""Jobs in the middle of something: their worker is killed, their queue is restarted, their worker is told to stop."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from api.dispatch import ReplyTimeout
from compose.sandbox.redis_server import RedisServer, start_redis
from shared.queue.queue_clock import NOTES
from shared.queue.replies import PART_BYTES, in_parts
from tests.api.dispatching import Dispatching, dispatching, worker_processes
from tests.api.slow_worker import AHEAD, ENDPOINT, LONG

pytestmark = pytest.mark.anyio


@dataclass
class Queue:
    """A Redis that a test may kill."""

    server: RedisServer
    var: Path

    def restart(self) -> None:
        """Kill it, and start an empty one at the same address."""
        port = int(self.server.url.rsplit(":", 1)[1].split("/")[0])
        self.server.process.kill()
        self.server.stop()
        self.server = start_redis("queue", self.var, port)


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    queue = Queue(start_redis("queue", tmp_path), tmp_path)
    yield queue
    queue.server.stop()


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start_worker(queue: Queue, redis_url: str, key_file: Path) -> Iterator[Start]:
    """Starts worker processes of 50 threads."""
    options = ("--threads", "50", "--worker-shutdown-timeout", "30000")
    with worker_processes("tests.api.slow_worker", ENDPOINT, *options) as start_process:

        def start(ahead_s: float = 0.0) -> subprocess.Popen[bytes]:
            return start_process(
                COINSLOT_QUEUE_URL=queue.server.url,
                COINSLOT_LEDGER_URL=redis_url,
                COINSLOT_KEY_FILE=str(key_file),
                **{AHEAD: str(ahead_s)},
            )

        yield start


@pytest.fixture
async def sold(queue: Queue, key_file: Path) -> AsyncIterator[Dispatching]:
    async with dispatching(ENDPOINT, queue.server.url, key_file) as sold:
        yield sold


async def running(sold: Dispatching, count: int, workers: int, calls: Iterable[asyncio.Future[Any]] = ()) -> None:
    """Wait until so many jobs run on so many worker processes that take jobs. A call that fails meanwhile raises its own
    exception."""
    for _ in range(400):
        state = (await sold.pools.states()).get(ENDPOINT.pool)
        # A worker whose ports start counts among `workers`, and its pool refuses every call.
        if state and state.running == count and state.available == workers:
            return
        for call in calls:
            if call.done():
                call.result()
        await asyncio.sleep(0.025)
    raise AssertionError(f"never {count} running on {workers}: {state}")


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The process that runs the jobs."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


async def test_a_long_answer_comes_in_parts(sold: Dispatching, queue: Queue, start_worker: Start) -> None:
    """It is whole, a short one beside it too, and nothing of either is left in the queue's Redis."""
    start_worker()
    await running(sold, 0, 1)
    assert await asyncio.gather(sold.call("long"), sold.call("short")) == [LONG, "short"]
    with redis.Redis.from_url(queue.server.url) as client:
        assert client.keys("coinslot:outcome:*") == []


async def test_only_the_queues_clock_counts(
    sold: Dispatching, queue: Queue, start_worker: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a worker's machine whose clock is ahead by more than a call may take, and one of the API's whose clock is set back,
    when a call is made, then it is answered, and operators can see which machine's clock is wrong."""
    start_worker(ahead_s=ENDPOINT.deadline_s)
    await running(sold, 0, 1)
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() - ENDPOINT.deadline_s)
    assert await sold.call("short") == "short"
    with redis.Redis.from_url(queue.server.url) as client:
        (note,) = client.hvals(NOTES)
        assert b" s ahead of the queue's" in note
        assert client.ttl(NOTES) > 0


async def test_parts_that_were_lost_are_late(sold: Dispatching, queue: Queue) -> None:
    """The queue was restarted between the reply and its last part: the answer is in the ledger."""
    parts, pushes = in_parts(b"x" * (2 * PART_BYTES + 1))
    assert parts.count == len(pushes) == 3
    with redis.Redis.from_url(queue.server.url) as client:
        for key, part in pushes[:2]:
            client.rpush(key, part)
    with pytest.raises(ReplyTimeout):
        await sold.dispatcher._joined(parts)


@pytest.mark.parametrize("before", range(4))
async def test_parts_that_were_sent_twice_are_the_same_answer(sold: Dispatching, queue: Queue, before: int) -> None:
    """A worker whose connection broke after some of them, or after all, sends them all again."""
    answer = b"".join(bytes([n]) * PART_BYTES for n in range(3))
    parts, pushes = in_parts(answer)
    with redis.Redis.from_url(queue.server.url) as client:
        for key, part in (*pushes[:before], *pushes):
            client.rpush(key, part)
    assert await sold.dispatcher._joined(parts) == answer


async def test_a_killed_worker_costs_no_answer(sold: Dispatching, start_worker: Start) -> None:
    """50 jobs run when their worker is killed: another one does them again before their deadline."""
    first = start_worker()
    await running(sold, 0, 1)
    calls = [asyncio.ensure_future(sold.call(str(n))) for n in range(50)]
    await running(sold, 50, 1, calls)
    os.kill(child_of(first), signal.SIGKILL)
    start_worker()
    assert await asyncio.gather(*calls) == [str(n) for n in range(50)]


async def test_a_restarted_queue_costs_no_answer(sold: Dispatching, queue: Queue, start_worker: Start) -> None:
    """Messages that wait, that run, and the replies of those that run: all are lost with the queue, and none is missed. The
    worker ends well after that."""
    worker = start_worker()
    await running(sold, 0, 1)
    calls = [asyncio.ensure_future(sold.call(str(n))) for n in range(60)]
    await running(sold, 50, 1, calls)
    queue.restart()
    assert await asyncio.gather(*calls) == [str(n) for n in range(60)]
    worker.terminate()
    assert worker.wait(30) == 0


async def test_a_stopping_worker_ends_its_jobs(sold: Dispatching, start_worker: Start) -> None:
    """SIGTERM in the middle of 50 jobs, with 10 more waiting: the 50 end where they run, another worker does the 10."""
    first = start_worker()
    await running(sold, 0, 1)
    calls = [asyncio.ensure_future(sold.call(str(n))) for n in range(60)]
    await running(sold, 50, 1, calls)
    first.terminate()
    start_worker()
    assert await asyncio.gather(*calls) == [str(n) for n in range(60)]
    assert first.wait(30) == 0
