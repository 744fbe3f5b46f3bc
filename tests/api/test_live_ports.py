"""A worker whose port breaks fetches nothing and says why; the pool is refused when no other worker can do its jobs."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from api.causes import Cause
from api.pools import PoolRefusal, Pools
from shared.pools import Pool
from shared.queue.pool_states import PoolState
from shared.queue.streams import stream_key
from tests.api.dispatching import dispatching, worker_processes
from tests.api.with_port import ENDPOINT, FOLDER

pytestmark = pytest.mark.anyio


@dataclass
class PortWorker:
    """A stock worker process and the folder of its port."""

    folder: Path
    process: subprocess.Popen[bytes]

    def break_port(self, reason: str = "no_browser") -> None:
        """From now on the port does not work."""
        _write(self.folder, reason)

    def repair_port(self) -> None:
        """From now on the port works."""
        _write(self.folder, "")

    def log(self) -> list[str]:
        """The calls of the port."""
        log = self.folder / "log"
        return log.read_text().split() if log.exists() else []

    def kill(self) -> None:
        """Kill the master, and its worker process with it."""
        self.process.kill()
        self.process.wait(30)


def _write(folder: Path, reason: str) -> None:
    (folder / "new").write_text(reason)
    (folder / "new").rename(folder / "reason")


Start = Callable[..., PortWorker]


@pytest.fixture
def start_worker(clean_redis: str, key_file: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts worker processes of four threads whose port works, or does not for a reason."""
    with worker_processes("tests.api.with_port", ENDPOINT, "--threads", "4") as start_process:

        def start(name: str, reason: str = "") -> PortWorker:
            folder = tmp_path / name
            folder.mkdir()
            _write(folder, reason)
            process = start_process(
                COINSLOT_QUEUE_URL=clean_redis,
                COINSLOT_LEDGER_URL=clean_redis,
                COINSLOT_KEY_FILE=str(key_file),
                **{FOLDER: str(folder)},
            )
            return PortWorker(folder, process)

        yield start


@dataclass
class SoldPool:
    """The pool of these workers, as the API sees it. A call's answer is the name of the worker that ran it."""

    pools: Pools
    call: Callable[[], Awaitable[str]]

    async def until(self, *, workers: int, available: int) -> PoolRefusal | None:
        """Wait until so many worker processes live and can work. Gives what the pool then refuses a call with."""
        for _ in range(1_200):
            state = (await self.pools.states()).get(Pool.WHOIS)
            if state and (state.workers, state.available) == (workers, available):
                return self.pools.refusal(ENDPOINT, 0)
            await asyncio.sleep(0.025)
        raise AssertionError(f"never {available} of {workers} available: {state}")

    async def until_queued(self, count: int) -> None:
        """Wait until so many jobs wait or run."""
        await _until(lambda state: state.depth >= count, self.pools)


async def _until(is_so: Callable[[PoolState], bool], pools: Pools) -> None:
    for _ in range(1_200):
        if is_so((await pools.states())[Pool.WHOIS]):
            return
        await asyncio.sleep(0.025)
    raise AssertionError(await pools.states())


@pytest.fixture
async def sold(clean_redis: str, key_file: Path) -> AsyncIterator[SoldPool]:
    async with dispatching(ENDPOINT, clean_redis, key_file) as made:
        yield SoldPool(made.pools, made.run)


async def test_a_pool_is_refused_while_its_only_workers_port_is_broken(sold: SoldPool, start_worker: Start) -> None:
    """With the port's reason. Jobs that were queued meanwhile wait, and none is lost when the port works again."""
    worker = start_worker("only")
    assert await sold.until(workers=1, available=1) is None
    assert await sold.call() == "only"
    worker.break_port()
    refusal = await sold.until(workers=1, available=0)
    assert refusal is not None
    assert (refusal.cause, refusal.reason) == (Cause.PORT_UNAVAILABLE, "no_browser")
    calls = [asyncio.ensure_future(sold.call()) for _ in range(10)]
    await sold.until_queued(10)
    worker.repair_port()
    assert await asyncio.gather(*calls) == ["only"] * 10
    assert await sold.until(workers=1, available=1) is None


async def test_a_worker_that_cannot_work_leaves_the_jobs_to_one_that_can(sold: SoldPool, start_worker: Start) -> None:
    """Whether its port was broken from the start or breaks under load; the pool is sold throughout."""
    broken, other = start_worker("broken", "no_browser"), start_worker("other")
    assert await sold.until(workers=2, available=1) is None
    assert set(await asyncio.gather(*(sold.call() for _ in range(40)))) == {"other"}
    broken.repair_port()
    assert await sold.until(workers=2, available=2) is None
    other.break_port("out_of_memory")
    assert await sold.until(workers=2, available=1) is None
    assert set(await asyncio.gather(*(sold.call() for _ in range(40)))) == {"broken"}


async def test_a_killed_worker_leaves_no_reason(sold: SoldPool, start_worker: Start, clean_redis: str) -> None:
    """The pool then has no worker, and its key in Redis expires."""
    worker = start_worker("only", "no_browser")
    assert (await sold.until(workers=1, available=0)) != PoolRefusal(Cause.NO_WORKER)
    worker.kill()
    assert await sold.until(workers=0, available=0) == PoolRefusal(Cause.NO_WORKER)
    with redis.Redis.from_url(clean_redis) as client:
        await _until(lambda _: not client.keys("coinslot:unavailable:*"), sold.pools)


async def test_a_lost_queue_does_not_hide_the_reason(sold: SoldPool, start_worker: Start, clean_redis: str) -> None:
    """A worker that cannot work makes the group of an empty Redis, says again why, and ends well."""
    worker = start_worker("only", "no_browser")
    await sold.until(workers=1, available=0)
    with redis.Redis.from_url(clean_redis) as client:
        client.flushall()
        refusal = await sold.until(workers=1, available=0)
        assert refusal is not None
        assert refusal.reason == "no_browser"
        assert client.exists(stream_key(Pool.WHOIS))
    worker.process.terminate()
    assert await asyncio.to_thread(worker.process.wait, 30) == 0


async def test_a_port_is_closed_after_its_workers_last_job(sold: SoldPool, start_worker: Start) -> None:
    """It was started once."""
    worker = start_worker("only")
    await sold.until(workers=1, available=1)
    call = asyncio.ensure_future(sold.call())
    await _until(lambda state: state.running > 0 or call.done(), sold.pools)
    worker.process.send_signal(signal.SIGTERM)
    assert await call == "only"
    assert await asyncio.to_thread(worker.process.wait, 30) == 0
    assert worker.log() == ["start", "close"]
