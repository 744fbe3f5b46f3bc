"""A ledger of three primaries, for tests. Each is a Redis Cluster of one node, which refuses a script whose keys are of two
slots: what works here has the keys of one bucket alone."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis

from compose.sandbox.child import Child, claim_port, spawn
from compose.sandbox.redis_server import find_redis
from tests.time_limits import patience

COUNT = 3
READY_WITHIN_S = patience(20.0)
_OPTIONS = (
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "yes",
    "--appendfsync",
    "no",
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "500",
)


class Primaries:
    """The servers' addresses in the order of COINSLOT_LEDGER_URL, and a client of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = [claim_port(0) for _ in range(COUNT)]
        self._buses = [claim_port(0) for _ in range(COUNT)]
        self._children: list[Child] = [self._spawned(number) for number in range(COUNT)]
        self.urls = [f"redis://127.0.0.1:{port}/0" for port in self._ports]
        self.clients = [redis.Redis.from_url(url) for url in self.urls]

    def await_ready(self) -> None:
        """Return when all take commands. A node does about two seconds after its start."""
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not all(map(_is_ready, self.clients)):
            assert time.monotonic() < give_up_at, "the ledger does not start"
            time.sleep(0.02)

    def kill(self, number: int) -> None:
        """One is gone."""
        self._children[number].process.kill()
        self._children[number].process.wait()

    def restart(self, number: int) -> None:
        """It comes back at the same place, with what it had."""
        self._children[number] = self._spawned(number)
        self.await_ready()

    def stop(self) -> None:
        """End all."""
        for client in self.clients:
            client.close()
        for number in range(COUNT):
            self.kill(number)

    def _spawned(self, number: int) -> Child:
        port, bus = self._ports[number], self._buses[number]
        own = self._folder / str(port)
        own.mkdir(exist_ok=True)
        place = ("--port", str(port), "--cluster-port", str(bus), "--dir", str(own))
        return spawn(f"ledger-{port}", [str(find_redis()), *place, *_OPTIONS], self._folder)


@contextlib.contextmanager
def three_primaries(folder: Path) -> Iterator[Primaries]:
    """Start them, and stop them at the end."""
    made = Primaries(folder)
    try:
        made.await_ready()
        yield made
    finally:
        made.stop()


def _is_ready(client: redis.Redis) -> bool:
    try:
        info: Any = client.execute_command("CLUSTER INFO")  # type: ignore[no-untyped-call]
        if info["cluster_slots_assigned"] == "0":
            client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)  # type: ignore[no-untyped-call]
        return bool(info["cluster_state"] == "ok")
    except redis.RedisError:
        return False
