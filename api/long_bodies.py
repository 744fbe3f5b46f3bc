"""A limit on the bytes of long bodies per second: the event loop needs milliseconds to check and seal one, and serves no other
call meanwhile."""

from __future__ import annotations

import asyncio

from api.causes import Cause
from api.errors import problem_of

LONG_BYTES = 32 * 1024
"""A body of this length is checked in a fraction of a millisecond, whatever is in it."""
BYTES_PER_S = 3_000_000
"""Of long bodies, in one process: 30 of 100 KB a second take a tenth of its time when they are nested as deeply as possible."""
LONGEST_WAIT_S = 5.0


class LongBodies:
    """Spreads the long bodies of one process over time."""

    def __init__(self) -> None:
        self._free_at = 0.0

    async def wait(self, size: int) -> None:
        """Wait until a body of `size` bytes may be read. A body of at most LONG_BYTES need not wait.

        Raises:
            Problem: ``pool_full`` when the wait would be longer than LONGEST_WAIT_S.
        """
        now = asyncio.get_running_loop().time()
        at = max(now, self._free_at)
        if at - now > LONGEST_WAIT_S:
            raise problem_of(Cause.LONG_BODIES)
        self._free_at = at + size / BYTES_PER_S
        if at > now:
            await asyncio.sleep(at - now)
