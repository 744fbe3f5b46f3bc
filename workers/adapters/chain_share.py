"""A chain whose nodes are slow leaves threads to the other chains that are read: all of them share the threads of one pool."""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from jobs.ports.chains import Chain
from shared.outcome import UpstreamFailed
from shared.pools import POOLS, Pool

THREADS = POOLS[Pool.CHAIN].threads
MOST = THREADS * 3 // 4
"""Reads of one chain that run at once beside those of others. More wait for their end."""
MOST_SLOW = THREADS // 2
"""While they are slow. More are refused: a thread that waited for them would be lost to the other chains."""
SLOW_S = 1.0
"""A read that takes longer is slow."""
IN_USE_S = 10.0
"""A chain that was read so lately needs threads."""


class _Use:
    """Of one chain: when its reads began that run, how long the last one took, and when it ended."""

    def __init__(self) -> None:
        self.began: dict[int, float] = {}
        self.last_took_s = 0.0
        self.last_ended = float("-inf")

    def is_slow(self, now: float) -> bool:
        # The last one counts too: when slow reads end together, those that follow them have only begun.
        return max(self.last_took_s, now - min(self.began.values(), default=now)) > SLOW_S

    def is_in_use(self, now: float) -> bool:
        return bool(self.began) or now - self.last_ended < IN_USE_S


class ThreadShares:
    """The shares of all chains. A chain that is read alone has all threads. Thread-safe.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, chains: Iterable[Chain], *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._uses = {chain: _Use() for chain in chains}
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def hold(self, chain: Chain) -> Iterator[None]:
        """Hold a place during one read. It waits for one, but not behind slow reads.

        Raises:
            UpstreamFailed: `rate_limited`: slow reads have all places that they may have.
        """
        use = self._uses[chain]
        with self._changed:
            while len(use.began) >= MOST_SLOW and self._others_are_in_use(chain):
                if use.is_slow(self._now()):
                    raise UpstreamFailed(
                        f"The nodes of {chain} are slow, and as many calls as may wait for them already.",
                        reason="rate_limited",
                    )
                if len(use.began) < MOST:
                    break
                self._changed.wait(SLOW_S / 10)
            number = next(self._numbers)
            use.began[number] = self._now()
        try:
            yield
        finally:
            with self._changed:
                use.last_ended = self._now()
                use.last_took_s = use.last_ended - use.began.pop(number)
                self._changed.notify_all()

    def _others_are_in_use(self, chain: Chain) -> bool:
        return any(use.is_in_use(self._now()) for other, use in self._uses.items() if other != chain)
