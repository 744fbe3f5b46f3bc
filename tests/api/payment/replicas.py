"""A ledger with one replica, for tests: two servers, of which each can be stopped for a while."""

import contextlib
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import redis

from compose.sandbox.child import Child, claim_port, spawn
from compose.sandbox.redis_server import find_redis

ONLINE_WITHIN_S = 20.0


@dataclass(frozen=True)
class ReplicatedLedger:
    """Both servers' addresses, and the replica's process."""

    url: str
    replica_url: str
    replica: Child

    @contextlib.contextmanager
    def paused_replica(self) -> Iterator[None]:
        """The replica hangs."""
        self.replica.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.replica.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def replicated_ledger(folder: Path) -> Iterator[ReplicatedLedger]:
    """Start both, and return when the replica follows."""
    ports = [claim_port(0), claim_port(0)]
    options = ("--bind", "127.0.0.1", "--save", "", "--repl-diskless-sync-delay", "0")
    children = []
    for port, more in zip(ports, ((), ("--replicaof", f"127.0.0.1 {ports[0]}")), strict=True):
        own = folder / str(port)
        own.mkdir()
        files = ("--dir", str(own), "--appendonly", "yes", "--appendfsync", "always")
        children.append(
            spawn(f"ledger-{port}", [str(find_redis()), "--port", str(port), *options, *files, *more], folder)
        )
    url, replica_url = (f"redis://127.0.0.1:{port}/0" for port in ports)
    try:
        with redis.Redis.from_url(url) as primary:
            give_up_at = time.monotonic() + ONLINE_WITHIN_S
            while not _is_followed(primary):
                assert time.monotonic() < give_up_at, "the replica does not follow"
                time.sleep(0.02)
        yield ReplicatedLedger(url, replica_url, children[1])
    finally:
        for child in children:
            child.process.kill()
            child.process.wait()


def _is_followed(primary: redis.Redis) -> bool:
    try:
        return bool(primary.info("replication").get("slave0", {}).get("state") == "online")
    except redis.RedisError:
        return False
