"""/healthz: the process lives. /readyz: which dependencies of a paid call work."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from litestar import HttpMethod, Response, route
from litestar.handlers import BaseRouteHandler

from api.causes import Cause
from api.ledger_servers import LedgerServers
from api.payment.gate import PaymentGate
from api.payment.rails import ConfiguredRail
from api.pools import Pools
from api.redis_client import Redis, RedisLost, RedisRefused
from shared.endpoint import Endpoint
from shared.ledger.keys import BUCKETS
from shared.ledger.servers import NO_SERVER
from shared.observability import confinement_notes
from shared.queue import queue_clock
from shared.queue.pool_states import PoolState
from shared.queue.streams import STARTING
from shared.servers.ledger_start import address_of
from shared.version import VERSION

_READ = [HttpMethod.GET, HttpMethod.HEAD]
_FRESH = {"Cache-Control": "no-store"}
_NOT_READY = frozenset((Cause.NO_WORKER.reason, Cause.QUEUE_UNREADABLE.reason, STARTING))
"""With any other reason of a pool, of its port, the endpoints of the other pools are still sold."""

PORT_SENTENCES = {
    "no_dns": "the name servers of the workers' machine do not answer. COINSLOT_DNS_SERVER names another",
    "no_egress": "the workers' machine has no route to the internet",
    "no_proxy": "no proxy of COINSLOT_EGRESS_PROXY_FILE works for this pool. The worker's log says why",
    "no_browser": "this machine has no browser. scripts/setup installs one where it may; COINSLOT_CHROMIUM names another",
    "unconfined_children": "this kernel does not filter system calls (seccomp), which COINSLOT_PRODUCTION=1 asks for",
    "outdated": "the workers do not know what the API sends them. Restart them in the API's version",
    "browser_not_started": "the browser cannot be started. The worker's log says why",
}
"""What a port's reason means to the operator."""


