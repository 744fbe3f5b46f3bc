"""The ledger: for each primary three hosts with a server and a Sentinel on each, as docs/operations.md wants them."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from compose.sandbox.redis_server import find_redis
from shared.ledger.keys import in_every_bucket
from tests.chaos.hosts.network import address

PORT, SENTINEL_PORT = 6379, 26379
NAME = "coinslot"
DOWN_AFTER_MS = 1_000
"""Shorter than on real hosts, so that a run sees several failovers."""

_SERVER, _SENTINEL = (Path(__file__).with_name(f"{name}.conf").read_text() for name in ("server", "sentinel"))


@dataclass(frozen=True, slots=True)
class Ledger:
    """One primary and its two replicas.

    Attributes:
        number: its place in COINSLOT_LEDGER_URL, counted from 0.
    """

    number: int

    @property
    def hosts(self) -> tuple[str, str, str]:
        """The first of them is the primary at the start."""
        first = 1 + 3 * self.number
        return f"ledger-{first}", f"ledger-{first + 1}", f"ledger-{first + 2}"

    def server_command(self, host: str, folder: Path) -> list[str]:
        """Of a server. Its configuration is written once: Sentinel changes it, and it outlives the process."""
        settings = _SERVER.format(port=PORT, folder=folder)
        if host != self.hosts[0]:
            settings += f"replicaof {address(self.hosts[0])} {PORT}\n"
        return [str(find_redis()), str(_written(folder / "server.conf", settings))]

    def sentinel_command(self, folder: Path) -> list[str]:
        """Of the Sentinel beside a server."""
        settings = _SENTINEL.format(
            port=SENTINEL_PORT,
            folder=folder,
            name=NAME,
            primary=address(self.hosts[0]),
            primary_port=PORT,
            down_ms=DOWN_AFTER_MS,
        )
        return [str(find_redis()), str(_written(folder / "sentinel.conf", settings)), "--sentinel"]

    def primary(self) -> str | None:
        """The host of the one that has replicas. None while there is none, or more than one."""
        found = [host for host in self.hosts if _replication(host).get("min_slaves_good_slaves", 0) > 0]
        return found[0] if len(found) == 1 else None

    def primary_url(self) -> str:
        """Of the primary, when there is one."""
        host = self.primary()
        assert host is not None, f"the ledger of {self.hosts} has no primary"
        return f"redis://{address(host)}:{PORT}/0"

    def let_jobs_run_again(self) -> None:
        """What RERUN_WINDOW_MS (shared/ledger/keys.py) would do: the ledger counts a payment's failed jobs anew."""
        with redis.Redis.from_url(self.primary_url()) as ledger:
            for key in ledger.scan_iter(in_every_bucket("payment:*"), 1000):
                if ledger.hexists(key, "failing_since"):
                    ledger.hset(key, mapping={"failures": 0, "failing_since": 0})

    def is_whole(self) -> bool:
        """Whether one leads and two follow it, and all Sentinels agree and would replace it."""
        leader = self.followed()
        return leader is not None and all(_agrees(host, address(leader)) for host in self.hosts)

    def followed(self) -> str | None:
        """The host of the one that leads while the two others follow it."""
        said = [_replication(host) for host in self.hosts]
        leads = [host for host, each in zip(self.hosts, said, strict=True) if each.get("role") == "master"]
        follow = [each for each in said if each.get("role") == "slave" and each.get("master_link_status") == "up"]
        if len(leads) != 1 or len(follow) != 2 or _replication(leads[0]).get("min_slaves_good_slaves") != 2:
            return None
        return leads[0]

    def digests(self) -> dict[str, tuple[str, str]]:
        """Of each server its role and the digest of all that it has."""
        found = {}
        for host in self.hosts:
            with asked(host) as server:
                digest: Any = server.execute_command("DEBUG", "DIGEST")
            found[host] = (str(_replication(host).get("role", "")), str(digest))
        return found


@contextlib.contextmanager
def asked(host: str, port: int = PORT) -> Iterator[redis.Redis]:
    """A server, or a Sentinel."""
    client = redis.Redis(
        host=address(host), port=port, protocol=2, decode_responses=True, socket_timeout=1, socket_connect_timeout=1
    )
    with client:
        yield client


def _written(path: Path, settings: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(settings)
    return path


def _agrees(host: str, leader: str) -> bool:
    try:
        with asked(host, SENTINEL_PORT) as sentinel:
            said: Any = sentinel.execute_command("SENTINEL", "MASTER", NAME)
            quorum: Any = sentinel.execute_command("SENTINEL", "CKQUORUM", NAME)
    except redis.RedisError:
        return False
    state = dict(zip(said[::2], said[1::2], strict=True))
    found = [state[key] for key in ("ip", "flags", "num-slaves", "num-other-sentinels")]
    return found == [leader, "master", "2", "2"] and quorum.startswith("OK")


def _replication(host: str) -> dict[str, Any]:
    try:
        with asked(host) as server:
            return dict(server.info("replication"))
    except redis.RedisError:
        return {}
