"""Section 6: more processes of the API and of workers, and more callers that wait for a slow pool."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import redis

from shared.endpoint import Pool
from shared.queue.streams import stream_key
from tests.bench import proc
from tests.bench.callers import Waiting
from tests.bench.measure.load import COLUMNS, sample
from tests.bench.payments import offered, write_payments
from tests.bench.processes import Broken, Running, Stand, stand
from tests.bench.quota import NoQuota, Quotas, quotas
from tests.bench.results import Effort, Table
from tests.bench.roles import PATH
from tests.bench.systems import PAID, UNPAID
from tests.bench.wrk import Load, load

WORKERS = (1, 2, 4)
WORKERS_IN_FLIGHT = 64
APIS = (1, 2)
PAID_IN_FLIGHT = 32
SLOW_API, SLOW_WORKER = 0.4, 0.04
"""So that two cores hold all processes. A worker gets a tenth of an API: echo takes it a tenth of the API's time."""
MOST_PER_S = 1_000
"""Paid calls of one API for which payments are signed before a load."""
CALLERS = (10, 100, 1_000)
IN_FLIGHT = 16
LONG_NAP = json.dumps({"seconds": 24})
"""As long as an endpoint may take: who waits for it waits through the measurement."""
_ARRIVED_WITHIN_S = 20.0


def measure_workers(effort: Effort) -> Table:
    """Echo through 1, 2 and 4 worker processes of the fast pool."""
    title = f"Growth: worker processes, echo at {WORKERS_IN_FLIGHT} in flight"
    table = Table(title, ("worker processes",), COLUMNS)
    with stand() as here:
        systems: dict[int, Running] = {}
        for count in WORKERS:
            systems[count] = running = here.start(UNPAID)
            for number in range(2, count + 1):
                running.children[f"worker {number}"] = here.spawn(UNPAID, "worker", running.environment)
        for running in systems.values():
            running.wait_for(200)
        for running in systems.values():
            sample(here, running, table, in_flight=WORKERS_IN_FLIGHT, seconds=1)
        for _ in range(effort.rounds):
            for count, running in systems.items():
                values = sample(here, running, table, in_flight=WORKERS_IN_FLIGHT, seconds=effort.seconds)
                table.add(str(count), **values)
    return table


def measure_paid(effort: Effort) -> Table:
    """Paid echo through 1 and 2 API processes with 1, 2 and 4 worker processes of its pool, on slow cores.

    Each API has as many callers. One ledger and one facilitator serve all, on cores as fast as they are.
    """
    slowness = f"an API has {SLOW_API:g} of a core, a worker {SLOW_WORKER:g}"
    title = f"Growth: paid echo at {PAID_IN_FLIGHT} in flight for each API; {slowness}"
    columns = {name: COLUMNS[name] for name in ("per_s", "p99_ms", "cpu_us", "redis_us")}
    table = Table(title, ("API processes", "worker processes"), columns)
    try:
        with quotas() as slow, stand() as here:
            _measure_paid(here, slow, effort, table)
    except NoQuota as error:
        table.absent["parts of a core"] = str(error)
    return table


def _measure_paid(here: Stand, slow: Quotas, effort: Effort, table: Table) -> None:
    here.start_facilitator()
    systems = {(apis, workers): _Shop(here, slow, apis, workers) for apis in APIS for workers in WORKERS}
    for shop in systems.values():
        shop.sample(seconds=1)
    for _ in range(effort.rounds):
        for (apis, workers), shop in systems.items():
            table.add(str(apis), str(workers), **shop.sample(seconds=effort.seconds))


