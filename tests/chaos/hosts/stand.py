"""The processes of a run, each on its host: a proxy, two API hosts and two of workers with a HAProxy each, a facilitator, the
queue, and three hosts of the ledger with a Sentinel each. Each can be killed and started again."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from compose.sandbox.child import ROOT, spawn
from compose.sandbox.redis_server import find_redis
from tests.chaos.hosts import ledgers, network
from tests.chaos.hosts.network import address, inside
from tests.chaos.probe import FOLDER
from tests.chaos.stand import READY_WITHIN_S, Stand, answers

ROUTED = ("api-1", "api-2", "worker-1", "worker-2")
"""Hosts with a HAProxy of their own, which leads to the ledger's primary."""
SERVICES = (*ROUTED, "facilitator", "queue", "proxy")
PORT = 8080


class HostStand(Stand):
    """All processes of one run. Those of a ledger host are `ledger-1` and `sentinel-1`.

    Args:
        faults: share of the facilitator's calls that fail.
        replicas: COINSLOT_LEDGER_REPLICAS.
    """

    def __init__(self, folder: Path, *, seed: str, faults: float, replicas: int) -> None:
        super().__init__(folder, seed=seed, faults=faults, names=SERVICES, settings={"LEDGER_REPLICAS": str(replicas)})

    @property
    def origins(self) -> list[str]:
        """Where callers send their requests: the proxy."""
        return [self.url("proxy")]

    @property
    def ledger_url(self) -> str:
        """What the API and the workers are told: the HAProxy of their own host."""
        return "redis://127.0.0.1:4022/0"

    @property
    def queue_url(self) -> str:
        """The queue Redis."""
        return f"redis://{address('queue')}:{PORT}/0"

    def url(self, name: str) -> str:
        """Where a process speaks HTTP."""
        return f"http://{address(name)}:{PORT}"

    def start_all(self) -> None:
        """Return when a paid call would be taken."""
        for host in ledgers.SERVERS:
            self.start(host)
        # A Sentinel asks a server for its replicas at once, and then after ten seconds.
        self._wait(lambda: ledgers.followed() is not None, "no server leads")
        for host in ledgers.SERVERS:
            self.start(host.replace("ledger", "sentinel"))
        # Before the Sentinels know all replicas they replace nobody.
        self.wait_whole()
        for host in ROUTED:
            self.start(f"route-{host}")
        for name in ("queue", "facilitator", *ROUTED, "proxy"):
            self.start(name)
        self.wait_ready()

    def start(self, name: str) -> None:
        """Start one process on its host."""
        self._starts += 1
        host, command = self._command(name)
        self._children[name] = spawn(f"{self._starts:03}-{name}", inside(host, command), self.folder)

    def wait_whole(self) -> None:
        """Return when the ledger has one primary, two replicas and three Sentinels that agree."""
        self._wait(ledgers.is_whole, "the ledger is not whole")

    def wait_ready(self) -> None:
        """Return when the ledger is whole, both API hosts are ready and every worker reads all its queues."""
        self.wait_whole()
        apis = [self.url(name) for name in SERVICES if name.startswith("api")]
        self._wait(lambda: all(answers(api + "/readyz") for api in apis), "an API is not ready")
        self._wait(lambda: self._living_workers() >= 2, "a worker does not read")

    def _wait(self, condition: Callable[[], bool], lack: str) -> None:
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not condition():
            ended = [name for name, child in self._children.items() if child.process.poll() is not None]
            assert time.monotonic() < give_up_at, f"{lack}; ended: {ended}\n{self.logs()}"
            time.sleep(0.1)

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process."""
        self._children[name].process.send_signal(number)

    def _command(self, name: str) -> tuple[str, list[str]]:
        """The host of a process, and its command line."""
        kind, _, rest = name.partition("-")
        match kind:
            case "ledger":
                return name, ledgers.server_command(name, self.folder / name)
            case "sentinel":
                return f"ledger-{rest}", ledgers.sentinel_command(self.folder / name)
            case "route":
                servers = {f"LEDGER_{host[-1]}": f"{address(host)}:{ledgers.PORT}" for host in ledgers.SERVERS}
                return rest, _haproxy(ROOT / "compose" / "haproxy" / "ledger.cfg", servers)
            case "proxy":
                apis = {"API_1": f"{address('api-1')}:{PORT}", "API_2": f"{address('api-2')}:{PORT}"}
                return name, _haproxy(Path(__file__).with_name("proxy.cfg"), apis)
            case "queue":
                options = ("--bind", "*", "--protected-mode", "no", "--port", str(PORT), "--save", "")
                return name, [str(find_redis()), *options, "--dir", str(self.folder)]
        environment = {f"COINSLOT_{key}": value for key, value in self._settings(name).items()}
        named = (f"{key}={value}" for key, value in {**environment, FOLDER: str(self.folder)}.items())
        return name, ["env", *named, *self._python(name)]

    def _settings(self, name: str) -> Mapping[str, str]:
        return {**super()._settings(name), "HOST": "0.0.0.0", "PORT": str(PORT)}

    def _listening(self, name: str) -> tuple[str, int]:
        return "0.0.0.0", PORT


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
def host_stand(*, seed: str, faults: float, replicas: int) -> Iterator[HostStand]:
    """A running stand, of which nothing is left."""
    network.make_hosts()
    with tempfile.TemporaryDirectory(prefix="coinslot-hosts-") as folder:
        made = HostStand(Path(folder), seed=seed, faults=faults, replicas=replicas)
        try:
            made.start_all()
            yield made
        finally:
            made.stop()
