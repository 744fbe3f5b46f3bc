"""A worker whose port breaks fetches nothing and says why; the pool is refused when no other worker can do its jobs."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import redis

from api.causes import Cause
from api.dispatch import Dispatcher
from api.pools import PoolRefusal, Pools
from api.redis_client import COMMAND_TIMEOUT_S, Redis
from api.replies import READ_TIMEOUT_S, ReplyReader
from shared.outcome import Ok
from shared.pools import Pool
from shared.queue.message import Arguments
from shared.queue.pool_states import PoolState
from shared.queue.streams import stream_key
from shared.sealing.answers import AnswerSealer
from shared.sealing.sealing import Sealer
from shared.settings.secret_files import read_key
from shared.settled_payment import SettledPayment
from tests.api.with_port import ENDPOINT, FOLDER

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


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
def key_file(tmp_path: Path) -> Path:
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(32))
    return key


@pytest.fixture
def start_worker(clean_redis: str, key_file: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts worker processes of four threads whose port works, or does not for a reason."""
    started: list[PortWorker] = []

    def start(name: str, reason: str = "") -> PortWorker:
        folder = tmp_path / name
        folder.mkdir()
        _write(folder, reason)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "COINSLOT_QUEUE_URL": clean_redis,
            "COINSLOT_LEDGER_URL": clean_redis,
            "COINSLOT_KEY_FILE": str(key_file),
            FOLDER: str(folder),
        }
        command = [sys.executable, "-m", "dramatiq", "tests.api.with_port:create_broker", "--queues", "whois"]
        process = subprocess.Popen(
            [*command, "--processes", "1", "--threads", "4"], env=environment, cwd=ROOT, start_new_session=True
        )
        started.append(PortWorker(folder, process))
        return started[-1]

    yield start
    for worker in started:
        if worker.process.poll() is None:
            os.killpg(worker.process.pid, signal.SIGKILL)  # an orderly end takes seconds
            worker.process.wait(30)


@dataclass
class SoldPool:
    """What the API does with a call, between its payment and its answer."""

    pools: Pools
    dispatcher: Dispatcher
    answers: AnswerSealer

    async def call(self) -> str:
        """The name of the worker that ran it."""
        sealed = await self.dispatcher.run(
            ENDPOINT, Arguments("", SettledPayment(payer="0xpayer"), msgspec.json.encode({"message": "x"}))
        )
        answer = self.answers.open(sealed, ENDPOINT, "", b"")
        assert isinstance(answer, Ok), answer
        name: str = msgspec.json.decode(answer.body)["youSent"]
        return name

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
    short, long = Redis(clean_redis), Redis(clean_redis, timeout_s=READ_TIMEOUT_S + COMMAND_TIMEOUT_S)
    replies, pools = ReplyReader(long), Pools(short)
    master = read_key(key_file)
    replies.start()
    pools.start()
    yield SoldPool(pools, Dispatcher(short, replies, pools, Sealer(master)), AnswerSealer(master))
    await pools.stop()
    await replies.stop()
    short.close()
    long.close()


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
