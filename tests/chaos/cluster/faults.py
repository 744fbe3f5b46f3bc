"""What happens to the ledger in a run: one fault after the other, each when the cluster is whole again."""

import asyncio
import random
import signal
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any

from tests.chaos.cluster import network
from tests.chaos.cluster.ledger import Ledger
from tests.chaos.cluster.server import Server
from tests.chaos.cluster.servers import ClusterService

LONG_S = (5.0, 7.0)
"""Long enough for a failover, and for the old primary to take writes meanwhile if it could."""
MOVE_KILL_WITHIN_S = 0.15
"""A move of a few slots takes 0.1 to 0.2 s."""
LATE_S = 2.0
SHARD_AWAY, CROWDED = "a whole shard away", "split of a host with two primaries"
MOVED_SLOTS = 4


class LedgerFaults:
    """The faults of one run.

    Args:
        plan: decides all that is not the machine's affair.

    Attributes:
        hit: the primaries that the last fault was done to.
    """

    def __init__(self, service: ClusterService, plan: random.Random) -> None:
        self._service = service
        self._ledger: Ledger = service.ledger
        self._plan = plan
        self.hit: frozenset[Server] = frozenset()
        self.kinds: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "kill": self.kill,
            "hang": self.hang,
            "cut": self.cut,
            "split": self.split,
            "split with an API on either side": self.split_with_apis,
            "late replica at an election": self.late_replica,
            "slots move": self.move,
            "slots move, source killed": self.move_and_kill_source,
            "slots move, target killed": self.move_and_kill_target,
            "new shard gets slots": self.new_shard,
            "new shard gets slots, its primary killed": self.new_shard_killed,
            "all nodes restarted": self.restart_all,
            SHARD_AWAY: self.shard_away,
        }
        self._are_crowded = len({server.host for server in self._ledger.servers}) == len(self._ledger.shards)
        if self._are_crowded:
            self.kinds[CROWDED] = self.split_crowded

    def in_turn(self, only: Collection[str]) -> Iterator[str]:
        """Each kind once, in an order of the plan's, then all again.

        Args:
            only: of these kinds, when there are some.
        """
        kinds = [kind for kind in sorted(self.kinds) if (kind in only if only else kind != CROWDED)]
        assert kinds, f"there is none of {only} among {sorted(self.kinds)}"
        while True:
            yield from self._plan.sample(kinds, len(kinds))

    async def heal(self) -> None:
        """Return when the cluster is whole, and no host has two primaries."""
        await asyncio.to_thread(self._ledger.wait_whole)
        if self._are_crowded:
            await asyncio.to_thread(self._ledger.bring_home)

    async def kill(self) -> None:
        """SIGKILL of a primary."""
        await self._kill_for_long(await self._any_primary())

    async def hang(self) -> None:
        """SIGSTOP of a primary."""
        server = await self._any_primary()
        self._service.signal(server.name, signal.SIGSTOP)
        await self._long()
        self._service.signal(server.name, signal.SIGCONT)

    async def cut(self) -> None:
        """Nothing reaches the host of a primary."""
        with network.cut(await self._any_host()):
            await self._long()

    async def split(self) -> None:
        """A primary's host does not reach the others, and all APIs and workers reach both sides."""
        await self._split(await self._any_host(), some=(), others=())

    async def split_with_apis(self) -> None:
        """An API and a worker are on the side of a primary's host, the others on that of the others."""
        await self._split(await self._any_host(), some=("api-1", "worker-1"), others=("api-2", "worker-2"))

    async def split_crowded(self) -> None:
        """The host that is split off has two of the three primaries, and a replica of the third."""
        kept, taken = self._plan.sample(await asyncio.to_thread(self._ledger.primaries), 2)
        (replica,) = [server for server in self._ledger.of(taken.shard) if server.host == kept.host]
        if replica != taken:
            await asyncio.to_thread(replica.says, "CLUSTER", "FAILOVER")
            await asyncio.to_thread(self._ledger.wait_primary, replica)
        self.hit = frozenset({kept, taken})
        await self._split(kept.host, some=(), others=())

    async def late_replica(self) -> None:
        """A primary dies when one of its replicas has had nothing from it for a while. The other one has all."""
        server = await self._any_primary()
        replicas = [other for other in self._ledger.of(server.shard) if other != server]
        with network.silenced(server.host, server.port, self._plan.choice(replicas).host):
            await asyncio.sleep(LATE_S)
            await self._kill_for_long(server)

    async def move(self) -> None:
        """Slots move, a few times."""
        for _ in range(4):
            slots, _, target = await self._begin_move()
            await asyncio.to_thread(self._ledger.wait_moved, slots, target)

    async def move_and_kill_source(self) -> None:
        """The primary that slots move from is killed meanwhile."""
        _, source, _ = await self._begin_move()
        await asyncio.sleep(self._plan.uniform(0, MOVE_KILL_WITHIN_S))
        self.hit = frozenset({source})
        await self._kill_for_long(source)

    async def move_and_kill_target(self) -> None:
        """The primary that slots move to is killed meanwhile, or when it has just got them."""
        _, _, target = await self._begin_move()
        await asyncio.sleep(self._plan.uniform(0, MOVE_KILL_WITHIN_S))
        self.hit = frozenset({target})
        await self._kill_for_long(target)

    async def new_shard(self) -> None:
        """A shard of empty servers gets slots of all others, and gives them back."""
        await self._new_shard(is_killed=False)

    async def new_shard_killed(self) -> None:
        """The same; its replicas know no script when one of them takes over."""
        await self._new_shard(is_killed=True)

    async def restart_all(self) -> None:
        """SIGKILL of all servers at once."""
        servers = list(self._ledger.servers)
        self.hit = frozenset(await asyncio.to_thread(self._ledger.primaries))
        for server in servers:
            self._service.kill(server.name)
        await asyncio.sleep(self._plan.uniform(0.1, 1.0))
        for server in servers:
            await asyncio.to_thread(self._service.start_server, server)

    async def shard_away(self) -> None:
        """All servers of a shard are killed."""
        servers = self._ledger.of((await self._any_primary()).shard)
        for server in servers:
            self._service.kill(server.name)
        await self._long()
        for server in servers:
            await asyncio.to_thread(self._service.start_server, server)

    async def _any_primary(self) -> Server:
        server = self._plan.choice(await asyncio.to_thread(self._ledger.primaries))
        self.hit = frozenset({server})
        return server

    async def _any_host(self) -> str:
        primaries = await asyncio.to_thread(self._ledger.primaries)
        host = self._plan.choice(primaries).host
        self.hit = frozenset(server for server in primaries if server.host == host)
        return host

    async def _long(self) -> None:
        await asyncio.sleep(self._plan.uniform(*LONG_S))

    async def _kill_for_long(self, server: Server) -> None:
        self._service.kill(server.name)
        await self._long()
        await asyncio.to_thread(self._service.start_server, server)
        await asyncio.to_thread(self._ledger.take_back, server)

    async def _split(self, host: str, *, some: tuple[str, ...], others: tuple[str, ...]) -> None:
        rest = sorted({server.host for server in self._ledger.servers} - {host})
        with ExitStack() as stack:
            stack.enter_context(network.split([host], rest))
            if some:
                stack.enter_context(network.split([host], others))
                stack.enter_context(network.split(some, rest))
            await self._long()

    async def _begin_move(self) -> tuple[list[int], Server, Server]:
        """Some slots of the primary that has most, to another one."""
        primaries = await asyncio.to_thread(self._ledger.primaries)
        owned = {server: await asyncio.to_thread(self._ledger.buckets_of, server) for server in primaries}
        source = max(primaries, key=lambda server: len(owned[server]))
        target = self._plan.choice([server for server in primaries if server != source])
        self.hit = frozenset({source})
        slots = self._plan.sample(owned[source], min(MOVED_SLOTS, len(owned[source])))
        await asyncio.to_thread(self._ledger.move, slots, source, target)
        return slots, source, target

    async def _new_shard(self, *, is_killed: bool) -> None:
        servers = await asyncio.to_thread(self._service.another_shard)
        givers = await asyncio.to_thread(self._ledger.primaries)
        self.hit = frozenset()
        await asyncio.to_thread(self._ledger.join, servers)
        new = servers[0]
        for giver in givers:
            owned = await asyncio.to_thread(self._ledger.buckets_of, giver)
            slots = self._plan.sample(owned, len(owned) // 4)
            await asyncio.to_thread(self._ledger.move, slots, giver, new)
            await asyncio.to_thread(self._ledger.wait_moved, slots, new)
        if is_killed:
            await self._kill_for_long(new)
        await self._long()
        await asyncio.to_thread(self._ledger.wait_whole)
        await self._empty(servers)
        await asyncio.to_thread(self._service.remove, servers)

    async def _empty(self, servers: list[Server]) -> None:
        """Move all slots of a shard to the others."""
        (shard,) = {server.shard for server in servers}
        source = await asyncio.to_thread(self._ledger.primary, shard)
        assert source, "the new shard has no primary"
        others = [server for server in await asyncio.to_thread(self._ledger.primaries) if server != source]
        slots = await asyncio.to_thread(self._ledger.slots_of, source)
        for number, target in enumerate(others):
            part = slots[number :: len(others)]
            await asyncio.to_thread(self._ledger.move, part, source, target)
            await asyncio.to_thread(self._ledger.wait_moved, part, target)