class _Shop:
    """One installation with so many processes.

    Raises:
        Broken: it does not start.
    """

    def __init__(self, here: Stand, slow: Quotas, apis: int, workers: int) -> None:
        self._here = here
        self._running = running = here.start(PAID)
        self._origins = [running.origin]
        for number in range(2, workers + 1):
            running.children[f"worker {number}"] = here.spawn(PAID, "worker", running.environment)
        for number in range(2, apis + 1):
            port = here.new_environment()["COINSLOT_PORT"]
            running.children[f"api {number}"] = here.spawn(PAID, "api", {**running.environment, "COINSLOT_PORT": port})
            self._origins.append(f"http://127.0.0.1:{port}")
        for origin in self._origins:
            replace(running, origin=origin).wait_for(402)
        for role, child in running.children.items():
            slow.limit(child.process.pid, SLOW_API if role.startswith("api") else SLOW_WORKER)

    def sample(self, *, seconds: int) -> dict[str, float]:
        """A load, with what it cost."""
        files = [self._here.folder / f"payments-{number}" for number in range(len(self._origins))]
        offer = offered(self._running.echo_url)
        for file in files:
            write_payments(file, offer, MOST_PER_S * seconds)

        def called(origin: str, payments: Path) -> Load:
            return load(origin + PATH, in_flight=PAID_IN_FLIGHT, seconds=seconds, payments=payments)

        cpu_s, redis_s = self._running.cpu_s(), self._here.redis_cpu_s()
        with ThreadPoolExecutor(len(files)) as threads:
            loads = list(threads.map(called, self._origins, files))
        calls = sum(seen.requests for seen in loads)
        return {
            "per_s": sum(seen.per_s for seen in loads),
            "p99_ms": max(seen.p99_ms for seen in loads),
            "cpu_us": (self._running.cpu_s() - cpu_s) / calls * 1e6,
            "redis_us": (self._here.redis_cpu_s() - redis_s) / calls * 1e6,
        }


def measure_callers(effort: Effort) -> Table:
    """What a caller that waits for a slow pool costs the API, and echo's latency beside 10, 100 and 1,000 of them."""
    columns = {"kb": "memory of the API, KB/caller", "p50_ms": "echo p50, ms", "p99_ms": "echo p99, ms"}
    table = Table(f"Growth: callers blocked on a slow pool, echo at {IN_FLIGHT} in flight", ("callers",), columns)
    for _ in range(effort.trials):
        # A fresh API each time: memory that it has once had, it keeps.
        with stand() as here:
            _callers(here, effort, table)
    return table


def _callers(here: Stand, effort: Effort, table: Table) -> None:
    running = here.start(UNPAID)
    slow = here.spawn(UNPAID, "slow_worker", {**running.environment, "BENCH_POOL": Pool.WHOIS.value})
    running.wait_for(200)
    api = running.children["api"].process.pid

    def echo(callers: int) -> None:
        values = sample(here, running, table, in_flight=IN_FLIGHT, seconds=effort.seconds)
        table.add(f"{callers:,}", p50_ms=values["p50_ms"], p99_ms=values["p99_ms"])

    sample(here, running, table, in_flight=IN_FLIGHT, seconds=1)
    echo(0)
    queue = redis.Redis.from_url(running.environment["BENCH_QUEUE_URL"])
    for count in CALLERS:
        before, depth = proc.resident_bytes(api), queue.xlen(stream_key(Pool.WHOIS))
        waiting = Waiting(f"{running.origin}/v1/cdp/sleep-{Pool.WHOIS.value}", LONG_NAP, count)
        try:
            _wait_for_depth(queue, depth + count)
            table.add(f"{count:,}", kb=(proc.resident_bytes(api) - before) / count / 1024)
            echo(count)
        finally:
            waiting.close()
    slow.process.kill()  # its jobs would take longer than anybody waits


def _wait_for_depth(queue: redis.Redis, depth: int) -> None:
    """Return when that many jobs are queued or running. Those of callers that have hung up are among them."""
    give_up_at = time.monotonic() + _ARRIVED_WITHIN_S
    while queue.xlen(stream_key(Pool.WHOIS)) < depth:
        if time.monotonic() > give_up_at:
            raise Broken(f"fewer than {depth} callers got into the queue")
        time.sleep(0.05)
