"""Long bodies pass one after the other, with room between them: judging and sealing one takes the event loop milliseconds, for
which everybody else waits."""

from __future__ import annotations

import asyncio

from api.errors import retryable_problem

LONG_BYTES = 32 * 1024
"""Judged in a fraction of a millisecond, whatever is in it."""
BYTES_PER_S = 3_000_000
"""Of long bodies, in one process: 30 a second of 100 KB, which take a tenth of its time where they are nested without end."""
LONGEST_WAIT_S = 5.0


class LongBodies:
    """Of one process."""

    def __init__(self) -> None:
        self._free_at = 0.0

    async def turn(self, size: int) -> None:
        """Wait until a body of so many bytes may be read. Shorter ones than LONG_BYTES need no turn.

        Raises:
            Problem: ``pool_full``, when too many wait already.
        """
        now = asyncio.get_running_loop().time()
        at = max(now, self._free_at)
        if at - now > LONGEST_WAIT_S:
            raise retryable_problem("pool_full", "Too many long bodies are waiting.", charged=False, after_s=2)
        self._free_at = at + size / BYTES_PER_S
        if at > now:
            await asyncio.sleep(at - now)
