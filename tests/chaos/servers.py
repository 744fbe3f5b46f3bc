"""The servers of a run: three Redis, two API processes, two workers, a faulty facilitator. Each can be killed and restarted;
the Redis servers are started again by their keeper, as those of `scripts/run` are."""

import contextlib
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import redis

from compose.sandbox.child import StartFailed, claim_port, spawn
from compose.sandbox.kept_redis import KeptRedis
from compose.sandbox.redis_server import RedisServer, Role, start_redis
from shared.queue.streams import GROUP, stream_key
from tests.bench import proc
from tests.chaos.caller import PAY_TO
from tests.chaos.forking_parent import ForkRequest
from tests.chaos.forks import Forked, Forks
from tests.chaos.probe import FOLDER
from tests.chaos.shop import CATALOGUES, SHOP
from tests.time_limits import patience

NAMES = ("api-1", "api-2", "worker-1", "worker-2", "facilitator", "ledger", "queue", "mirror")
LISTER = "lister"
"""Another facilitator on the same chain. With it, many payments go there."""
KEPT: tuple[Role, ...] = ("ledger", "queue", "mirror")
SETTLE_TIMEOUT_S = 1.0
READY_WITHIN_S = patience(90.0)
_PORTS = range(20_000, 32_768)


class Service:
    """All processes of one run, each at a port that its successors take.

    Where there is an API, what is started in Python is forked by tests/chaos/forking_parent.py: executing it takes two CPU
    seconds.

    Args:
        faults: share of the facilitator's calls that fail.
        names: which of NAMES there are, and LISTER.
        is_observing_apart: observations are on a Redis of their own, which nobody kills.
        shop: what is sold, a key of tests.chaos.shop.CATALOGUES.
        settings: more COINSLOT_ settings of the API processes and the workers.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: str = "0",
        faults: float = 0.0,
        names: tuple[str, ...] = NAMES,
        is_observing_apart: bool = False,
        shop: str = "probe",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.names = names
        self._faults, self._seed = faults, seed
        self._shop, self._more = shop, settings or {}
        self._ports = {name: own_port() for name in (*NAMES, LISTER)}
        self._processes: dict[str, subprocess.Popen[bytes] | Forked] = {}
        self._forks: Forks | None = None
        self._kept: dict[str, KeptRedis] = {}
        self._killed: dict[str, RedisServer] = {}
        self._starts = 0
        self.observation_url = ""
        if is_observing_apart:
            own = start_redis("queue", folder / "observations")
            self._processes["observations"], self.observation_url = own.process, own.url
        (folder / "key").write_text(secrets.token_hex(32))

    @property
    def origins(self) -> list[str]:
        """Of the API processes."""
        return [self.url(name) for name in self.names if name.startswith("api")]

    @property
    def ledger_url(self) -> str:
        """The ledger Redis."""
        return f"redis://127.0.0.1:{self._ports['ledger']}/0"

    @property
    def queue_url(self) -> str:
        """The queue Redis."""
        return f"redis://127.0.0.1:{self._ports['queue']}/0"

    def url(self, name: str) -> str:
        """Where a process speaks HTTP."""
        return f"http://127.0.0.1:{self._ports[name]}"

    def start_all(self) -> None:
        """Return when a paid call would be taken."""
        if self.origins:  # loading what these processes need takes longer than executing the facilitator once
            self._forks = Forks({SHOP: self._shop})
        for name in sorted(self.names, key=lambda name: name not in KEPT):
            self.start(name)
        self.wait_ready()

    def start(self, name: str) -> None:
        """Start one process; of a Redis, return when it answers, whose keeper starts it again."""
        self._starts += 1
        for role in KEPT:
            if name == role:
                self._start_kept(role)
                return
        environment = {f"COINSLOT_{key}": value for key, value in self._settings(name).items()}
        environment |= {FOLDER: str(self.folder)}
        module, *arguments = self._program(name)
        called = f"{self._starts:03}-{name}"
        if self._forks is None:
            named = (f"{key}={value}" for key, value in environment.items())
            command = ["env", *named, sys.executable, "-m", module, *arguments]
            self._processes[name] = spawn(called, command, self.folder).process
        else:
            log = str(self.folder / "sandbox" / "log" / f"{called}.log")
            request = ForkRequest(module, environment, log, arguments=tuple(arguments), namespace=self._namespace(name))
            self._processes[name] = Forked(self._forks.fork(request))

    def kill(self, name: str) -> None:
        """SIGKILL, for it and all that it has started."""
        if name in self._kept:
            self._killed[name] = server = self._kept[name].server
            server.process.kill()
            server.process.wait()
            return
        process = self._processes[name]
        if process.poll() is not None:
            return  # its pid may be another's by now
        for pid in proc.family(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def _start_kept(self, role: Role) -> None:
        if role not in self._kept:
            self._kept[role] = KeptRedis(role, self.folder, self._ports[role])
        give_up_at = time.monotonic() + READY_WITHIN_S
        while self._kept[role].server is self._killed.get(role):
            assert time.monotonic() < give_up_at, f"{role} was not started again\n{self.logs()}"
            time.sleep(0.02)

    def pid(self, name: str) -> int:
        """Of its first process."""
        return self._processes[name].pid

    def wait_ended(self, name: str) -> None:
        """Return when its first process has ended."""
        self._processes[name].wait()

    def is_alive(self, name: str) -> bool:
        """Whether its process runs."""
        process = self._kept[name].server.process if name in self._kept else self._processes[name]
        return process.poll() is None

    def wait_ready(self) -> None:
        """Return when the API answers, the facilitator answers and every worker reads all its queues."""
        workers = sum(name.startswith("worker") for name in self.names)
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not (
            all(answers(origin + "/healthz") for origin in self.origins)
            and all(answers(self.url(name) + "/supported") for name in ("facilitator", LISTER) if name in self.names)
            and self._living_workers() >= workers
        ):
            ended = [name for name in self.names if not self.is_alive(name)]
            if ended or time.monotonic() > give_up_at:
                raise AssertionError(f"not ready; ended: {ended}\n{self.logs()}")
            time.sleep(0.05)

    def control(self, **orders: Any) -> None:
        """Set how the facilitators' calls go."""
        for name in {"facilitator", LISTER}.intersection(self.names):
            request = urllib.request.Request(self.url(name) + "/control", data=msgspec.json.encode(orders))
            urllib.request.urlopen(request, timeout=5).close()

    def logs(self) -> str:
        """The last words of every process."""
        logs = sorted((self.folder / "sandbox" / "log").glob("*.log"))
        return "\n".join(f"--- {log.stem}\n{log.read_text(errors='replace')[-1500:]}" for log in logs)

    def stop(self) -> None:
        """Nothing is worth an orderly end here."""
        for name in self._processes:
            self.kill(name)
        for kept in self._kept.values():
            kept.stop()
        if self._forks is not None:
            self._forks.close()

    def _living_workers(self) -> int:
        with redis.Redis.from_url(self.queue_url) as queue:
            try:
                consumers: list[Any] = [
                    queue.xinfo_consumers(stream_key(pool), GROUP)
                    for pool in {endpoint.pool for endpoint in CATALOGUES[self._shop]}
                ]
            except redis.RedisError:  # no worker has been there yet
                return 0
        return min(sum(int(consumer["idle"] < 1_000) for consumer in those) for those in consumers)

    def _program(self, name: str) -> list[str]:
        """What `python -m` is to run: a module and its arguments."""
        if name not in ("facilitator", LISTER):
            return ["tests.chaos.shop", name.partition("-")[0]]
        host, port = self._listening(name)
        seed, log = (
            (f"{self._seed} {LISTER}", f"settles-{LISTER}.jsonl") if name == LISTER else (self._seed, "settles.jsonl")
        )
        options = ("--host", host, "--port", str(port), "--folder", str(self.folder), "--seed", seed, "--log", log)
        return ["tests.chaos.facilitator", *options, "--faults", str(self._faults)]

    def _namespace(self, name: str) -> str:
        """The file of the network namespace that a process lives in; empty for ours."""
        return ""

    def _listening(self, name: str) -> tuple[str, int]:
        return "127.0.0.1", self._ports[name]

    def _settings(self, name: str) -> Mapping[str, str]:
        return {
            "PORT": str(self._ports[name]),
            "BASE_URL": "http://shop.test",
            "LEDGER_URL": self.ledger_url,
            "QUEUE_URL": self.queue_url,
            "KEY_FILE": str(self.folder / "key"),
            "EVM_PAY_TO": PAY_TO,
            "EVM_FACILITATOR_URL": self.url("facilitator"),
            "EVM_LISTING_FACILITATOR_URL": self.url(LISTER) if LISTER in self.names else "",
            "SETTLE_TIMEOUT_S": str(SETTLE_TIMEOUT_S),
            "RATE_LIMITS": "off",
            "OBSERVATION_URL": self.observation_url,
            "DASHBOARD_REDIS_URL": f"redis://127.0.0.1:{self._ports['mirror']}/0" if "mirror" in self.names else "",
            **self._more,
        }


@contextlib.contextmanager
def running_service(**options: Any) -> Iterator[Service]:
    """The running servers. At the end all of them are stopped, and their files are removed."""
    with tempfile.TemporaryDirectory(prefix="coinslot-chaos-") as folder:
        made = Service(Path(folder), **options)
        try:
            made.start_all()
            yield made
        finally:
            made.stop()


def own_port() -> int:
    """A port that stays free while its process is dead: none that the kernel gives to outgoing connections, and none that was
    given here to another process of the tests."""
    for port in random.sample(_PORTS, 100):
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0coinslot-port-{port}")
            claim_port(port)
        except (OSError, StartFailed):
            name.close()
        else:
            name.detach()  # it is kept until this process ends
            return port
    raise AssertionError("no port is free")


def answers(url: str) -> bool:
    """Whether an address answers with 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
