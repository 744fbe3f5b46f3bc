"""Section 7: a worker process is killed with 50 jobs running. Their callers wait on, and are to get their answers."""

import json
import os
import signal
import statistics
import time
from collections.abc import Callable

import redis

from api.pools import WATCH_S
from shared.endpoint import Pool
from shared.queue.streams import GROUP, stream_key
from tests.bench import proc
from tests.bench.callers import Waiting
from tests.bench.processes import Broken, Servers, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import UNPAID

JOBS = 50
JOB_S = 4.0
COLUMNS = {
    "answered": f"200 in the same response, of {JOBS}",
    "first_s": "first answer beyond the job's own time, s",
    "p50_s": "median, s",
    "last_s": "last, s",
}
ROW = "SIGKILL, another worker process lives"
_WITHIN_S = 20.0


def measure(effort: Effort) -> Table:
    """From the kill to each answer, less the time that a job takes."""
    table = Table(f"Recovery: SIGKILL of a worker process with {JOBS} jobs running", ("case",), COLUMNS)
    for _ in range(effort.trials):
        # Fresh servers each time: a queue that has lost a worker is not what the next one starts from.
        with servers() as here:
            beyond = sorted(_trial(here))
        table.add(ROW, answered=len(beyond))
        if beyond:
            table.add(ROW, first_s=beyond[0], p50_s=statistics.median(beyond), last_s=beyond[-1])
    return table


def _trial(here: Servers) -> list[float]:
    """For each caller that got 200: seconds beyond the job's own time."""
    running = here.start(UNPAID)
    wide = {**running.environment, "BENCH_POOL": Pool.WHOIS.value, "BENCH_THREADS": str(JOBS)}
    doomed = here.spawn(UNPAID, "slow_worker", wide)
    running.wait_for(200)
    queue = redis.Redis.from_url(running.environment["BENCH_QUEUE_URL"])
    stream = stream_key(Pool.WHOIS)
    # Calls that no worker could answer are refused.
    _wait_for("a worker", lambda: bool(queue.xinfo_consumers(stream, GROUP)))
    time.sleep(2 * WATCH_S)  # and until the API has seen it
    waiting = Waiting(f"{running.origin}/v1/cdp/sleep-{Pool.WHOIS.value}", json.dumps({"seconds": JOB_S}), JOBS)
    try:
        _wait_for("all jobs to run", lambda: queue.xpending(stream, GROUP)["pending"] == JOBS)
        here.spawn(UNPAID, "slow_worker", wide)
        _wait_for("another worker", lambda: queue.xinfo_groups(stream)[0]["consumers"] == 2)
        # Not the command's master, which would end its worker in order.
        os.kill(proc.family(doomed.process.pid)[1], signal.SIGKILL)
        killed_at = time.monotonic()
        answers = waiting.answers()
    finally:
        waiting.close()
    return [answer.at - killed_at - JOB_S for answer in answers if answer.status == 200]


def _wait_for(what: str, is_there: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + _WITHIN_S
    while not _asked(is_there):
        if time.monotonic() > give_up_at:
            raise Broken(f"waited in vain for {what}")
        time.sleep(0.02)


def _asked(is_there: Callable[[], bool]) -> bool:
    try:
        return is_there()
    except redis.ResponseError:  # there is no stream or group before the first job or the first worker
        return False
