"""The newest validated ledger. It is the only clock here: payments expire by ledgers, not by seconds."""

import asyncio
import contextlib
import time

from facilitator.json_rpc import NodeFailures
from facilitator.rails.xrpl.node import NODE_ERRORS, XrplNode

RIPPLE_EPOCH = 946_684_800
"""The Unix second at which the ledger's own time starts."""
LOOK_EVERY_S = 1.0
LOOK_OFTEN_S = 0.25
"""The interval while somebody waits for a ledger. Ledgers close every three or four seconds."""
STALE_AFTER_S = 30.0
"""Seconds without a new ledger after which the node has lost the network, or the network has stopped."""


class LedgerClock:
    """Reads the newest validated ledger again and again.

    Attributes:
        index: of that ledger; 0 before the first was read.
        close_time: Unix seconds.
    """

    def __init__(self, node: XrplNode, network: str) -> None:
        self._failures = NodeFailures(network, NODE_ERRORS)
        self.index = 0
        self.close_time = 0
        self._node = node
        self._moved_at = 0.0
        self._moved = asyncio.Event()
        self._wanted = asyncio.Event()
        self._waiting = 0
        self._running: asyncio.Task[None] | None = None

    @property
    def silent_for_s(self) -> float:
        """Seconds since a new ledger was seen."""
        return time.monotonic() - self._moved_at

    async def start(self) -> None:
        """Read the ledger once, then keep reading. Raises what is in NODE_ERRORS."""
        await self.look()
        if self._running is None:
            self._running = asyncio.create_task(self._keep_looking(), name="xrpl-clock")

    async def stop(self) -> None:
        """Stop reading."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def look(self) -> None:
        """Read the ledger now. `index` never goes back, though one address may stand for nodes that are behind.

        Raises what is in NODE_ERRORS.
        """
        found = await self._node.ask("ledger", ledger_index="validated")
        index, close_time = int(found["ledger_index"]), int(found["ledger"]["close_time"]) + RIPPLE_EPOCH
        if found.get("validated") is not True:
            raise ValueError("not a validated ledger")
        if index > self.index:
            self.index, self.close_time, self._moved_at = index, close_time, time.monotonic()
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()

    async def wait(self, *, after: int, at_most_s: float) -> None:
        """Wait for a ledger after that one, for `at_most_s` seconds."""
        if self.index > after:
            return
        self._waiting += 1
        self._wanted.set()
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), max(0.0, at_most_s))
        finally:
            self._waiting -= 1

    async def _keep_looking(self) -> None:
        while True:
            if self._waiting:
                await asyncio.sleep(LOOK_OFTEN_S)
            else:
                self._wanted.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), LOOK_EVERY_S)
            with self._failures.swallowed():
                await self.look()
            if self._failures.is_failing:
                await asyncio.sleep(LOOK_OFTEN_S)
