"""What a caller of echo notices while one address keeps thousands of connections open and says nothing:
`python tests/bench/bench_idle_connections.py [rounds]`. Nobody pays.
"""

from __future__ import annotations

import resource
import socket
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.stand import Running, stand
from tests.bench.systems import UNPAID
from tests.bench.wrk import Load, load

IDLE = (1_000, 3_000, 10_000)
SECONDS = 4
IN_FLIGHT = (1, 16)


def main(rounds: int = 5) -> None:
    """Print the table: medians of the rounds. Each compares with a measurement just before."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with stand() as here:
        running = here.start(UNPAID)
        running.wait_for(200)
        for in_flight in IN_FLIGHT:
            _load(running, in_flight)
            for count in IDLE:
                pairs = [(_load(running, in_flight), _beside(running, in_flight, count)) for _ in range(rounds)]
                alone, beside = ([pair[side].p99_ms for pair in pairs] for side in (0, 1))
                ratio = statistics.median(b / a for a, b in zip(alone, beside, strict=True))
                print(
                    f"{in_flight:2} in flight, {count:6,} idle: p99 alone {statistics.median(alone):.2f} ms, "
                    f"beside {statistics.median(beside):.2f} ms, {ratio:.2f} x",
                    flush=True,
                )


def _beside(running: Running, in_flight: int, count: int) -> Load:
    address = urlsplit(running.origin)
    assert address.hostname is not None
    assert address.port is not None
    with ExitStack() as idle:
        for _ in range(count):
            idle.enter_context(socket.create_connection((address.hostname, address.port), timeout=10))
        time.sleep(1)  # the last of them are accepted
        return _load(running, in_flight)


def _load(running: Running, in_flight: int) -> Load:
    return load(running.echo_url, in_flight=in_flight, seconds=SECONDS)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
