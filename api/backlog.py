"""Predicts when a calculation would be answered, from what its pool has to do, so that nobody is charged for a call that would
be late.

Sixty scans of 48 KB from ten wallets were all within their rate limits, and 28 of them were charged and answered 504: one
child process works on them, and the pool had room for a thousand (measured).

A worker gives its children to the payers in turn (workers/fair_pool.py). So payers share them equally, and a payer's work W
is done when each other payer q has had min(W, W_q). Work is counted in seconds of one worker process: what a child takes,
divided by the number of children.

A busy machine takes several times as long, whatever is calculated. So the cost of a call is learned as if the machine did
nothing else, and multiplied by how many times slower the last calls were, in time or late. With plain means of what calls had
taken in time, 61 of 108 calls were late when a machine became busy (measured: eight busy loops on two cores).
"""

import math
import time
from bisect import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from shared.endpoint import Endpoint
from shared.queue.replies import Cost

FOR_NEW = 0.4
"""Part of its deadline in which a new call must be answered, by the prediction: the cost of a call is a mean."""
FOR_OTHERS = 0.9
"""Part of the time that is left to calls in flight, in which they must still be answered when it is taken."""
UNKNOWN_COST = 0.2
"""Part of its CPU limit that a call is thought to take before one of its endpoint has been seen."""
LIMIT_BYTES = 100_000
"""The CPU limits are made for bodies of this length, where they depend on it."""
REMEMBERED = 10
"""The mean of a cost moves as if it were of so many calls."""
SLOWNESS_OF = 5
"""The same for how many times slower the machine is."""
MEASURED_FOR_S = 10.0
"""How long that is believed after the last call. Then a call that comes when none is in flight is taken, and shows it anew."""
UNMEASURED = 3.0
"""How many times slower the machine is thought to be, at least, until that call is answered."""
LEAST_S = 0.001
"""Less than that is not divided by: of a call whose child did not start in time, all was waiting."""


@dataclass(slots=True, eq=False)
class Work:
    """One call in flight.

    Attributes:
        cost_s: what it is thought to take on a machine that does nothing else.
        late_at: when its caller gives up, by the backlog's clock.
    """

    payer: str
    cost_s: float
    late_at: float


class Backlog:
    """What this API process has in flight in one pool, and what calls have cost lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._works: dict[Work, None] = {}  # in the order in which they came, in which a payer's are worked on
        self._costs: dict[str, dict[int, tuple[float, int]]] = {}
        self._taken_s = self._waited_s = 0.0
        self._measured_at = -math.inf

    def measured(self, cost: Cost) -> None:
        """A call has ended, in time or late."""
        if not cost.taken_s:
            return
        kept = 0.0 if self._is_unmeasured() else 1 - 1 / SLOWNESS_OF
        self._taken_s = self._taken_s * kept + cost.taken_s
        self._waited_s = self._waited_s * kept + cost.waited_s
        self._measured_at = self._clock()

    def learn(self, endpoint: Endpoint, size: int, cost_s: float) -> None:
        """A call with a body of so many bytes would take so many seconds of its worker on a machine that does nothing else."""
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
        scale *= self._slowness()
        shares: dict[str, float] = {}
        for known in self._works:
            shares[known.payer] = shares.get(known.payer, 0.0) + known.cost_s
        before_s = shares.get(work.payer, 0.0)
        shares[work.payer] = before_s + work.cost_s
        done_after = _done_after(shares.values())
        late_s = done_after(shares[work.payer]) * scale - (work.late_at - now) * FOR_NEW
        ahead: dict[str, float] = {}
        for known in self._works:  # each: a payer's first call may be the one that would be late
            ahead[known.payer] = own_s = ahead.get(known.payer, 0.0) + known.cost_s
            # What has less work ahead than this payer had before is done before that.
            if known.payer != work.payer and own_s > before_s:
                late_s = max(late_s, done_after(own_s) * scale - (known.late_at - now) * FOR_OTHERS)
        return max(0.0, late_s)

    def retry_after_s(self, work: Work, *, scale: float) -> int:
        """When it is worth another try; 0 when all are in time. What runs now ends at once, or after a whole call's time."""
        late_s = self.late_by_s(work, scale=scale)
        return math.ceil(late_s + work.cost_s * self._slowness()) if late_s else 0

    def add(self, work: Work) -> None:
        """It is in flight."""
        self._works[work] = None

    def remove(self, work: Work) -> None:
        """It is answered."""
        self._works.pop(work, None)

    def _slowness(self) -> float:
        """How many times longer than on a machine that does nothing else calls take now."""
        slowness = max(1.0, self._taken_s / max(self._taken_s - self._waited_s, LEAST_S))
        if self._is_unmeasured():
            return max(UNMEASURED, slowness) if self._works else 1.0
        # While no call is in flight nobody is kept out by what may be the wait of one short call.
        return slowness if self._works else min(slowness, UNMEASURED)

    def _is_unmeasured(self) -> bool:
        return self._clock() - self._measured_at > MEASURED_FOR_S

    def _cost_s(self, endpoint: Endpoint, size: int) -> float:
        costs, wanted = self._costs.get(endpoint.name, {}), _class_of(size)
        if not costs:
            return endpoint.child_limit_s * UNKNOWN_COST * (1 if endpoint.isolated else min(1.0, size / LIMIT_BYTES))
        nearest = min(costs, key=lambda known: (abs(known - wanted), known))
        growth = 4.0 ** max(0, wanted - nearest)  # linear in the size; a shorter body is thought to cost as much
        return min(costs[nearest][0] * growth, endpoint.child_limit_s)


def _done_after(shares: Iterable[float]) -> Callable[[float], float]:
    """Gives the seconds until so much work of one payer is done, where all have equal shares."""
    ordered = sorted(shares)
    sums = [0.0, *accumulate(ordered)]

    def done_after(own_s: float) -> float:
        smaller = bisect(ordered, own_s)
        return sums[smaller] + own_s * (len(ordered) - smaller)

    return done_after


def _class_of(size: int) -> int:
    """Bodies of one class differ by a factor of four at most."""
    return size.bit_length() // 2
