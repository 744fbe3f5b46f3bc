"""The processes of a run, each on its host: two APIs, two workers, a facilitator, the queue, and the servers of the ledger's
shards. Each can be killed and started again."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from compose.sandbox.child import spawn
from compose.sandbox.redis_server import find_redis
from tests.chaos.cluster import network
from tests.chaos.cluster.ledger import COPIES, Ledger
from tests.chaos.cluster.network import address, inside
from tests.chaos.cluster.server import Server
from tests.chaos.forks import Forks
from tests.chaos.servers import READY_WITHIN_S, Service, answers
from tests.chaos.shop import SHOP

HTTP_PORT, PORT, BUS_PORT = 8080, 6379, 16379
SHARDS = 3


class ClusterService(Service):
    """All processes of one run. Those of the ledger are called as their servers are.

    Args:
        faults: share of the facilitator's calls that fail.
        replicas: COINSLOT_LEDGER_REPLICAS.
        hosts: of the ledger. With 3, each has one server of every shard; with 9, each has one server.
    """

    def __init__(self, folder: Path, *, seed: str, faults: float, replicas: int, hosts: int) -> None:
        self._ledger_hosts = network.LEDGERS[:hosts]
        self.ledger = Ledger([self._server(shard, copy) for shard in range(SHARDS) for copy in range(COPIES)])
        names = network.SERVICES
        super().__init__(folder, seed=seed, faults=faults, names=names, settings={"LEDGER_REPLICAS": str(replicas)})
        self._seeds = self.ledger.url
        self._shards = SHARDS

    @property
    def ledger_url(self) -> str:
        """What the API and the workers are told: the servers of the beginning, whatever becomes of them."""
        return self._seeds

    @property
    def queue_url(self) -> str:
        """The queue Redis."""
        return f"redis://{address('queue')}:{HTTP_PORT}/0"

    def url(self, name: str) -> str:
        """Where a process speaks HTTP."""
        return f"http://{address(name)}:{HTTP_PORT}"

    def start_all(self) -> None:
        """Return when a paid call would be taken."""
        self.start_forks()
        for server in self.ledger.servers:
            self.start_server(server)
        self.ledger.form()
        for name in self.names:
            self.start(name)
        self.wait_ready()

    def start_forks(self) -> None:
        """What forks the processes that are Python's."""
        self._forks = Forks({SHOP: self._shop})

    def start(self, name: str) -> None:
        """Start one process on its host."""
        if name != "queue":
            super().start(name)
            return
        options = ("--bind", "*", "--protected-mode", "no", "--port", str(HTTP_PORT), "--save", "")
        self.spawn_on(name, name, [str(find_redis()), *options, "--dir", str(self.folder)])

    def start_server(self, server: Server) -> None:
        """Start a server of the ledger, with what it has on its disk."""
        self.spawn_on(server.host, server.name, server.command(self.folder / server.name))

    def spawn_on(self, host: str, name: str, command: Sequence[str]) -> None:
        """Start a process on a host."""
        self._starts += 1
        self._processes[name] = spawn(f"{self._starts:03}-{name}", inside(host, command), self.folder).process

    def another_shard(self) -> list[Server]:
        """Start the servers of a shard that the cluster does not know."""
        self._shards += 1  # not the address of a former one: gossip of that may not have ended
        servers = [self._server(self._shards - 1, copy) for copy in range(COPIES)]
        for server in servers:
            self.start_server(server)
        return servers

    def remove(self, servers: list[Server]) -> None:
        """End servers of the ledger for good."""
        for server in servers:
            self.kill(server.name)
            self._processes.pop(server.name)
        self.ledger.leave(servers)
        for server in servers:
            shutil.rmtree(self.folder / server.name)

    def wait_ready(self) -> None:
        """Return when the ledger is whole, and calls are taken."""
        self.ledger.wait_whole()
        self.wait_selling()

    def wait_selling(self) -> None:
        """Return when both APIs are ready and every worker reads all its queues."""
        apis = [self.url(name) for name in self.names if name.startswith("api")]
        self._wait(lambda: all(answers(api + "/readyz") for api in apis), "an API is not ready")
        self._wait(lambda: answers(self.url("facilitator") + "/supported"), "the facilitator does not answer")
        self._wait(lambda: self._living_workers() >= 2, "a worker does not read")

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process."""
        os.kill(self._processes[name].pid, number)

    def _wait(self, condition: Callable[[], bool], lack: str) -> None:
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not condition():
            ended = [name for name, process in self._processes.items() if process.poll() is not None]
            assert time.monotonic() < give_up_at, f"{lack}; ended: {ended}\n{self.logs()}"
            time.sleep(0.1)

    def _server(self, shard: int, copy: int) -> Server:
        """Of a shard's copies no two are on one host, and the primaries of the beginning are on three."""
        hosts = self._ledger_hosts
        host = hosts[(shard + copy * len(hosts) // COPIES) % len(hosts)]
        return Server(shard, copy, address(host), PORT + shard, BUS_PORT + shard, host)

    def _settings(self, name: str) -> Mapping[str, str]:
        return {**super()._settings(name), "HOST": "0.0.0.0", "PORT": str(HTTP_PORT)}

    def _listening(self, name: str) -> tuple[str, int]:
        return "0.0.0.0", HTTP_PORT

    def _namespace(self, name: str) -> str:
        return str(network.namespace(name))


@contextlib.contextmanager
def running_cluster(*, seed: str, faults: float, replicas: int, hosts: int) -> Iterator[ClusterService]:
    """The running servers. At the end all of them are stopped, and their files are removed."""
    network.make_hosts()
    with tempfile.TemporaryDirectory(prefix="coinslot-cluster-") as folder:
        made = ClusterService(Path(folder), seed=seed, faults=faults, replicas=replicas, hosts=hosts)
        try:
            made.start_all()
            yield made
        finally:
            made.stop()
