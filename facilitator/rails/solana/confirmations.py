"""Waits for transactions to be confirmed. One request asks for all of them, however many settlements wait."""

import asyncio
import contextlib

from facilitator.rails.solana.node import NODE_ERRORS, SolanaNode, Status

FIRST_POLL_S = 0.01
LONGEST_POLL_S = 0.5
_AT_ONCE = 256


class Confirmations:
    """The transactions that settlements wait for."""

    def __init__(self, node: SolanaNode) -> None:
        self._node = node
        self._waiting: dict[str, asyncio.Future[Status]] = {}
        self._polling: asyncio.Task[None] | None = None
        self._pause_s = FIRST_POLL_S

    async def wait(self, signature: str, within_s: float) -> Status | None:
        """The status of a confirmed transaction; None when it is not confirmed in time. One caller waits for each."""
        ended = self._waiting[signature] = asyncio.get_running_loop().create_future()
        self._pause_s = FIRST_POLL_S  # the new one may be confirmed at once
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            return await asyncio.wait_for(ended, within_s)
        except TimeoutError:
            return None
        finally:
            del self._waiting[signature]

    async def stop(self) -> None:
        """Return when nobody waits any more."""
        if self._polling is not None:
            await asyncio.gather(self._polling, return_exceptions=True)

    async def _poll(self) -> None:
        while self._waiting:
            waiting = list(self._waiting)
            for start in range(0, len(waiting), _AT_ONCE):
                with contextlib.suppress(*NODE_ERRORS):
                    await self._poll_for(waiting[start : start + _AT_ONCE])
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(self._pause_s * 2, LONGEST_POLL_S)

    async def _poll_for(self, signatures: list[str]) -> None:
        for signature, status in zip(signatures, await self._node.statuses(signatures), strict=True):
            ended = self._waiting.get(signature)
            if status is not None and status.is_confirmed and ended is not None and not ended.done():
                ended.set_result(status)
