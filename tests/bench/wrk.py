"""The load generator: `wrk`, one thread in C, about 3 us a request of its own, so that two cores are left to what is measured.

By itself it sends the same request again and again, and counts latencies that nobody had; wrk.lua mends both.
"""

import contextlib
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compose.sandbox.child import ROOT, tethered

SCRIPT = Path(__file__).with_name("wrk.lua")
BODIES = ROOT / "var" / "bench" / "bodies"
PAYMENTS_USED_UP = 3
ECHO_BODY = json.dumps({"message": "x" * 200})


class LoadFailed(Exception):
    """wrk could not do its work, or too few of its calls were answered as they should be."""


class PaymentsUsedUp(Exception):
    """The system was faster than there were payments for."""


@dataclass(frozen=True, slots=True)
class Load:
    """What one run of wrk saw.

    Attributes:
        failed: calls with another status than the expected one, or without an answer.
    """

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    failed: int

    @property
    def per_s(self) -> float:
        """Answers a second."""
        return self.requests / self.seconds


def load(
    url: str,
    *,
    in_flight: int,
    seconds: int,
    payments: Path | None = None,
    unpaid: bool = False,
    most_failed: float = 0.01,
) -> Load:
    """POST as fast as answers come.

    Args:
        in_flight: connections; each sends its next call when the last one is answered.
        payments: a file with one payment header a line, each of which is sent once.
        unpaid: 402 is what is expected.
        most_failed: the share of calls that may fail.

    Raises:
        LoadFailed: more failed.
        PaymentsUsedUp: there were too few.
    """
    command = _command(url, in_flight=in_flight, seconds=seconds)
    environment = _environment(ECHO_BODY, in_flight, payments)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, start_new_session=True)
    if done.returncode == PAYMENTS_USED_UP:
        raise PaymentsUsedUp
    if done.returncode:
        raise LoadFailed(f"wrk: {done.stderr.strip() or done.stdout.strip()}")
    seen = json.loads(done.stdout.splitlines()[-1])
    if not seen["requests"]:
        raise LoadFailed(f"{url} answered nothing within {seconds} s")
    if seen["latencies"] != seen["requests"]:
        raise LoadFailed("this wrk corrects latencies in another way than wrk.lua knows")
    refused = seen["requests"] - seen["statuses"] if unpaid else seen["statuses"]
    if refused + seen["broken"] > seen["requests"] * most_failed:
        raise LoadFailed(f"{url}: {refused} calls of {seen['requests']} refused, {seen['broken']} broken")
    return Load(
        requests=seen["requests"],
        seconds=seen["duration_us"] / 1e6,
        p50_ms=seen["p50_us"] / 1e3,
        p99_ms=seen["p99_us"] / 1e3,
        failed=refused + seen["broken"],
    )


@contextlib.contextmanager
def background(url: str, *, in_flight: int, body: str, pause_s: float = 0, wallets: int = 0) -> Iterator[None]:
    """Keep `in_flight` callers calling for as long as the context lasts.

    Args:
        pause_s: of a caller before each call. Those that are refused at once are a flood without one.
        wallets: that call in turns, in the header X-Wallet.
    """
    process = subprocess.Popen(
        _command(url, in_flight=in_flight, seconds=3600),
        env=_environment(body, in_flight, None)
        | {"BENCH_PAUSE_MS": str(int(pause_s * 1000)), "BENCH_WALLETS": str(wallets)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
        if process.poll() is not None:
            raise LoadFailed(f"the load on {url} ended by itself")
    finally:
        process.kill()
        process.wait()


def _command(url: str, *, in_flight: int, seconds: int) -> list[str]:
    options = ("--threads", "1", "--connections", str(in_flight), "--duration", f"{seconds}s", "--timeout", "30s")
    return [*tethered(), "wrk", *options, "--script", str(SCRIPT), url]


def _body_file(body: str) -> Path:
    """Named by its content. An environment takes no more than 128 KB."""
    path = BODIES / f"{hashlib.sha256(body.encode()).hexdigest()}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body)
    return path


def _environment(body: str, in_flight: int, payments: Path | None) -> dict[str, str]:
    named = {"BENCH_BODY": str(_body_file(body)), "BENCH_IN_FLIGHT": str(in_flight)}
    return {**os.environ, **named, **({"BENCH_PAYMENTS": str(payments)} if payments else {})}
