"""What echo's callers notice of hostile calls: `python tests/bench/bench_hostile.py [rounds]`.

Prints p99 of echoes, one after the other: alone, and beside two callers who send one kind of hostile input again and again.
The echoes are real ones, each paid (the facilitator says yes at once). The hostile calls are not charged: paying costs more
than they do, and would slow their senders down.
"""

from __future__ import annotations

import json
import statistics
import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from shared.endpoint import PATH_PREFIX
from tests.bench.payments import offered, write_payments
from tests.bench.processes import Running, stand
from tests.bench.systems import UNPAID
from tests.bench.wrk import Load, background, load
from tests.e2e.test_hostile_calls import HOSTILE

SECONDS = 2
MOST_PER_S = 1_500
HOSTILE_CALLERS = 2
BAR = 2.0


def main(rounds: int = 5) -> None:
    """Print the table."""
    with stand() as here:
        here.start_facilitator()
        running = here.start(UNPAID)
        here.spawn(UNPAID, "fast_worker", running.environment)
        running.wait_for(200)
        payments = here.folder / "payments"
        _echo(running, payments)
        print(
            f"echo's p99 beside two hostile callers, median of {rounds} pairs; the bar is {BAR:.1f} times its p99 alone"
        )
        for name, body in HOSTILE:
            alone, beside = zip(*(_pair(running, payments, name, body) for _ in range(rounds)), strict=True)
            ratio = statistics.median(b.p99_ms / a.p99_ms for a, b in zip(alone, beside, strict=True))
            print(
                f"{ratio:5.2f} x  {statistics.median(a.p99_ms for a in alone):5.2f} to"
                f" {statistics.median(b.p99_ms for b in beside):5.2f} ms"
                f"  (p50 {statistics.median(a.p50_ms for a in alone):.2f} to"
                f" {statistics.median(b.p50_ms for b in beside):.2f})  {name} {json.dumps(body)[:50]}",
                flush=True,
            )


def _pair(running: Running, payments: Path, name: str, body: dict[str, Any]) -> tuple[Load, Load]:
    alone = _echo(running, payments)
    url, content = running.origin + PATH_PREFIX + name, json.dumps(body)
    # The first answer is there, and right, before anything is measured.
    request = urllib.request.Request(url, content.encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()
    with background(url, in_flight=HOSTILE_CALLERS, body=content):
        return alone, _echo(running, payments)


def _echo(running: Running, payments: Path) -> Load:
    write_payments(payments, offered(running.echo_url, "GET"), MOST_PER_S * SECONDS)
    return load(running.echo_url, in_flight=1, seconds=SECONDS, payments=payments)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
