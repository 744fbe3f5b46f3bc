"""Whose turn it is: what is free goes to the waiting payer who has used least of late, and among equals to the first.

With eight calls of three seconds from one wallet before it, another's call of a millisecond waited for 7 to 10 s in the order
of their coming (measured, one child).
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

HALF_LIFE_S = 10.0
"""After which half of what was used is forgotten."""
MOST_PAYERS = 1_000

Free = TypeVar("Free")


class FairPool(Generic[Free]):
    """What is free, the last one first, and those who wait for it. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._free: list[Free] = []
        self._waiting: dict[int, str] = {}
        self._tickets = itertools.count()
        self._used: dict[str, tuple[float, float]] = {}

    def put(self, free: Free, payer: str = "", used_s: float = 0.0) -> None:
        """Give one back, after so many seconds, or add one."""
        with self._changed:
            if used_s:
                self._used[payer] = (self._recent(payer) + used_s, self._clock())
                if len(self._used) > MOST_PAYERS:
                    self._used = {payer: used for payer, used in self._used.items() if self._recent(payer) > 1.0}
            self._free.append(free)
            self._changed.notify_all()

    def get(self, payer: str, give_up_at: float) -> Free:
        """Wait for one.

        Args:
            give_up_at: monotonic seconds, or infinity.

        Raises:
            TimeoutError: it was never this payer's turn until then.
        """
        with self._changed:
            ticket = next(self._tickets)
            self._waiting[ticket] = payer
            try:
                while not self._free or self._next() != ticket:
                    left_s = give_up_at - self._clock()
                    if left_s <= 0:
                        raise TimeoutError("no free child")
                    self._changed.wait(None if left_s == math.inf else left_s)
                return self._free.pop()
            finally:
                del self._waiting[ticket]
                self._changed.notify_all()  # whose turn it is may be another's now

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def _next(self) -> int:
        """The ticket whose turn it is. The first of several that have used as much, for they are in their order."""
        return min(self._waiting, key=lambda ticket: self._recent(self._waiting[ticket]))

    def _recent(self, payer: str) -> float:
        seconds, at = self._used.get(payer, (0.0, 0.0))
        return seconds * math.exp2((at - self._clock()) / HALF_LIFE_S)
