"""Predicts when a calculation would be answered, from what its pool has to do, so that nobody is charged for a call that would
be late.

Sixty scans of 48 KB from ten wallets were all within their rate limits, and 28 of them were charged and answered 504: one
child process works on them, and the pool had room for a thousand (measured).

A worker gives its children to the payers in turn (workers/fair_pool.py). So payers share them equally, and a payer's work W
is done when each other payer q has had min(W, W_q). Work is counted in seconds of one worker process: what a child takes,
divided by the number of children.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from shared.endpoint import Endpoint

FOR_NEW = 0.6
"""Part of its deadline in which a new call must be answered, by the prediction: the cost of a call is a mean."""
FOR_OTHERS = 0.9
"""Part of the time that is left to calls in flight, in which they must still be answered when it is taken."""
UNKNOWN_COST = 0.5
"""Part of its CPU limit that a call is thought to take before one of its endpoint has been seen."""
LIMIT_BYTES = 100_000
"""The CPU limits are made for bodies of this length, where they depend on it."""
REMEMBERED = 10
"""The mean of a cost moves as if it were of so many calls."""


@dataclass(slots=True, eq=False)
class Work:
    """One call in flight.

    Attributes:
        cost_s: what it is thought to take.
        late_at: when its caller gives up, by the backlog's clock.
    """

    payer: str
    cost_s: float
    late_at: float


class Backlog:
    """What this API process has in flight in one pool, and what calls have cost lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._works: set[Work] = set()
        self._costs: dict[str, dict[int, tuple[float, int]]] = {}

    def learn(self, endpoint: Endpoint, size: int, cost_s: float) -> None:
        """A call with a body of so many bytes has taken so many seconds of its worker."""
        costs = self._costs.setdefault(endpoint.name, {})
        mean_s, count = costs.get(_class_of(size), (0.0, 0))
        count = min(count + 1, REMEMBERED)
        costs[_class_of(size)] = mean_s + (cost_s - mean_s) / count, count

    def work(self, endpoint: Endpoint, size: int, payer: str) -> Work:
        """A call that is not in flight yet."""
        return Work(payer, self._cost_s(endpoint, size), self._clock() + endpoint.deadline_s)

    def late_by_s(self, work: Work, *, scale: float) -> float:
        """How many seconds too late the call, or one that is in flight, would be answered if it were taken; 0 when all are in
        time.

        Args:
            scale: the work of all API processes in proportion to that of this one, divided by the number of workers.
        """
        now = self._clock()
        shares = self._shares()
        before_s = shares.get(work.payer, (0.0, 0.0))[0]
        own_s = before_s + work.cost_s
        shares[work.payer] = own_s, work.late_at
        late_s = _done_after(own_s, shares) * scale - (work.late_at - now) * FOR_NEW
        for payer, (share_s, late_at) in shares.items():
            # Who has less work than this payer had before is done before that.
            if payer != work.payer and share_s > before_s:
                late_s = max(late_s, _done_after(share_s, shares) * scale - (late_at - now) * FOR_OTHERS)
        return max(0.0, late_s)

    def retry_after_s(self, work: Work, *, scale: float) -> int:
        """When it is worth another try; 0 when all are in time. What runs now ends at once, or after a whole call's time."""
        late_s = self.late_by_s(work, scale=scale)
        return math.ceil(late_s + work.cost_s) if late_s else 0

    def add(self, work: Work) -> None:
        """It is in flight."""
        self._works.add(work)

    def remove(self, work: Work) -> None:
        """It is answered."""
        self._works.discard(work)

    def _shares(self) -> dict[str, tuple[float, float]]:
        """By payer: the seconds of its work, and when the last of it would be late."""
        shares: dict[str, tuple[float, float]] = {}
        for work in self._works:
            share_s, late_at = shares.get(work.payer, (0.0, 0.0))
            shares[work.payer] = share_s + work.cost_s, max(late_at, work.late_at)
        return shares

    def _cost_s(self, endpoint: Endpoint, size: int) -> float:
        costs, wanted = self._costs.get(endpoint.name, {}), _class_of(size)
        if not costs:
            return endpoint.child_limit_s * UNKNOWN_COST * (1 if endpoint.isolated else min(1.0, size / LIMIT_BYTES))
        nearest = min(costs, key=lambda known: (abs(known - wanted), known))
        growth = 4.0 ** max(0, wanted - nearest)  # linear in the size; a shorter body is thought to cost as much
        return min(costs[nearest][0] * growth, endpoint.child_limit_s)


def _done_after(own_s: float, shares: dict[str, tuple[float, float]]) -> float:
    """Seconds until so much work of one payer is done, where all have equal shares."""
    return sum(min(own_s, share_s) for share_s, _ in shares.values())


def _class_of(size: int) -> int:
    """Bodies of one class differ by a factor of four at most."""
    return size.bit_length() // 2
