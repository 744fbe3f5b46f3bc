"""Waits for transactions to be confirmed: one question for all of them, however many settlements wait."""

from __future__ import annotations

import asyncio
import contextlib

from facilitator.rails.solana.node import NODE_ERRORS, SolanaNode, Status

FIRST_POLL_S = 0.01
LONGEST_POLL_S = 0.5
_AT_ONCE = 256


class Confirmations:
    """The transactions that somebody waits for."""

    def __init__(self, node: SolanaNode) -> None:
        self._node = node
        self._waiting: dict[str, asyncio.Future[Status]] = {}
        self._asking: asyncio.Task[None] | None = None
        self._pause_s = FIRST_POLL_S

    async def wait(self, signature: str, within_s: float) -> Status | None:
        """Its status, once it is confirmed; None when it is not within so many seconds. One settlement waits for each."""
        ended = self._waiting[signature] = asyncio.get_running_loop().create_future()
        self._pause_s = FIRST_POLL_S  # it may be there at once
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        try:
            return await asyncio.wait_for(ended, within_s)
        except TimeoutError:
            return None
        finally:
            del self._waiting[signature]

    async def stop(self) -> None:
        """When nobody waits any more."""
        if self._asking is not None:
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask(self) -> None:
        while self._waiting:
            waiting = list(self._waiting)
            for start in range(0, len(waiting), _AT_ONCE):
                with contextlib.suppress(*NODE_ERRORS):
                    await self._ask_for(waiting[start : start + _AT_ONCE])
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(self._pause_s * 2, LONGEST_POLL_S)

    async def _ask_for(self, signatures: list[str]) -> None:
        for signature, status in zip(signatures, await self._node.statuses(signatures), strict=True):
            ended = self._waiting.get(signature)
            if status is not None and status.is_confirmed and ended is not None and not ended.done():
                ended.set_result(status)
