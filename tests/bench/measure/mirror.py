"""Section 10: what the dashboard costs the workers whose jobs it shows."""

from __future__ import annotations

import secrets
import sys

from compose.sandbox.child import claim_port
from compose.sandbox.redis_server import start_redis
from tests.bench.measure.load import sample
from tests.bench.processes import Running, Stand, stand
from tests.bench.results import Effort, Table
from tests.bench.systems import UNPAID

IN_FLIGHT = 64
WITHOUT, WITH = "no dashboard", "a dashboard that shows every second what they do"
COLUMNS = {
    "per_s": "jobs/s",
    "p99_ms": "p99, ms",
    "cpu_us": "CPU of API and worker, us/call",
    "ratio": "jobs/s with / without",
}


def measure(effort: Effort) -> Table:
    """Echo without, with, with, without, for a second each; four seconds give one ratio. Two services of each kind take turns:
    two processes of one program differ by a percent or two for as long as they live."""
    table = Table(f"The dashboard: echo at {IN_FLIGHT} in flight", ("the workers have",), COLUMNS)
    with stand() as here:
        mirror = start_redis("mirror", here.folder)
        try:
            pairs = [{WITHOUT: here.start(UNPAID), WITH: _start_with_dashboard(here, mirror.url)} for _ in range(2)]
            for running in (running for pair in pairs for running in pair.values()):
                running.wait_for(200)
                sample(here, running, table, in_flight=IN_FLIGHT, seconds=1)
            for _ in range(effort.pairs):
                for pair in pairs:
                    _compare(here, pair, table)
        finally:
            mirror.stop()
    return table


def _compare(here: Stand, pair: dict[str, Running], table: Table) -> None:
    jobs = dict.fromkeys(pair, 0.0)
    for row in (WITHOUT, WITH, WITH, WITHOUT):
        seen = sample(here, pair[row], table, in_flight=IN_FLIGHT, seconds=1)
        table.add(row, **{name: seen[name] for name in ("per_s", "p99_ms", "cpu_us")})
        jobs[row] += seen["per_s"]
    table.add(WITH, ratio=jobs[WITH] / jobs[WITHOUT])


def _start_with_dashboard(here: Stand, mirror_url: str) -> Running:
    """A service and its dashboard process."""
    running = here.start(UNPAID, COINSLOT_DASHBOARD_REDIS_URL=mirror_url)
    password = here.folder / "dashboard.password"
    password.write_text(secrets.token_urlsafe(18))
    settings = {
        **running.environment,
        "COINSLOT_DASHBOARD_PORT": str(claim_port(0)),
        "COINSLOT_DASHBOARD_PASSWORD_FILE": str(password),
    }
    named = (f"{name}={value}" for name, value in settings.items())
    here.spawn_command(UNPAID, "dashboard", ["env", *named, sys.executable, "-m", "ops.dashboard"])
    return running