class Readiness:
    """Checks every dependency of a paid call, each with its own time limit.

    Args:
        sold: gives what is sold now: its pools are those that need a worker.
    """

    def __init__(
        self,
        ledger: LedgerServers,
        queue: Redis,
        pools: Pools,
        rails: Sequence[ConfiguredRail],
        gates: Sequence[PaymentGate],
        sold: Callable[[], Sequence[Endpoint]],
    ) -> None:
        self._ledger = ledger
        self._answering: dict[str, tuple[bool, int]] = {}
        self._queue = queue
        self._pools = pools
        self._rails = rails
        self._gates = gates
        self._endpoints = sold

    @property
    def _sold(self) -> dict[str, list[str]]:
        """By pool, the names of what is sold from it."""
        sold = self._endpoints()
        return {
            pool: [endpoint.name for endpoint in sold if endpoint.pool == pool]
            for pool in sorted({endpoint.pool for endpoint in sold})
        }

    def routes(self) -> list[BaseRouteHandler]:
        """The two routes. Both are free."""

        @route("/healthz", http_method=_READ, sync_to_thread=False)
        def healthz() -> Response[dict[str, Any]]:
            return Response({"ok": True, "version": VERSION}, headers=_FRESH)

        @route("/readyz", http_method=_READ)
        async def readyz() -> Response[dict[str, Any]]:
            report = await self.report()
            return Response(report, status_code=200 if report["ok"] else 503, headers=_FRESH)

        return [healthz, readyz]

    async def report(self) -> dict[str, Any]:
        """What /readyz says: `ok`, and why.

        One rail, one server of the ledger, and one pool whose port works, are enough to sell. A worker that is missing, or
        still starts, is not ready.
        """
        checks, reasons = await self.checks()
        rails = [checks[_name(rail)] for rail in self._rails]
        pools = [checks[_workers(pool)] for pool in self._sold]
        has_all_else = checks["ledger"] and checks["queue"] and _NOT_READY.isdisjoint(reasons.values())
        return {
            "ok": any(rails) and any(pools) and has_all_else,
            "checks": checks,
            "reasons": reasons,
            "settlements": self._settlements(),
            "notices": [
                *self._notices(reasons),
                *self._ledger_notices(),
                *await self._confinement(),
                *await self._clocks(),
            ],
        }

    async def checks(self) -> tuple[dict[str, bool], dict[str, str]]:
        """Whether each dependency works, and why a pool does not: `no_worker`, `queue_unreadable`, or its port's reason."""
        names = ["ledger", "queue", *map(_name, self._rails)]
        asked: list[Awaitable[bool]] = [self._has_ledger(), _answers(self._queue)]
        asked += [rail.health.is_ready() for rail in self._rails]
        states = await self._pools.states()
        checks = dict(zip(names, await asyncio.gather(*asked), strict=True))
        reasons = {}
        for pool in self._sold:
            reason = _unavailable_reason(states.get(pool))
            checks[_workers(pool)] = not reason
            if reason:
                reasons[_workers(pool)] = reason
        return checks, reasons

    async def _has_ledger(self) -> bool:
        """Whether there is a server that payments can be taken with: the others' payers are refused."""
        self._answering = await self._ledger.answering()
        return any(answers for answers, _ in self._answering.values())

    def _ledger_notices(self) -> list[str]:
        """A sentence for each server that payments cannot be taken with, where there are several."""
        return [
            f"Calls of {count} payers in {BUCKETS} are refused: "
            + (f"the ledger's server {address_of(url)} takes no payments." if url else f"{NO_SERVER}.")
            for url, (answers, count) in self._answering.items()
            if not answers and len(self._answering) > 1
        ]

    def _settlements(self) -> dict[str, dict[str, Any]]:
        """By rail whose facilitator says it: what a settlement costs, the least price that is worth it, both in whole tokens,
        and which of the listed endpoints are cheaper."""
        return {
            rail.rail: {
                "cost": rail.whole(rail.health.costs.cost),
                "leastPrice": rail.whole(rail.health.costs.least),
                "tooCheap": [
                    gate.endpoint.name
                    for gate in self._gates
                    if gate.is_sold and gate.endpoint.listed and not gate.is_worth(rail)
                ],
            }
            for rail in self._rails
            if rail.health.costs.cost is not None
        }

    def _notices(self, reasons: Mapping[str, str]) -> list[str]:
        """A sentence for each pool whose calls are refused."""
        return [
            f"Calls of {', '.join(names)} are refused, uncharged: {PORT_SENTENCES.get(reason, reason)}."
            for pool, names in self._sold.items()
            if (reason := reasons.get(_workers(pool)))
        ]

    async def _confinement(self) -> list[str]:
        """A sentence for each machine that confines children with less than it could."""
        try:
            notes = await self._queue.call("HVALS", confinement_notes.KEY)
        except (RedisLost, RedisRefused):
            return []
        return confinement_notes.sentences(notes, time.time())

    async def _clocks(self) -> list[str]:
        """A sentence for each machine of the API or of workers whose own clock is not the queue's, and for each server of the
        ledger whose clock is not this machine's."""
        clock, sentences = self._pools.clock, []
        if abs(clock.offset_s) > queue_clock.MOST_OFFSET_S:
            sentences.append(queue_clock.sentence(os.uname().nodename, clock.offset_s))
        with contextlib.suppress(RedisLost, RedisRefused):
            sentences += queue_clock.sentences(await self._queue.call("HVALS", queue_clock.NOTES), clock.now_s())
        sentences += [
            queue_clock.sentence(f"the ledger's server {address_of(url)}", ahead_s, beside="this machine's")
            for url, ahead_s in (await self._ledger.clocks()).items()
            if abs(ahead_s) > queue_clock.MOST_OFFSET_S
        ]
        return [f"{text}: payments may be refused as lapsed, or as not valid yet." for text in dict.fromkeys(sentences)]


def _unavailable_reason(state: PoolState | None) -> str:
    if state is None:
        return Cause.QUEUE_UNREADABLE.reason
    if state.available:
        return ""
    return state.reason if state.workers else Cause.NO_WORKER.reason


def _name(rail: ConfiguredRail) -> str:
    return f"facilitator:{rail.rail}"


def _workers(pool: str) -> str:
    return f"workers:{pool}"


async def _answers(redis: Redis) -> bool:
    try:
        return bool(await redis.call("PING") == b"PONG")
    except (RedisLost, RedisRefused):
        return False
