"""CPU time that the API process spends on one paid echo with 64 calls in flight, for one or more checkouts of this project:
`python -m tests.bench.bench_paid_cpu . /path/to/another/checkout`.

The checkouts are loaded in turn, so that a busy machine slows each of them down alike. Prints the medians of the rounds, and
their ratio to the first checkout. CPU time is read from /proc in nanoseconds; the load generator's own is not in it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from pathlib import Path

from compose.sandbox.child import Child
from tests.bench import proc
from tests.bench.payments import offered, write_payments
from tests.bench.stand import Stand, stand, status_of
from tests.bench.systems import PAID
from tests.bench.wrk import ECHO_BODY

IN_FLIGHT = 64
PATH = "/v1/cdp/echo"


class Caller(asyncio.Protocol):
    """One connection: sends its next paid call when the last one is answered, until no payment is left."""

    def __init__(self, payments: list[bytes], statuses: list[int]) -> None:
        self._payments = payments
        self._statuses = statuses
        self._seen = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head, found, body = self._seen.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(body) >= length:
            self._statuses.append(int(head[9:12]))
            self._seen = b""
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the API closed a connection"))

    def _send(self) -> None:
        if not self._payments:
            self.done.set_result(None)
            self._transport.close()
            return
        self._transport.write(
            b"POST %b HTTP/1.1\r\nhost: shop\r\ncontent-type: application/json\r\npayment-signature: %b\r\n"
            b"content-length: %d\r\n\r\n%b" % (PATH.encode(), self._payments.pop(), len(ECHO_BODY), ECHO_BODY.encode())
        )


async def pay(port: int, payments: list[bytes]) -> list[int]:
    """Make one call with each payment, IN_FLIGHT at a time. Returns the HTTP statuses."""
    statuses: list[int] = []
    loop = asyncio.get_running_loop()
    callers = [
        (await loop.create_connection(lambda: Caller(payments, statuses), "127.0.0.1", port))[1]
        for _ in range(IN_FLIGHT)
    ]
    await asyncio.gather(*(caller.done for caller in callers))
    return statuses


def cpu_s(pid: int) -> float:
    """CPU seconds of a process, its threads and its descendants."""
    tasks = (task for each in proc.family(pid) for task in Path(f"/proc/{each}/task").iterdir())
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def start(here: Stand, checkout: Path) -> tuple[Child, int]:
    """Start the API and the micro worker of a checkout. Returns the API's process and its port."""
    environment = here.new_environment()
    named = [f"{name}={value}" for name, value in environment.items()]
    python = ["env", "-C", str(checkout), f"PYTHONPATH={checkout}", *named, sys.executable, "-m"]
    micro = ["--queues", "micro", "--processes", "1", "--threads", "1"]
    here.spawn_command(PAID, "worker", [*python, "dramatiq", "workers.main:create_broker", *micro])
    return here.spawn_command(PAID, "api", [*python, "api"]), int(environment["BENCH_PORT"])


def main() -> None:
    """Print one line per checkout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=3_000, help="of one checkout in one round")
    chosen = parser.parse_args()
    microseconds: list[list[float]] = [[] for _ in chosen.checkouts]
    with stand() as here:
        here.start_facilitator()
        systems = [start(here, checkout.resolve()) for checkout in chosen.checkouts]
        for _, port in systems:
            while status_of(f"http://127.0.0.1:{port}{PATH}") != 402:
                pass
        for number in range(chosen.rounds + 1):
            for (api, port), found in zip(systems, microseconds, strict=True):
                file = here.folder / "payments"
                write_payments(file, offered(f"http://127.0.0.1:{port}{PATH}"), chosen.calls)
                payments = file.read_bytes().split()
                before = cpu_s(api.process.pid)
                statuses = asyncio.run(pay(port, payments))
                spent = cpu_s(api.process.pid) - before
                if set(statuses) != {200}:
                    raise AssertionError(f"not all calls were answered: {sorted(set(statuses))}")
                if number:  # the first round only warms up
                    found.append(spent / len(statuses) * 1e6)
    for checkout, found in zip(chosen.checkouts, microseconds, strict=True):
        ratio = statistics.median(mine / first for mine, first in zip(found, microseconds[0], strict=True))
        print(
            f"{checkout}: {statistics.median(found):.1f} us/call ({min(found):.1f}..{max(found):.1f}), "
            f"{ratio:.3f} of the first, round by round"
        )


if __name__ == "__main__":
    main()
