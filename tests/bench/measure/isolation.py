"""Section 5: what a caller of echo notices while other pools are full."""

import contextlib
import json
import time
from collections.abc import Iterator

import redis

from shared.endpoint import Pool
from shared.queue.streams import stream_key
from tests.bench.measure.load import sample
from tests.bench.processes import Broken, Running, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import UNPAID
from tests.bench.wrk import background

IN_FLIGHT = 16
TOGETHER, SPREAD = "the slow pools are full, all jobs of 0.2 s", "the slow pools are full, jobs of 0.1 to 0.3 s"
NAPS = {TOGETHER: {"seconds": 0.2}, SPREAD: {"seconds": 0.2, "spread": 0.5}}
"""Jobs of one length all end at once, and their callers call again at once."""
WAITING = {Pool.RENDER: 8, Pool.WHOIS: 64, Pool.YOUTUBE: 32}
"""Calls that wait for each slow pool at any time: as many as may."""
THREADS = {Pool.RENDER: 1, Pool.WHOIS: 16, Pool.YOUTUBE: 8}
HEAVY = {"200 long scans wait, of one wallet": 1, "200 long scans wait, of 40 wallets": 40}
"""Wallets whose calls they are."""
HEAVY_PATH = "/v1/cdp/prompt-injection-scan"
HEAVY_CALLERS = 200
HEAVY_PAUSE_S = 1.0
"""Of a caller after each answer: most are refused, with a Retry-After of some seconds."""
SENTENCE = "Please read this text about boats, and say what you think of it. "
COLUMNS = {"p50_ms": "p50, ms", "p99_ms": "p99, ms", "per_s": "answers/s", "ratio": "p99 with / without"}
QUIET = "the other pools are idle"

START_S = 30.0
"""Seconds within which the pool takes its first scan: its fork server loads what children need first."""


def measure(effort: Effort) -> Table:
    """Loads with and without, in turns; each pair gives one ratio."""
    table = Table(f"Isolation: echo at {IN_FLIGHT} in flight beside full pools", ("echo, while",), COLUMNS)
    with servers() as here:
        running = here.start(UNPAID)
        for pool in WAITING:
            here.spawn(UNPAID, "slow_worker", {**running.environment, "BENCH_POOL": pool.value})
        here.spawn(UNPAID, "fast_worker", running.environment)
        running.wait_for(200)
        for pool in WAITING:
            running.wait_for(200, path=_sleep_path(pool), body='{"seconds": 0}')
        running.wait_for(200, path=HEAVY_PATH, body='{"text": "a"}')
        queue = redis.Redis.from_url(running.environment["BENCH_QUEUE_URL"])
        sample(here, running, table, in_flight=IN_FLIGHT, seconds=1)
        for _ in range(effort.pairs):
            quiet = sample(here, running, table, in_flight=IN_FLIGHT, seconds=effort.seconds)
            _add(table, QUIET, quiet)
            for row, nap in NAPS.items():
                with _slow_pools_full(running, queue, json.dumps(nap)):
                    busy = sample(here, running, table, in_flight=IN_FLIGHT, seconds=effort.seconds)
                _wait_until_idle(queue)
                _add(table, row, busy)
                table.add(row, ratio=busy["p99_ms"] / quiet["p99_ms"])
            for row, wallets in HEAVY.items():
                with _scans_waiting(running, queue, wallets):
                    busy = sample(here, running, table, in_flight=IN_FLIGHT, seconds=effort.seconds)
                _wait_until_idle(queue)
                _add(table, row, busy)
                table.add(row, ratio=busy["p99_ms"] / quiet["p99_ms"])
    return table


def _sleep_path(pool: Pool) -> str:
    return f"/v1/cdp/sleep-{pool.value}"


def _add(table: Table, row: str, seen: dict[str, float]) -> None:
    table.add(row, **{name: seen[name] for name in ("p50_ms", "p99_ms", "per_s")})


@contextlib.contextmanager
def _slow_pools_full(running: Running, queue: redis.Redis, nap: str) -> Iterator[None]:
    with contextlib.ExitStack() as loads:
        for pool, waiting in WAITING.items():
            loads.enter_context(background(running.origin + _sleep_path(pool), in_flight=waiting, body=nap))
        time.sleep(1)
        for pool, threads in THREADS.items():
            if queue.xlen(stream_key(pool)) <= threads:  # running and waiting
                raise Broken(f"the {pool} pool could not be filled")
        yield


@contextlib.contextmanager
def _scans_waiting(running: Running, queue: redis.Redis, wallets: int) -> Iterator[None]:
    body = json.dumps({"text": SENTENCE * (48 * 1024 // len(SENTENCE))})
    url = running.origin + HEAVY_PATH
    with background(url, in_flight=HEAVY_CALLERS, body=body, pause_s=HEAVY_PAUSE_S, wallets=wallets):
        give_up_at = time.monotonic() + START_S
        while not queue.xlen(stream_key(Pool.FAST)):
            if time.monotonic() > give_up_at:
                raise Broken("no scan is running")
            time.sleep(0.1)
        time.sleep(1)
        yield


def _wait_until_idle(queue: redis.Redis) -> None:
    while any(queue.xlen(stream_key(pool)) for pool in (*WAITING, Pool.FAST)):
        time.sleep(0.1)
