"""Which server of the ledger has which bucket, as the servers say it: one plain server has all, nodes of a Valkey Cluster share
the slots, and so the buckets.

What is asked is a generator, as in shared/ledger/layout.py, because not all processes have the same client. A server that does
not have a bucket refuses its commands, so an old map does no harm: MOVED, ASK, TRYAGAIN and CLUSTERDOWN say that a command did
not run. A lost connection does not.
"""

import binascii
from collections.abc import Generator, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shared.ledger.keys import BUCKETS, PREFIXES
from shared.lua_script import Command

SLOTS = 16_384
SLOT = tuple(
    binascii.crc_hqx(prefix[prefix.index("{") + 1 : prefix.index("}")].encode(), 0) % SLOTS for prefix in PREFIXES
)
"""By bucket: its slot of Redis Cluster. No two buckets have the same."""
RETRY_PAUSES_S = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Before a command is sent again that did not run: nothing before the first time."""
NOT_RUN = frozenset({"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"})
"""Answers of a node that did not run a command because of where the slot is."""
NO_CLUSTER = (
    "it is not in a cluster, and COINSLOT_LEDGER_URL names several servers: name one server, or nodes of one cluster (see "
    "docs/scaling.md, From a list of primaries)"
)
NO_SERVER = "no server of the ledger has them, as far as its servers say"

_REDIS_PY = {"MovedError": "MOVED", "AskError": "ASK", "TryAgainError": "TRYAGAIN", "ClusterDownError": "CLUSTERDOWN"}


class Servers(NamedTuple):
    """What one server says of all.

    Attributes:
        of: by bucket, the URL of the server that has it; "" where none has.
        shards: the URLs of all, each primary with the replicas that follow it behind it.
        rank: of two maps the higher one is the newer, or its server has seen more of the others.
        is_cluster: False: it is a plain server.
    """

    of: tuple[str, ...]
    shards: tuple[tuple[str, ...], ...]
    rank: tuple[bool, int] = (True, 0)
    is_cluster: bool = True

    @property
    def nodes(self) -> tuple[str, ...]:
        """The URLs of all."""
        return tuple(dict.fromkeys(chain(*self.shards)))

    def buckets(self) -> dict[str, list[int]]:
        """By URL, the buckets of each server that has some."""
        found: dict[str, list[int]] = {}
        for bucket, url in enumerate(self.of):
            if url:
                found.setdefault(url, []).append(bucket)
        return found


def plain(url: str) -> Servers:
    """The one server that there is."""
    return Servers((url,) * BUCKETS, ((url,),), is_cluster=False)


def asked(url: str) -> Generator[Sequence[Command], Sequence[Any], Servers]:
    """Ask a server for all.

    Args:
        url: its own. Other nodes have its scheme, user, password and authorities.
    """
    slots, info = yield (("CLUSTER", "SLOTS"), ("CLUSTER", "INFO"))
    if isinstance(slots, Exception) or isinstance(info, Exception):
        return plain(url)  # "This instance has cluster support disabled", or it does not know the command
    told = dict(line.split(":", 1) for line in _text(info).splitlines() if ":" in line)
    if not slots and int(
        told["cluster_slots_assigned"]
    ):  # Valkey 9.1 keeps the "none" that it answered while it loaded
        (shards_answer,) = yield (("CLUSTER", "SHARDS"),)
        slots = [] if isinstance(shards_answer, Exception) else [*_slots(shards_answer, url)]
    of = [""] * BUCKETS
    shards: dict[str, tuple[str, ...]] = {}
    for first, last, *servers in slots:
        urls = tuple(node_url(url, host, port) for host, port, *_ in servers)
        shards[urls[0]] = urls
        for bucket, slot in enumerate(SLOT):
            if first <= slot <= last:
                of[bucket] = urls[0]
    return Servers(
        tuple(of), tuple(shards.values()), (told["cluster_state"] == "ok", int(told["cluster_current_epoch"]))
    )


def _slots(shards: Sequence[Any], url: str) -> Iterator[tuple[Any, ...]]:
    """What CLUSTER SLOTS says, from the answer to CLUSTER SHARDS."""
    port = "tls-port" if url.startswith("rediss:") else "port"
    for ranges, nodes in ((shard["slots"], shard["nodes"]) for shard in map(_pairs, shards)):
        found = sorted(map(_pairs, nodes), key=lambda node: (node["health"] != b"online", node["role"] != b"master"))
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            yield first, last, *((node["endpoint"], node[port]) for node in found)


def _pairs(flat: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(map(_text, flat[::2]), flat[1::2], strict=True))


def kind_of(refused: Exception) -> str:
    """The first word of an error that a server answered. redis-py cuts some off, and has classes for them."""
    return _REDIS_PY.get(type(refused).__name__) or str(refused).partition(" ")[0]


def named_in(refused: Exception, url: str) -> str:
    """The URL of the node that MOVED or ASK names, ``MOVED <slot> <host>:<port>``.

    Args:
        url: of the node that answered. Without a host, it is that node's.
    """
    host, _, port = str(refused).rpartition(" ")[2].rpartition(":")
    return node_url(url, host, port)


def node_url(url: str, host: Any, port: Any) -> str:
    """The URL of a node, from that of another one of its cluster. Without a host, it is on that one's."""
    own = urlsplit(url)
    name = _text(host).strip("[]")
    if name in ("", "?"):  # a node that does not know its own address
        name = own.hostname or "127.0.0.1"
    name = f"[{name}]" if ":" in name else name
    login, at, _ = own.netloc.rpartition("@")
    scheme = "rediss" if own.scheme == "rediss" else "redis"
    return f"{scheme}://{login}{at}{name}:{int(port)}{'?' if own.query else ''}{own.query}"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value or "")
