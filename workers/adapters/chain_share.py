"""A chain whose nodes are slow leaves threads to the other chains: all of them share the threads of one pool."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator

from shared.outcome import UpstreamFailed
from shared.pools import POOLS, Pool

MOST = POOLS[Pool.CHAIN].threads * 3 // 4
"""Reads of one chain that run at once in one process. Others wait for their end."""
MOST_SLOW = POOLS[Pool.CHAIN].threads // 2
"""While they are slow. Others are refused: a thread that waited for them would be lost to the other chains."""
SLOW_S = 0.5
"""A read that takes longer is slow."""


class ThreadShare:
    """The share of one chain. Thread-safe.

    Args:
        chain: for the sentence that callers see.
        now: monotonic seconds.
    """

    def __init__(self, chain: str, *, now: Callable[[], float] = time.monotonic) -> None:
        self._chain = chain
        self._now = now
        self._began: dict[int, float] = {}
        self._numbers = itertools.count()
        self._last_took_s = 0.0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a place during one read. It waits for one, but not behind slow reads.

        Raises:
            UpstreamFailed: `rate_limited`: slow reads have all places that they may have.
        """
        with self._changed:
            while True:
                if len(self._began) >= MOST_SLOW and self._is_slow():
                    raise UpstreamFailed(
                        f"The nodes of {self._chain} are slow, and as many calls as may wait for them already.",
                        reason="rate_limited",
                    )
                if len(self._began) < MOST:
                    break
                self._changed.wait(SLOW_S / 10)
            number = next(self._numbers)
            self._began[number] = self._now()
        try:
            yield
        finally:
            with self._changed:
                self._last_took_s = self._now() - self._began.pop(number)
                self._changed.notify()

    def _is_slow(self) -> bool:
        # The last one counts too: when slow reads end together, those that follow them have only begun.
        return max(self._last_took_s, self._now() - min(self._began.values())) > SLOW_S
