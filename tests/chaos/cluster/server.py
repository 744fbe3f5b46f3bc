"""One server of the cluster that the ledger is on, and what it says of the others."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.crc import key_slot

from compose.sandbox.redis_server import find_redis
from shared.ledger.keys import PREFIXES

NODE_TIMEOUT_MS = 2_000
ANSWER_WITHIN_S = 2.0
_PLAIN, _CLUSTER = (Path(__file__).with_name(f"{name}.conf").read_text() for name in ("server", "cluster"))


@dataclass(frozen=True, slots=True)
class Server:
    """One server of the cluster.

    Attributes:
        shard: counted from 0. Its servers have the same data, whichever of them is the primary.
        copy: 0 is the primary at the start.
        host: a name of network.NAMES, or empty.
    """

    shard: int
    copy: int
    ip: str
    port: int
    bus_port: int
    host: str = ""

    @property
    def name(self) -> str:
        """Of its process."""
        return f"server-{self.shard + 1}{'abc'[self.copy]}"

    @property
    def address(self) -> str:
        """As the cluster calls it."""
        return f"{self.ip}:{self.port}"

    def command(self, folder: Path, timeout_ms: int = NODE_TIMEOUT_MS) -> list[str]:
        """Of its process. The folder outlives it: the server finds its data and its cluster there when it is started again.

        Args:
            timeout_ms: after it a silent server counts as failing.
        """
        return self._command(folder, _PLAIN + _CLUSTER, timeout_ms)

    def plain_command(self, folder: Path) -> list[str]:
        """Of a server that is in no cluster, and has no replicas."""
        return self._command(folder, _PLAIN, 0)

    def _command(self, folder: Path, settings: str, timeout_ms: int) -> list[str]:
        folder.mkdir(parents=True, exist_ok=True)
        configuration = folder / "server.conf"
        configuration.write_text(
            settings.format(ip=self.ip, port=self.port, bus_port=self.bus_port, folder=folder, timeout_ms=timeout_ms)
        )
        return [str(find_redis()), str(configuration)]

    @contextlib.contextmanager
    def asked(self) -> Iterator[redis.Redis]:
        """A client of this server alone."""
        client = redis.Redis(
            host=self.ip,
            port=self.port,
            protocol=2,
            decode_responses=True,
            socket_timeout=ANSWER_WITHIN_S,
            socket_connect_timeout=ANSWER_WITHIN_S,
            retry=None,
        )
        with client:
            yield client

    def says(self, *command: Any) -> Any:
        """The answer to one command; None when it does not answer."""
        with contextlib.suppress(redis.ConnectionError, redis.TimeoutError), self.asked() as client:
            return client.execute_command(*command)
        return None

    def replication(self) -> dict[str, Any]:
        """INFO replication; empty when it does not answer."""
        lost = (redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError)
        with contextlib.suppress(*lost), self.asked() as client:
            return dict(client.info("replication"))
        return {}


@dataclass(frozen=True, slots=True)
class Node:
    """A line of CLUSTER NODES.

    Attributes:
        slots: single ones, and ranges as ``low-high``.
    """

    id: str
    address: str
    flags: frozenset[str]
    slots: tuple[str, ...]


def nodes(server: Server) -> list[Node]:
    """The cluster, as a server sees it; nothing when it does not answer."""
    found = []
    with contextlib.suppress(redis.ConnectionError, redis.TimeoutError), server.asked() as client:
        client.set_response_callback("CLUSTER NODES", lambda text, **_: text)
        for line in str(client.execute_command("CLUSTER NODES")).splitlines():
            name, address, flags, *_, _link = line.split(" ")[:8]
            slots = tuple(part for part in line.split(" ")[8:] if part and not part.startswith("["))
            found.append(Node(name, address.partition("@")[0], frozenset(flags.split(",")), slots))
    return found


def bucket_slots() -> list[int]:
    """The slot of each bucket."""
    return [key_slot(prefix.encode()) for prefix in PREFIXES]


def span(part: str) -> range:
    """What ``low-high`` has, or one slot."""
    low, _, high = part.partition("-")
    return range(int(low), int(high or low) + 1)
