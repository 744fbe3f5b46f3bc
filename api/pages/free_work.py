"""Limits work that nobody pays for to a small share of the event loop's time, whatever a single piece of it costs.

A piece is not known to be long before it was done: a JSON Schema of 2 KB can take 60 ms to compile. So each piece is measured,
and the next one waits for a hundred times as long.
"""

import asyncio
import math
import time
from collections.abc import Callable
from typing import TypeVar

from api.errors import Problem

SHARE = 0.01
"""Of the time of one process: the calls of 99 in 100 callers do not notice who sends the most expensive pieces."""
BURST_S = 2.0
"""So much of the time that was not used is kept: 20 ms of work begin at once."""
LONGEST_WAIT_S = 2.0
MOST_WAITING = 16

T = TypeVar("T")


class FreeWork:
    """Runs pieces of free work of one process, one after the other, in the order in which they came.

    Args:
        clock: monotonic seconds. That of uvloop stands still while a piece runs.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._order = asyncio.Lock()
        self._waiting = 0
        self._free_at = 0.0

    async def run(self, piece: Callable[[], T]) -> T:
        """Call `piece` when its time has come. Raises Problem `unavailable` when that is too late."""
        clock = self._clock
        latest = clock() + LONGEST_WAIT_S
        if self._waiting >= MOST_WAITING:
            raise _busy(LONGEST_WAIT_S)
        self._waiting += 1
        try:
            async with self._order:
                if self._free_at > latest:
                    raise _busy(self._free_at - clock())
                await asyncio.sleep(self._free_at - clock())
                began = clock()
                try:
                    return piece()
                finally:
                    self._free_at = max(self._free_at, began - BURST_S) + (clock() - began) / SHARE
        finally:
            self._waiting -= 1


def _busy(wait_s: float) -> Problem:
    detail = "Too many bodies are being checked. Paid calls are not affected."
    return Problem(code="unavailable", detail=detail, retry_after_s=math.ceil(wait_s))
