"""The processes of a run, each on its host: a proxy, two API hosts and two of workers with a HAProxy each, a facilitator, the
queue, and for each primary of the ledger three hosts with a Sentinel each. Each can be killed and started again."""

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from compose.sandbox.child import ROOT, spawn
from compose.sandbox.redis_server import find_redis
from tests.chaos.hosts import network
from tests.chaos.hosts.ledgers import PORT as LEDGER_PORT
from tests.chaos.hosts.ledgers import Ledger
from tests.chaos.hosts.network import address, inside
from tests.chaos.probe import FOLDER
from tests.chaos.servers import READY_WITHIN_S, Service, answers

ROUTED = ("api-1", "api-2", "worker-1", "worker-2")
"""Hosts with a HAProxy of their own, which leads to the ledger's primary."""
SERVICES = (*ROUTED, "facilitator", "queue", "proxy")
PORT = 8080


class HostService(Service):
    """All processes of one run. Those of a ledger host are `ledger-1` and `sentinel-1`.

    Args:
        faults: share of the facilitator's calls that fail.
        replicas: COINSLOT_LEDGER_REPLICAS.
        primaries: how many COINSLOT_LEDGER_URL names: 1 or 2.
    """

    def __init__(self, folder: Path, *, seed: str, faults: float, replicas: int, primaries: int) -> None:
        self.ledgers = [Ledger(number) for number in range(primaries)]
        super().__init__(folder, seed=seed, faults=faults, names=SERVICES, settings={"LEDGER_REPLICAS": str(replicas)})

    @property
    def origins(self) -> list[str]:
        """Where callers send their requests: the proxy."""
        return [self.url("proxy")]

    @property
    def ledger_url(self) -> str:
        """What the API and the workers are told: the HAProxy of their own host, which has a port for each primary."""
        return ",".join(f"redis://{_routed(ledger)}/0" for ledger in self.ledgers)

    @property
    def queue_url(self) -> str:
        """The queue Redis."""
        return f"redis://{address('queue')}:{PORT}/0"

    def url(self, name: str) -> str:
        """Where a process speaks HTTP."""
        return f"http://{address(name)}:{PORT}"

    def start_all(self) -> None:
        """Return when a paid call would be taken."""
        hosts = [host for ledger in self.ledgers for host in ledger.hosts]
        for host in hosts:
            self.start(host)
        # A Sentinel asks a server for its replicas at once, and then after ten seconds.
        self._wait(lambda: all(ledger.followed() for ledger in self.ledgers), "no server leads")
        for host in hosts:
            self.start(host.replace("ledger", "sentinel"))
        # Before the Sentinels know all replicas they replace nobody.
        self.wait_whole()
        for host in ROUTED:
            for ledger in self.ledgers:
                self.start(f"route-{ledger.number}-{host}")
        for name in ("queue", "facilitator", *ROUTED, "proxy"):
            self.start(name)
        self.wait_ready()

    def start(self, name: str) -> None:
        """Start one process on its host."""
        self._starts += 1
        host, command = self._command(name)
        self._processes[name] = spawn(f"{self._starts:03}-{name}", inside(host, command), self.folder).process

    def wait_whole(self, *ledgers: Ledger) -> None:
        """Return when each of these primaries, or of all, has two replicas and three Sentinels that agree."""
        self._wait(lambda: all(ledger.is_whole() for ledger in ledgers or self.ledgers), "the ledger is not whole")

    def wait_ready(self) -> None:
        """Return when the ledger is whole, both API hosts are ready and every worker reads all its queues."""
        self.wait_whole()
        apis = [self.url(name) for name in SERVICES if name.startswith("api")]
        self._wait(lambda: all(answers(api + "/readyz") for api in apis), "an API is not ready")
        self._wait(lambda: self._living_workers() >= 2, "a worker does not read")

    def _wait(self, condition: Callable[[], bool], lack: str) -> None:
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not condition():
            ended = [name for name, process in self._processes.items() if process.poll() is not None]
            assert time.monotonic() < give_up_at, f"{lack}; ended: {ended}\n{self.logs()}"
            time.sleep(0.1)

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process."""
        os.kill(self._processes[name].pid, number)

    def _command(self, name: str) -> tuple[str, list[str]]:
        """The host of a process, and its command line."""
        kind, _, rest = name.partition("-")
        match kind:
            case "ledger":
                return name, self._ledger_of(name).server_command(name, self.folder / name)
            case "sentinel":
                host = f"ledger-{rest}"
                return host, self._ledger_of(host).sentinel_command(self.folder / name)
            case "route":
                number, _, host = rest.partition("-")
                ledger = self.ledgers[int(number)]
                servers = {
                    f"LEDGER_{place}": f"{address(server)}:{LEDGER_PORT}"
                    for place, server in enumerate(ledger.hosts, 1)
                }
                listening = {"LEDGER_ADDRESS": _routed(ledger)} if ledger.number else {}
                return host, _haproxy(ROOT / "compose" / "haproxy" / "ledger.cfg", {**servers, **listening})
            case "proxy":
                apis = {"API_1": f"{address('api-1')}:{PORT}", "API_2": f"{address('api-2')}:{PORT}"}
                return name, _haproxy(Path(__file__).with_name("proxy.cfg"), apis)
            case "queue":
                options = ("--bind", "*", "--protected-mode", "no", "--port", str(PORT), "--save", "")
                return name, [str(find_redis()), *options, "--dir", str(self.folder)]
        environment = {f"COINSLOT_{key}": value for key, value in self._settings(name).items()}
        named = (f"{key}={value}" for key, value in {**environment, FOLDER: str(self.folder)}.items())
        return name, ["env", *named, sys.executable, "-m", *self._program(name)]

    def _ledger_of(self, host: str) -> Ledger:
        return next(ledger for ledger in self.ledgers if host in ledger.hosts)

    def _settings(self, name: str) -> Mapping[str, str]:
        return {**super()._settings(name), "HOST": "0.0.0.0", "PORT": str(PORT)}

    def _listening(self, name: str) -> tuple[str, int]:
        return "0.0.0.0", PORT


def _routed(ledger: Ledger) -> str:
    """Where the HAProxy of a host leads to a primary."""
    return f"127.0.0.1:{4022 + 10 * ledger.number}"


def _haproxy(configuration: Path, environment: Mapping[str, str]) -> list[str]:
    return [
        "env",
        *(f"{name}={value}" for name, value in environment.items()),
        "haproxy",
        "-db",
        "-f",
        str(configuration),
    ]


@contextlib.contextmanager
def running_host_service(*, seed: str, faults: float, replicas: int, primaries: int) -> Iterator[HostService]:
    """The running servers. At the end all of them are stopped, and their files are removed."""
    network.make_hosts()
    with tempfile.TemporaryDirectory(prefix="coinslot-hosts-") as folder:
        made = HostService(Path(folder), seed=seed, faults=faults, replicas=replicas, primaries=primaries)
        try:
            made.start_all()
            yield made
        finally:
            made.stop()
