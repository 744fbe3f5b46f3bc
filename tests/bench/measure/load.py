"""One load on one HTTP system, with what it cost."""

from pathlib import Path

from tests.bench.processes import Running, Servers
from tests.bench.results import Table
from tests.bench.wrk import load

COLUMNS = {
    "per_s": "answers/s",
    "p50_ms": "p50, ms",
    "p99_ms": "p99, ms",
    "cpu_us": "CPU of its processes, us/call",
    "redis_us": "of Redis, us/call",
}


def sample(
    here: Servers,
    running: Running,
    table: Table,
    *,
    in_flight: int,
    seconds: int,
    payments: Path | None = None,
    unpaid: bool = False,
) -> dict[str, float]:
    """The values of COLUMNS. Calls that failed are noted below the table."""
    cpu_s, redis_s = running.cpu_s(), here.redis_cpu_s()
    seen = load(running.echo_url, in_flight=in_flight, seconds=seconds, payments=payments, unpaid=unpaid)
    if seen.failed:
        table.notes.append(
            f"{running.system.label}: {seen.failed} of {seen.requests} calls failed at {in_flight} in flight."
        )
    return {
        "per_s": seen.per_s,
        "p50_ms": seen.p50_ms,
        "p99_ms": seen.p99_ms,
        "cpu_us": (running.cpu_s() - cpu_s) / seen.requests * 1e6,
        "redis_us": (here.redis_cpu_s() - redis_s) / seen.requests * 1e6,
    }
