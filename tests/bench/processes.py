"""The servers of a section: two Redis as in production, and the systems' processes. None outlives the section."""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import redis

from compose.sandbox.child import ROOT, Child, claim_port, spawn
from compose.sandbox.redis_server import RedisServer, start_redis
from tests.bench import proc
from tests.bench.roles import PATH
from tests.bench.systems import System
from tests.bench.wrk import ECHO_BODY

VAR = ROOT / "var" / "bench"
RIVALS_PYTHON = ROOT / "var" / "bench-venv" / "bin" / "python"
PAY_TO = "0x1111111111111111111111111111111111111111"
FACILITATOR = System("facilitator", "facilitator", ("api",))
READY_WITHIN_S = 30.0
_DATABASES = 15
"""A Redis has 16, numbered from 0; that one is the ledger's."""


class Broken(Exception):
    """A system does not do what it is measured for."""


@cache
def absent(system: System) -> str | None:
    """Why a system cannot be measured here; None when it can."""
    if not system.path.exists():
        return f"{system.path.relative_to(ROOT)} is not there"
    if not system.packages:
        return None
    if not RIVALS_PYTHON.exists():
        return "the rivals' environment could not be made"
    command = [RIVALS_PYTHON, "-c", f"import {', '.join(system.packages)}"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return (tried.stderr.strip().splitlines() or ["it cannot be imported"])[-1] if tried.returncode else None


def command(system: System, role: str, environment: Mapping[str, str]) -> list[str]:
    """How one process of a system is started, from the project's folder."""
    python = sys.executable if system.is_ours else str(RIVALS_PYTHON)
    named = (f"{name}={value}" for name, value in environment.items())
    return ["env", *named, python, "-m", f"tests.bench.systems.{system.module}", role]


@dataclass(frozen=True, slots=True)
class Running:
    """The server processes of one system.

    Attributes:
        children: by role.
        environment: their variables, for more of them.
        origin: ``http://127.0.0.1:<port>``, for systems that speak HTTP.
    """

    system: System
    children: dict[str, Child]
    environment: dict[str, str]
    origin: str

    @property
    def echo_url(self) -> str:
        """What is called."""
        return self.origin + PATH

    def cpu_s(self) -> float:
        """CPU time that its processes have used."""
        return sum(proc.cpu_s(child.process.pid) for child in self.children.values())

    def wait_for(self, status: int, *, path: str = PATH, body: str = ECHO_BODY) -> None:
        """Return when its echo, or what else is asked, answers with this status.

        Raises:
            Broken: it does not within 30 s, or a process has ended.
        """
        give_up_at = time.monotonic() + READY_WITHIN_S
        while (seen := status_of(self.origin + path, body)) != status:
            for role, child in self.children.items():
                if child.process.poll() is not None:
                    raise Broken(f"{self.system.label}: its {role} ended: {child.log.read_text()[-2000:]}")
            if time.monotonic() > give_up_at:
                raise Broken(f"{self.system.label}: HTTP {seen} and not {status} after {READY_WITHIN_S:.0f} s")
            time.sleep(0.05)


@dataclass
class Servers:
    """The servers of one section. At first these are the two Redis."""

    folder: Path
    ledger: RedisServer
    queue: RedisServer
    facilitator_url: str = "http://127.0.0.1:9"
    _children: list[Child] = field(default_factory=list)
    _started: int = 0

    def start(self, system: System, *roles: str, **more: str) -> Running:
        """Start a system's processes, on a port and a queue database of their own.

        Args:
            roles: instead of all of them.
            more: of their environment.
        """
        environment = {**self._new_environment(), **more}
        redis.Redis.from_url(environment["BENCH_QUEUE_URL"]).flushdb()
        running = Running(system, {}, environment, f"http://127.0.0.1:{environment['BENCH_PORT']}")
        for role in roles or system.roles:
            running.children[role] = self.spawn(system, role, environment)
        return running

    def spawn(self, system: System, role: str, environment: Mapping[str, str]) -> Child:
        """Start one more process of a system."""
        name = f"{len(self._children):03}-{system.module}-{role}"
        child = spawn(name, command(system, role, environment), self.folder)
        self._children.append(child)
        return child

    def start_facilitator(self) -> None:
        """The facilitator that says yes at once, for the shops that are started afterwards."""
        facilitator = self.start(FACILITATOR)
        self.facilitator_url = facilitator.origin
        facilitator.wait_for(200)

    def redis_cpu_s(self) -> float:
        """CPU time of both Redis servers."""
        return proc.cpu_s(self.ledger.process.pid) + proc.cpu_s(self.queue.process.pid)

    def stop(self) -> None:
        """Tell all at once, then wait for each, and for Redis last."""
        for child in self._children:
            child.process.terminate()
        for child in (*self._children, self.ledger.child, self.queue.child):
            child.stop()

    def _new_environment(self) -> dict[str, str]:
        """For one system: its port and its queue database, and the addresses that all of them share."""
        port = str(claim_port(0))
        queue_url = f"{self.queue.url.removesuffix('/0')}/{1 + self._started % _DATABASES}"
        self._started += 1
        return {
            "BENCH_QUEUE_URL": queue_url,
            "BENCH_PORT": port,
            "BENCH_FACILITATOR_URL": self.facilitator_url,
            "BENCH_PAY_TO": PAY_TO,
            "COINSLOT_PORT": port,
            "COINSLOT_QUEUE_URL": queue_url,
            "COINSLOT_LEDGER_URL": self.ledger.url,
            "COINSLOT_RATE_LIMITS": "off",
            "COINSLOT_KEY_FILE": str(self.folder / "key"),
            "COINSLOT_EVM_PAY_TO": PAY_TO,
            "COINSLOT_EVM_FACILITATOR_URL": self.facilitator_url,
        }


@contextlib.contextmanager
def servers() -> Iterator[Servers]:
    """Run the servers of a section in a new folder, which is removed at the end. A failure leaves its logs in var/bench/failed.

    Its processes are scheduled as a service's are, also when whoever measures was started as a batch job.
    """
    if hasattr(os, "sched_setscheduler"):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    VAR.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="servers-", dir=VAR))
    try:
        (folder / "key").write_text(secrets.token_hex(32))
        with contextlib.ExitStack() as stack:
            ledger = start_redis("ledger", folder)
            stack.callback(ledger.stop)
            queue = start_redis("queue", folder)
            stack.callback(queue.stop)
            made = Servers(folder, ledger, queue)
            stack.callback(made.stop)
            yield made
    except Exception:
        shutil.rmtree(VAR / "failed", ignore_errors=True)
        shutil.copytree(folder / "sandbox" / "log", VAR / "failed")
        raise
    finally:
        shutil.rmtree(folder)


def status_of(url: str, body: str = ECHO_BODY) -> int:
    """HTTP status of one call; 0 when there is no answer."""
    request = urllib.request.Request(url, data=body.encode(), headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except OSError:
        return 0
