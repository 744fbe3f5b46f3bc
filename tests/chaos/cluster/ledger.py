"""The ledger: a Valkey Cluster of shards, each with one primary and two replicas, on hosts of a run or on this one."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any

import redis

from shared.ledger.keys import in_every_bucket, record_key
from tests.chaos.cluster.server import Server, bucket_slots, nodes, span
from tests.chaos.history import connected

SLOTS = 16_384
COPIES = 3
WHOLE_WITHIN_S = 120.0
MOVED_WITHIN_S = 60.0
EQUAL_WITHIN_S = 10.0
MOVING = frozenset({"success", "failed", "canceled"})
"""The states at which CLUSTER GETSLOTMIGRATIONS says that a move has ended."""
UNSURE = frozenset({"fail", "fail?", "handshake", "noaddr"})
"""Of a server's flags in CLUSTER NODES."""


class Ledger:
    """The cluster, as those see it who may ask every server.

    Args:
        servers: of the shards that have all slots at the start.
    """

    def __init__(self, servers: Sequence[Server]) -> None:
        self.servers = list(servers)

    @property
    def url(self) -> str:
        """COINSLOT_LEDGER_URL: a few seeds."""
        return ",".join(f"redis://{server.address}/0" for server in self.servers if server.copy == 0)

    @property
    def any_url(self) -> str:
        """Of one server, which leads to all."""
        return f"redis://{self.servers[0].address}/0"

    @property
    def shards(self) -> list[int]:
        """All that there are."""
        return sorted({server.shard for server in self.servers})

    def of(self, shard: int) -> list[Server]:
        """Its servers."""
        return [server for server in self.servers if server.shard == shard]

    def form(self) -> None:
        """Make one cluster of servers that were started with empty folders. Return when it is whole."""
        first, *others = self.servers
        _await(lambda: all(server.says("PING") for server in self.servers), "a server does not answer")
        primaries = [server for server in self.servers if server.copy == 0]
        for number, server in enumerate(primaries):
            low, high = SLOTS * number // len(primaries), SLOTS * (number + 1) // len(primaries) - 1
            server.says("CLUSTER", "ADDSLOTSRANGE", low, high)
            server.says("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        self._meet(first, others)
        self.wait_whole()

    def join(self, servers: Sequence[Server]) -> None:
        """Take up servers that were started with empty folders: replicas, or shards without slots."""
        _await(lambda: all(server.says("PING") for server in servers), "a new server does not answer")
        known, self.servers = self.servers[0], [*self.servers, *servers]
        self._meet(known, servers)
        self.wait_whole()

    def wait_answering(self, server: Server) -> None:
        """Return when a server takes commands."""
        _await(lambda: server.says("PING"), f"{server.name} does not answer")

    def leave(self, servers: Sequence[Server]) -> None:
        """Forget servers without slots. Their processes are the caller's to end, before."""
        gone = {server.address for server in servers}
        self.servers = [server for server in self.servers if server not in servers]

        def forgotten() -> bool:
            seen = {server: nodes(server) for server in self.servers}
            for server, found in seen.items():
                for node in found:
                    if node.address in gone:
                        server.says("CLUSTER", "FORGET", node.id)
            return all(found and not gone & {node.address for node in found} for found in seen.values())

        _await(forgotten, "servers that left are not forgotten")

    def _meet(self, first: Server, others: Sequence[Server]) -> None:
        for server in others:
            first.says("CLUSTER", "MEET", server.ip, server.port, server.bus_port)

        def all_known() -> bool:
            addresses = {server.address for server in self.servers}
            return all(addresses <= {node.address for node in nodes(server)} for server in self.servers)

        _await(all_known, "the servers do not know each other")
        _id.cache_clear()
        for server in others:
            if server.copy:
                primary = _id(self.of(server.shard)[0])
                taken = partial(_taken, server, "CLUSTER", "REPLICATE", primary)
                _await(taken, "a replica does not know its primary")

    def primary(self, shard: int) -> Server | None:
        """The one with a replica that follows it. None while there is none, or more than one."""
        found = [server for server in self.of(shard) if server.replication().get("min_slaves_good_slaves", 0) > 0]
        return found[0] if len(found) == 1 else None

    def primaries(self) -> list[Server]:
        """One for each shard. Raises AssertionError while a shard has none."""
        found = [self.primary(shard) for shard in self.shards]
        assert all(found), f"a shard has no primary: {found}"
        return [server for server in found if server]

    def lack(self) -> str:
        """What is missing for a whole cluster; empty when every shard has one primary that its replicas follow, all servers
        agree on the owner of each slot and find nobody failing, and no slot moves."""
        for server in self.servers:
            said = server.replication()
            if not said:
                return f"{server.name} does not answer"
            if said["role"] == "slave" and said["master_link_status"] != "up":
                return f"{server.name} has no link to its primary"
            replicas = len(self.of(server.shard)) - 1
            if said["role"] == "master" and said["connected_slaves"] != replicas:
                return f"{server.name} has {said['connected_slaves']} replicas"
            if "cluster_state:ok" not in server.says("CLUSTER", "INFO"):
                return f"{server.name} takes no commands"
        for shard in self.shards:
            roles = Counter(server.replication().get("role") for server in self.of(shard))
            if roles["master"] != 1 or roles.total() != len(self.of(shard)):
                return f"shard {shard + 1} has {dict(roles)}"
        seen = [nodes(server) for server in self.servers]
        for node in chain.from_iterable(seen):
            if node.flags & UNSURE:
                return f"{node.address} is {', '.join(sorted(node.flags))}"
        owners = {frozenset((node.address, node.slots) for node in found if node.slots) for found in seen}
        if len(owners) != 1:
            return "the servers do not agree on the slots"
        owned = {slot for _, slots in owners.pop() for part in slots for slot in span(part)}
        if not owned.issuperset(bucket_slots()):
            return "a bucket has no server"
        if any(self.moves(server) for server in self.servers):
            return "slots move"
        return ""

    def wait_primary(self, server: Server) -> None:
        """Return when a replica has taken over."""
        _await(lambda: self.primary(server.shard) == server, f"{server.name} does not take over")

    def wait_another(self, server: Server) -> None:
        """Return when a primary has been replaced."""
        _await(lambda: self.primary(server.shard) not in (None, server), f"nobody takes over from {server.name}")

    def take_back(self, server: Server) -> None:
        """Return when a server that was killed follows its shard's new primary, or is the primary again. If slots left it just
        then, it stays a primary without slots until it is told to follow (docs/scaling.md)."""

        def follows() -> bool:
            primary, own = self.primary(server.shard), [node for node in nodes(server) if "myself" in node.flags]
            if primary not in (None, server) and own and "master" in own[0].flags and not own[0].slots:
                _taken(server, "CLUSTER", "REPLICATE", _id(primary))
            return primary == server or (bool(own) and "slave" in own[0].flags)

        _await(follows, f"{server.name} is neither primary nor replica")

    def wait_whole(self) -> None:
        """Return when nothing is missing."""
        _await(lambda: not self.lack(), self.lack)

    def slots_of(self, server: Server) -> list[int]:
        """All that a server owns."""
        own = next(node for node in nodes(server) if "myself" in node.flags)
        return [slot for part in own.slots for slot in span(part)]

    def bring_home(self) -> None:
        """Let the primaries of the beginning be the primaries, as docs/scaling.md wants it where servers share hosts."""
        for shard in self.shards:
            home = self.of(shard)[0]
            if self.primary(shard) != home:
                home.says("CLUSTER", "FAILOVER")
                self.wait_primary(home)
        self.wait_whole()

    def buckets_of(self, server: Server) -> list[int]:
        """The slots of a server that the ledger has keys in."""
        return sorted(set(bucket_slots()).intersection(self.slots_of(server)))

    def move(self, slots: Sequence[int], source: Server, target: Server) -> None:
        """Begin to move slots from one primary to another (`moves` says whether it has ended)."""
        ranges = [str(slot) for slot in slots for _ in range(2)]
        source.says("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE", _id(target))

    def moves(self, server: Server) -> list[str]:
        """States of those moves from or to a server that have not ended."""
        found: Any = server.says("CLUSTER", "GETSLOTMIGRATIONS") or []
        states = [dict(zip(job[::2], job[1::2], strict=True))["state"] for job in found]
        return [state for state in states if state not in MOVING]

    def wait_moved(self, slots: Sequence[int], target: Server) -> None:
        """Return when a server has these slots."""
        _await(lambda: set(slots) <= set(self.slots_of(target)), "the slots did not come", MOVED_WITHIN_S)

    def let_jobs_run_again(self) -> None:
        """What RERUN_WINDOW_MS (shared/ledger/keys.py) would do: the ledger counts a payment's failed jobs anew."""
        with connected(self.any_url) as ledger:
            for key in ledger.scan_iter(in_every_bucket("payment:*"), 1000):
                if ledger.hexists(key, "failing_since"):
                    ledger.hset(key, mapping={"failures": 0, "failing_since": 0})

    def states(self, payments: Sequence[str]) -> dict[str, str | None]:
        """The states of payments, as soon as all servers that have them can say it."""
        found: list[str | None] = []

        def read() -> bool:
            with contextlib.suppress(redis.RedisError), connected(self.any_url) as ledger:
                pipeline = ledger.pipeline(transaction=False)
                for payment in payments:
                    pipeline.hget(record_key(payment), "state")
                found[:] = pipeline.execute()
            return len(found) == len(payments)

        _await(read, "a bucket can not be read")
        return dict(zip(payments, found, strict=True))

    def digests(self, shard: int) -> dict[str, tuple[str, str]]:
        """Of each server of a shard its role and the digest of all that it has. The APIs write something now and then, so when
        they differ they are read again, for a while."""
        give_up_at = time.monotonic() + EQUAL_WITHIN_S
        while True:
            found = {
                server.name: (str(server.replication().get("role", "")), str(server.says("DEBUG", "DIGEST")))
                for server in self.of(shard)
            }
            if len({digest for _, digest in found.values()}) == 1 or time.monotonic() > give_up_at:
                return found


@cache
def _id(server: Server) -> str:
    return str(server.says("CLUSTER", "MYID"))


def _taken(server: Server, *command: str) -> bool:
    try:
        return server.says(*command) is not None
    except redis.ResponseError:  # "unknown node", as gossip has not told it yet; or it has keys that are being deleted
        return False


def _await(condition: Callable[[], Any], lack: str | Callable[[], str], within_s: float = WHOLE_WITHIN_S) -> None:
    give_up_at = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < give_up_at, lack if isinstance(lack, str) else lack()
        time.sleep(0.05)
