"""`python -m compose.serve` as a test sees it: its processes, its settings, its log, and a buyer of its calls."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from coinslot.buyer import Buyer
from coinslot.wallet import Wallet
from compose.procfile import PROCFILE, read_procfile
from compose.sandbox.child import ROOT, claim_port, tethered
from tests.time_limits import patience
from tests.whole_service import Service


def environment(**settings: str) -> dict[str, str]:
    """This process's environment with these settings of ours and no others."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")} | settings


def until(is_so: Callable[[], object], within_s: float = patience(60)) -> float:
    """Wait for it. Returns the seconds that it took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() < began + within_s
        time.sleep(0.02)
    return time.monotonic() - began


def until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait for a process that serves this port. It must not end before."""

    def listens() -> bool:
        assert process.poll() is None, "it has ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until(listens)


@contextlib.contextmanager
def another_api(
    service: Service, *, is_ready: Callable[[Any], bool] = lambda told: bool(told["ok"]), **settings: str
) -> Iterator[str]:
    """One more API process of a service, with these settings beside the service's own. Yields its origin.

    Args:
        is_ready: whether calls can begin, by what /readyz tells.
    """
    port = claim_port(0)
    own = dict(line.split("=", 1) for line in service.environment) | settings | {"COINSLOT_PORT": str(port)}
    origin = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None, "it has ended"
        try:
            return is_ready(httpx.get(f"{origin}/readyz").json())
        except httpx.TransportError:
            return False

    with subprocess.Popen([*tethered(), sys.executable, "-m", "api"], cwd=ROOT, env=environment(**own)) as process:
        try:
            until(answers)
            yield origin
        finally:
            process.kill()


def start_failing_worker(queue: str, log: Path, *options: str, **settings: str) -> subprocess.Popen[bytes]:
    """A worker of tests/e2e/failing_jobs.py, with these settings alone."""
    command = [sys.executable, "-m", "dramatiq", "tests.e2e.failing_jobs:create_broker", "--queues", queue]
    with log.open("wb") as output:
        return subprocess.Popen(
            [*tethered(), *command, "--processes", "1", *options],
            cwd=ROOT,
            env=environment(PYTHONPATH=str(ROOT), **settings),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


SMALL = PROCFILE.with_name("Procfile.small")


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the service, as /proc shows it."""

    pid: int
    parent: int
    command: str


class Running:
    """`python -m compose.serve` on a folder and a port of its own, with few processes.

    Args:
        without: pools that get no worker.
    """

    def __init__(self, var: Path, *arguments: str, without: tuple[str, ...] = (), **settings: str) -> None:
        self.var = var
        self.told: list[str] = []
        self.base_url = f"http://127.0.0.1:{claim_port(0)}"
        own = {"COINSLOT_PORT": self.base_url.rpartition(":")[2], "COINSLOT_VAR": str(var)}
        own |= {"COINSLOT_METRICS_PORT": str(claim_port(0)), "COINSLOT_RATE_LIMITS": "off"}  # one wallet pays for all
        procfile = var / "Procfile"
        procfile.write_text(_without(without))
        self.process = subprocess.Popen(
            [*tethered(), sys.executable, "-m", "compose.serve", "--procfile", str(procfile), *arguments],
            cwd=ROOT,
            env=environment(**own | settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_serving(self) -> None:
        """Read what it tells, to its last line."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.told.append(line)
            if line.startswith("stop"):
                return
        raise AssertionError(self.log())

    def processes(self) -> list[Process]:
        """All that carry this service's folder in their environment, and their descendants: none can hide from both."""
        mark = f"COINSLOT_VAR={self.var}\0".encode()
        found: dict[int, Process] = {}
        others: list[Process] = []
        for folder in Path("/proc").iterdir():
            try:
                if not folder.name.isdigit():
                    continue
                command = (folder / "cmdline").read_text().replace("\0", " ")
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                process = Process(int(folder.name), int(parent), command)
                is_marked = mark in (folder / "environ").read_bytes()
            except PermissionError:  # it cannot be traced, or is another user's
                is_marked = False
            except OSError:  # it has ended
                continue
            if is_marked:
                found[process.pid] = process
            else:
                others.append(process)
        while children := [one for one in others if one.parent in found and one.pid not in found]:
            found |= {one.pid: one for one in children}
        return list(found.values())

    def kept(self, everything: list[Process] | None = None) -> list[Process]:
        """The processes of the Procfile, of all that `processes` gives or has given."""
        everything = self.processes() if everything is None else everything
        keepers = {
            one.pid for one in everything if one.parent == self.process.pid and "compose.processes" in one.command
        }
        starting = ("compose.processes", "parent_watch.py")
        return [
            one for one in everything if one.parent in keepers and not any(part in one.command for part in starting)
        ]

    def is_whole(self) -> bool:
        """Every line runs as often as it should, each with its worker, but the exporter, which has none; nothing is orphaned;
        calls are taken."""
        if not self.is_ready():  # a look at all processes takes 50 times as long
            return False
        everything = self.processes()
        kept = self.kept(everything)
        pids, parents = {one.pid for one in everything}, {one.parent for one in everything}
        return (
            len(kept) == len(read_procfile(SMALL)) + 1
            and all(one.pid in parents for one in kept if "ops.exporter" not in one.command)
            and all(one.parent in pids for one in everything if one.pid != self.process.pid)
        )

    def refuses(self) -> bool:
        """Whether nobody listens."""
        try:
            socket.create_connection(("127.0.0.1", int(self.base_url.rpartition(":")[2])), timeout=5).close()
        except ConnectionRefusedError:
            return True
        return False

    def is_ready(self) -> bool:
        """What /readyz says."""
        try:
            with urllib.request.urlopen(f"{self.base_url}/readyz", timeout=patience(5)) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def setting(self, name: str) -> str:
        """One of those that the embedded servers made."""
        lines = (self.var / "sandbox.env").read_text().splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith(f"{name}="))

    @property
    def metrics_url(self) -> str:
        """As it is printed."""
        (url,) = (line.split()[1] for line in self.told if line.startswith("metrics"))
        return url

    def wallet(self) -> Wallet:
        """The sandbox's, on its EVM chain."""
        evm = json.loads((self.var / "sandbox.json").read_text())["evm"]
        return Wallet.evm(bytes.fromhex(evm["payerKey"].removeprefix("0x")))

    def buy(self, name: str, body: Any, **options: Any) -> Any:
        """The answer to one paid call."""
        with Buyer(self.base_url, self.wallet(), max_price=None, **options) as buyer:
            return json.loads(buyer.call(name, body).raw)

    def log(self) -> str:
        """What its processes said."""
        log = self.var / "service.log"
        return log.read_text() if log.exists() else ""

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Signal it; its exit code and what it said on stderr."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """When it ends by itself. What it said of the steps of its start is left out."""
        _, said = self.process.communicate(timeout=patience(60))
        lines = said.splitlines(keepends=True)
        return self.process.returncode, "".join(line for line in lines if not line.startswith("run: "))


def _without(pools: tuple[str, ...]) -> str:
    """The small Procfile, with nobody who does the work of some pools."""
    lines = []
    for line in SMALL.read_text().splitlines():
        if line.partition(":")[0] in {f"worker-{pool}" for pool in pools}:
            continue
        command, found, options = line.partition("--processes")
        words = [word for word in command.split() if word not in pools] if found else [command]
        lines.append(" ".join([*words, found + options]).rstrip())
    return "\n".join(lines)
