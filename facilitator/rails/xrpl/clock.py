"""Which ledger the network is at. Here it is the only clock: payments expire by ledgers, not by seconds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from facilitator.rails.xrpl.node import NODE_ERRORS, XrplNode

log = logging.getLogger(__name__)

RIPPLE_EPOCH = 946_684_800
"""Unix seconds at which the ledger's own time starts."""
LOOK_EVERY_S = 1.0
LOOK_OFTEN_S = 0.25
"""While somebody waits for a ledger. They close every three or four seconds."""
STALE_AFTER_S = 30.0
"""Without a new ledger: the node has lost the network, or the network has stopped."""


class LedgerClock:
    """The newest validated ledger, kept up to date by a task of its own.

    Attributes:
        index: of that ledger; 0 before the first was read.
        close_time: Unix seconds.
    """

    def __init__(self, node: XrplNode) -> None:
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
        """Since a new ledger was seen."""
        return time.monotonic() - self._moved_at

    async def start(self) -> None:
        """Read it once, then keep reading. Raises what is in NODE_ERRORS."""
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
        """Read it now. Nodes behind one address are not equally far: it never goes back. Raises what is in NODE_ERRORS."""
        found = await self._node.ask("ledger", ledger_index="validated")
        index, close_time = int(found["ledger_index"]), int(found["ledger"]["close_time"]) + RIPPLE_EPOCH
        if found.get("validated") is not True:
            raise ValueError("not a validated ledger")
        if index > self.index:
            self.index, self.close_time, self._moved_at = index, close_time, time.monotonic()
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()

    async def wait(self, *, after: int, at_most_s: float) -> None:
        """Until there is a ledger after that one, or for that long."""
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
        was_silent = False
        while True:
            if self._waiting:
                await asyncio.sleep(LOOK_OFTEN_S)
            else:
                self._wanted.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), LOOK_EVERY_S)
            try:
                await self.look()
                was_silent = False
            except NODE_ERRORS as error:
                if not was_silent:
                    log.warning("the XRPL node cannot be asked: %s", type(error).__name__)
                was_silent = True
                await asyncio.sleep(LOOK_OFTEN_S)
