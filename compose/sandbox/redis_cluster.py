"""A Valkey Cluster on this machine, for tests: primaries with replicas, ready within some seconds. Each node can be killed,
stopped for a while and started again, and slots can be moved."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import redis

from compose.sandbox.child import Child, StartFailed, claim_port, spawn
from compose.sandbox.redis_server import find_redis

READY_WITHIN_S = 60.0
SLOTS = 16_384
OPTIONS = (
    *("--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"),
    *("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-allow-replica-migration", "no"),
    *("--slowlog-log-slower-than", "-1", "--repl-diskless-sync-delay", "0"),
)
"""As docs/scaling.md wants a node, beside its time limits and what its replicas must do. The delay is for fast starts alone."""


class RedisCluster:
    """Nodes by their number: first the primaries, then their first replicas, and so on. It is empty before `form`.

    Args:
        folder: for the nodes' files and logs.
        options: more of each node's.
        node_timeout_ms: after it a silent node counts as gone.
    """

    def __init__(self, folder: Path, *, node_timeout_ms: int = 1_000, options: Sequence[str] = ()) -> None:
        self._folder = folder
        self._options = ("--cluster-node-timeout", str(node_timeout_ms), *options)
        self._ports: list[tuple[int, int]] = []
        self._plain: set[int] = set()
        self._children: list[Child] = []
        self.clients: list[redis.Redis] = []

    @property
    def urls(self) -> list[str]:
        """Of all nodes."""
        return [f"redis://127.0.0.1:{port}" for port, _ in self._ports]

    def add(self, *, is_plain: bool = False) -> int:
        """Start a node that is in no cluster, or a server that can be in none. Returns its number."""
        number = len(self._ports)
        if is_plain:
            self._plain.add(number)
        self._ports.append((claim_port(0), claim_port(0)))
        self._children.append(self._spawned(number))
        self.clients.append(redis.Redis(port=self._ports[number][0], socket_timeout=5))
        until(lambda: self.ask(number, "PING"))
        return number

    def form(self, primaries: int, replicas: int) -> None:
        """Start so many nodes, and return when they are one cluster that takes writes, and each replica follows."""
        for _ in range(primaries * (1 + replicas)):
            self.add()
        for number in range(primaries):
            first, end = SLOTS * number // primaries, SLOTS * (number + 1) // primaries
            self.ask(number, "CLUSTER ADDSLOTSRANGE", first, end - 1)
            self.ask(number, "CLUSTER SET-CONFIG-EPOCH", number + 1)
        for number in range(1, len(self._ports)):
            self.meet(number)
        for number in range(primaries, len(self._ports)):
            self.follow(number, number % primaries)
        self.await_ready()

    def meet(self, number: int) -> None:
        """Let a node into the cluster of the first one, and return when all know it."""
        self.ask(0, "CLUSTER MEET", "127.0.0.1", *self._ports[number])
        nodes = range(number + 1)
        until(lambda: all(len(self._known(one)) == len(self._known(0)) > number for one in nodes))

    def follow(self, number: int, primary: int) -> None:
        """Make a node the replica of another one."""
        until(lambda: self.ask(number, "CLUSTER REPLICATE", self.id_of(primary)))

    def move(self, slot: int, source: int, target: int) -> None:
        """Move a slot with all its keys at once (Valkey 9)."""
        self.ask(source, "CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", self.id_of(target))
        until(lambda: self.has_slot(slot, target))

    def has_slot(self, slot: int, number: int) -> bool:
        """Whether a node says that it has a slot."""
        name = self.id_of(number)
        ranges: Any = self.ask(number, "CLUSTER SLOTS")
        return any(found[0] <= slot <= found[1] and found[2][2].decode() == name for found in ranges)

    def server_of(self, slot: int) -> int:
        """The primary that has a slot, as it says itself."""
        return next(number for number in range(len(self._ports)) if self.has_slot(slot, number))

    def await_ready(self) -> None:
        """Return when all nodes take commands and replicas follow."""
        until(lambda: all(map(self._is_ready, range(len(self._ports)))))

    def kill(self, number: int) -> None:
        """A node is gone."""
        self._children[number].process.kill()
        self._children[number].process.wait()

    def restart(self, number: int) -> None:
        """It comes back with what it had, as a node of a cluster."""
        self._plain.discard(number)
        self._children[number] = self._spawned(number)
        until(lambda: self.ask(number, "PING"))

    @contextlib.contextmanager
    def paused(self, number: int) -> Iterator[None]:
        """A node hangs."""
        self._children[number].process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._children[number].process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End all."""
        for client in self.clients:
            client.close()
        for number in range(len(self._children)):
            self.kill(number)

    def ask(self, number: int, *command: Any) -> Any:
        """Ask a node. Raises RedisError."""
        return self.clients[number].execute_command(*command)  # type: ignore[no-untyped-call]

    def id_of(self, number: int) -> str:
        """What the others call a node."""
        return str(self.ask(number, "CLUSTER MYID").decode())

    def _known(self, number: int) -> dict[str, Any]:
        nodes: dict[str, Any] = self.ask(number, "CLUSTER NODES")
        return {name: node for name, node in nodes.items() if "handshake" not in node["flags"]}

    def _is_ready(self, number: int) -> bool:
        replication: Any = self.clients[number].info("replication")
        follows = replication["role"] == "master" or replication["master_link_status"] == "up"
        return bool(follows and self.ask(number, "CLUSTER INFO")["cluster_state"] == "ok")

    def _spawned(self, number: int) -> Child:
        port, bus = self._ports[number]
        own = self._folder / str(port)
        own.mkdir(parents=True, exist_ok=True)
        place = ("--bind", "127.0.0.1", "--port", str(port), "--cluster-port", str(bus), "--dir", str(own))
        options = (*OPTIONS, *self._options, *(("--cluster-enabled", "no") if number in self._plain else ()))
        return spawn(f"ledger-{port}", [str(find_redis()), *place, *options], self._folder)


@contextlib.contextmanager
def redis_cluster(folder: Path, primaries: int, replicas: int, **more: Any) -> Iterator[RedisCluster]:
    """Start a cluster, and stop it at the end."""
    made = RedisCluster(folder, **more)
    try:
        made.form(primaries, replicas)
        yield made
    finally:
        made.stop()


def until(is_done: Callable[[], Any]) -> None:
    """Ask every 20 ms until it is so. A node that refuses or does not answer is asked again. Raises StartFailed."""
    give_up_at = time.monotonic() + READY_WITHIN_S
    why: object = "it does not come"
    while time.monotonic() < give_up_at:
        try:
            if is_done():
                return
        except redis.RedisError as error:
            why = error
        time.sleep(0.02)
    raise StartFailed(f"the cluster is not as it was to become: {why}")
