"""A pool of resources that is fair to payers: a free one goes to the waiting payer who has used the pool least of late, and
among equals to the one who came first. Who has waited for half the time that it has comes before these: else a payer with much
work would wait for ever while others come and go.

In order of arrival, a call of a millisecond waited 7 to 10 s behind eight calls of three seconds from another wallet (measured,
one child).
"""

import itertools
import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

HALF_LIFE_S = 10.0
"""Seconds after which a payer's use counts half."""
MAX_PAYERS = 1_000
"""Payers whose use is remembered before those with little use are forgotten."""

Free = TypeVar("Free")


class FairPool(Generic[Free]):
    """The free resources, of which the last returned one is given out first among equals, and the callers that wait.
    Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._free: list[Free] = []
        self._waiting: dict[int, tuple[str, float]] = {}
        """In the order of arrival, by ticket: the payer, and when it comes first."""
        self._tickets = itertools.count()
        self._used: dict[str, tuple[float, float]] = {}

    def put(self, free: Free, payer: str = "", used_s: float = 0.0) -> None:
        """Add a resource, or give one back that a payer has used for some seconds."""
        with self._changed:
            if used_s:
                self._used[payer] = (self._recent(payer) + used_s, self._clock())
                if len(self._used) > MAX_PAYERS:
                    self._used = {payer: used for payer, used in self._used.items() if self._recent(payer) > 1.0}
            self._free.append(free)
            self._changed.notify_all()

    def get(self, payer: str, give_up_at: float, rank: Callable[[Free], int] = lambda free: 0) -> Free:
        """Wait for a free resource.

        Args:
            give_up_at: monotonic seconds, or infinity.
            rank: of several free resources, the one of the highest rank is given out.

        Raises:
            TimeoutError: none was free for this payer until then.
        """
        with self._changed:
            ticket, now = next(self._tickets), self._clock()
            self._waiting[ticket] = payer, now + (give_up_at - now) / 2
            try:
                while not self._free or self._next() != ticket:
                    left_s = give_up_at - self._clock()
                    if left_s <= 0:
                        raise TimeoutError("no free child")
                    self._changed.wait(None if left_s == math.inf else left_s)
                return self._free.pop(max(range(len(self._free)), key=lambda at: (rank(self._free[at]), at)))
            finally:
                del self._waiting[ticket]
                self._changed.notify_all()  # another caller may be the next now

    @property
    def waiting(self) -> int:
        """The number of callers that wait."""
        return len(self._waiting)

    def _next(self) -> int:
        """The ticket of the caller that is served next. Tickets are in order of arrival, so the first of equals wins."""
        now = self._clock()
        for ticket, (_, first_at) in self._waiting.items():
            if first_at <= now:
                return ticket
        return min(self._waiting, key=lambda ticket: self._recent(self._waiting[ticket][0]))

    def _recent(self, payer: str) -> float:
        seconds, at = self._used.get(payer, (0.0, 0.0))
        return seconds * math.exp2((at - self._clock()) / HALF_LIFE_S)
