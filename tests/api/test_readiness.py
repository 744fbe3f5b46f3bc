"""When /readyz says that the service is ready."""

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from api.payment.cost_limit import CostLimit
from api.readiness import Readiness
from jobs.catalogue import BY_NAME
from shared.observability import confinement_notes
from shared.observability.confinement_notes import note
from shared.pools import Pool
from shared.queue import queue_clock
from shared.queue.pool_states import PoolState
from shared.queue.queue_clock import QueueClock
from tests.each import each

pytestmark = pytest.mark.anyio

CATALOGUE = (BY_NAME["echo"], BY_NAME["render-pro"], BY_NAME["web-diff"])


class Redis:
    def __init__(self, notes: Sequence[bytes] = (), clocks: Sequence[bytes] = ()) -> None:
        self.notes = {confinement_notes.KEY: list(notes), queue_clock.NOTES: list(clocks)}

    async def call(self, *command: Any) -> Any:
        return self.notes[command[1]] if command[0] == "HVALS" else b"PONG"


class Servers:
    def __init__(self, ahead_s: float = 0.0) -> None:
        self.ahead_s = ahead_s

    async def answering(self) -> dict[str, tuple[bool, int]]:
        return {"redis://ledger.test": (True, 64)}

    async def clocks(self) -> dict[str, float]:
        return {"redis://ledger.test": self.ahead_s}


LEDGER: Any = Servers()


class Pools:
    def __init__(self, reasons: dict[Pool, str | None]) -> None:
        self.reasons = reasons
        self.clock = QueueClock()

    async def states(self) -> dict[Pool, PoolState]:
        return {
            pool: PoolState(
                0, 0, 0, workers=reason is not None, available=reason == "", closed_ms=0, reason=reason or ""
            )
            for pool, reason in self.reasons.items()
        }


class Rail:
    def __init__(self, rail: str, is_ready: bool) -> None:
        self.rail = rail
        self.health = SimpleNamespace(is_ready=self._ready, costs=CostLimit(None))
        self._is_ready = is_ready

    async def _ready(self) -> bool:
        return self._is_ready


@each(
    ("micro", "render", "is_ready", "notices"),
    [
        ("", "", True, 0),
        # Two endpoints are refused, and all others are sold.
        ("", "no_browser", True, 1),
        ("", "check_failed", True, 1),
        # Nothing can be sold.
        ("no_browser", "no_browser", False, 2),
        # It will be ready.
        ("", "starting", False, 1),
        # There is no worker.
        ("", None, False, 1),
    ],
)
async def test_what_is_ready(micro: str, render: str | None, is_ready: bool, notices: int) -> None:
    """A pool whose port does not work takes its endpoints away, and not the service."""
    pools: Any = Pools({Pool.MICRO: micro, Pool.RENDER: render})
    redis: Any = Redis()
    rails: Any = [Rail("base", True), Rail("solana", False)]
    report = await Readiness(LEDGER, redis, pools, rails, (), lambda: CATALOGUE).report()
    assert (report["ok"], len(report["notices"])) == (is_ready, notices)
    assert report["checks"]["workers:render"] is (render == "")
    if render == "no_browser":
        assert report["notices"][-1].startswith(
            "Calls of render-pro, web-diff are refused, uncharged: this machine has no browser."
        )


async def test_what_children_lack_is_a_notice() -> None:
    """For as long as a worker of that machine says so; calls are sold all the same."""
    pools: Any = Pools({Pool.MICRO: "", Pool.RENDER: ""})
    now = time.time()
    notes = [
        note(now, "one", ["no Landlock (Linux 5.13)"]).encode(),
        note(now - 3600, "gone", ["no"]).encode(),
        b"junk",
    ]
    redis: Any = Redis(notes)
    rails: Any = [Rail("base", True)]
    report = await Readiness(LEDGER, redis, pools, rails, (), lambda: CATALOGUE).report()
    assert report["ok"]
    (notice,) = report["notices"]
    assert "no Landlock" in notice
    assert "one" in notice


async def test_a_wrong_clock_is_a_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a worker's machine, of the ledger's server, and this one's; calls are sold all the same."""
    pools: Any = Pools({Pool.MICRO: "", Pool.RENDER: ""})
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 5)
    redis: Any = Redis(clocks=[queue_clock.note(real(), "far", -4).encode()])
    rails: Any = [Rail("base", True)]
    ledger: Any = Servers(-5.0)
    report = await Readiness(ledger, redis, pools, rails, (), lambda: CATALOGUE).report()
    assert report["ok"]
    own, others, servers = report["notices"]
    assert " is 5.0 s ahead of the queue's: " in own
    assert "The clock of far is 4.0 s behind the queue's" in others
    assert servers.startswith("The clock of the ledger's server ledger.test:6379 is 5.0 s behind this machine's: ")
