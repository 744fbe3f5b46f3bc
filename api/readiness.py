"""/healthz: the process lives. /readyz: which dependencies of a paid call work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

from litestar import HttpMethod, Response, route
from litestar.handlers import BaseRouteHandler

from api.causes import Cause
from api.payment.rails import ConfiguredRail
from api.pools import Pools, PoolState
from api.redis_client import Redis, RedisLost, RedisRefused
from shared.endpoint import Endpoint

_READ = [HttpMethod.GET, HttpMethod.HEAD]
_FRESH = {"Cache-Control": "no-store"}


class Readiness:
    """Checks every dependency of a paid call, each with its own time limit.

    Args:
        catalogue: its pools are those that need a worker.
    """

    def __init__(
        self,
        ledger: Redis,
        queue: Redis,
        pools: Pools,
        rails: Sequence[ConfiguredRail],
        catalogue: Sequence[Endpoint],
    ) -> None:
        self._ledger = ledger
        self._queue = queue
        self._pools = pools
        self._rails = rails
        self._needed = sorted({endpoint.pool for endpoint in catalogue})

    def routes(self) -> list[BaseRouteHandler]:
        """The two routes. Both are free."""

        @route("/healthz", http_method=_READ, sync_to_thread=False)
        def healthz() -> Response[dict[str, bool]]:
            return Response({"ok": True}, headers=_FRESH)

        @route("/readyz", http_method=_READ)
        async def readyz() -> Response[dict[str, Any]]:
            checks, reasons = await self.checks()
            # One rail is enough to sell.
            rails = [checks[_name(rail)] for rail in self._rails]
            ready = any(rails) and all(checks[name] for name in checks.keys() - map(_name, self._rails))
            content = {"ok": ready, "checks": checks, "reasons": reasons}
            return Response(content, status_code=200 if ready else 503, headers=_FRESH)

        return [healthz, readyz]

    async def checks(self) -> tuple[dict[str, bool], dict[str, str]]:
        """Whether each dependency works, and why a pool does not: `no_worker`, `queue_unreadable`, or its port's reason."""
        names = ["ledger", "queue", *map(_name, self._rails)]
        asked: list[Awaitable[bool]] = [_answers(self._ledger), _answers(self._queue)]
        asked += [rail.health.is_ready() for rail in self._rails]
        states = await self._pools.states()
        checks = dict(zip(names, await asyncio.gather(*asked), strict=True))
        reasons = {}
        for pool in self._needed:
            reason = _unavailable_reason(states.get(pool))
            checks[f"workers:{pool}"] = not reason
            if reason:
                reasons[f"workers:{pool}"] = reason
        return checks, reasons


def _unavailable_reason(state: PoolState | None) -> str:
    if state is None:
        return Cause.QUEUE_UNREADABLE.reason
    if state.available:
        return ""
    return state.reason if state.workers else Cause.NO_WORKER.reason


def _name(rail: ConfiguredRail) -> str:
    return f"facilitator:{rail.rail}"


async def _answers(redis: Redis) -> bool:
    try:
        return bool(await redis.call("PING") == b"PONG")
    except (RedisLost, RedisRefused):
        return False
