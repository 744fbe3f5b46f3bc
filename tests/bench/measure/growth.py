"""Section 6: more worker processes, and more callers that wait for a slow pool."""

import json
import time

import redis

from shared.endpoint import Pool
from shared.queue.streams import stream_key
from tests.bench import proc
from tests.bench.callers import Waiting
from tests.bench.measure.load import COLUMNS, sample
from tests.bench.processes import Broken, Running, Servers, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import UNPAID

WORKERS = (1, 2, 4)
WORKERS_IN_FLIGHT = 64
CALLERS = (10, 100, 1_000)
IN_FLIGHT = 16
LONG_NAP = json.dumps({"seconds": 24})
"""As long as an endpoint may take: who waits for it waits through the measurement."""
_ARRIVED_WITHIN_S = 20.0


def measure_workers(effort: Effort) -> Table:
    """Echo through 1, 2 and 4 worker processes of the fast pool."""
    title = f"Growth: worker processes, echo at {WORKERS_IN_FLIGHT} in flight"
    table = Table(title, ("worker processes",), COLUMNS)
    with servers() as here:
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


def measure_callers(effort: Effort) -> Table:
    """What a caller that waits for a slow pool costs the API, and echo's latency beside 10, 100 and 1,000 of them."""
    columns = {"kb": "memory of the API, KB/caller", "p50_ms": "echo p50, ms", "p99_ms": "echo p99, ms"}
    table = Table(f"Growth: callers blocked on a slow pool, echo at {IN_FLIGHT} in flight", ("callers",), columns)
    for _ in range(effort.trials):
        # A fresh API each time: memory that it has once had, it keeps.
        with servers() as here:
            _callers(here, effort, table)
    return table


def _callers(here: Servers, effort: Effort, table: Table) -> None:
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
