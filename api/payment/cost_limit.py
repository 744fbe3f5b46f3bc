"""Which prices are worth their settlement on a rail, by what its facilitator says that one costs now."""

import time
from decimal import Decimal
from fractions import Fraction

from shared.x402.settlement_cost import least_price

KNOWN_S = 30.0
"""What a facilitator has said for so long without a repetition is forgotten. It refuses by itself what costs too much."""
LOWERED_AT = Fraction(4, 5)
"""The least price falls only when it would fall to this part of itself: so an offer near it does not come and go."""


class CostLimit:
    """The least price that is worth its settlement.

    Args:
        share: the part of a price that its settlement may cost; None: any, and nothing is limited.
    """

    def __init__(self, share: Fraction | None) -> None:
        self.cost: int | None = None
        """Of one settlement, in atomic units; None when the facilitator does not say it."""
        self.least = 0
        """The least price, in atomic units. Without a limit it is the cost."""
        self._share = share
        self._noted_at = 0.0

    def note(self, cost: int | None) -> bool:
        """Take what the facilitator says. Returns whether the least price has changed."""
        now = time.monotonic()
        if cost is None and now - self._noted_at < KNOWN_S:
            return False
        self.cost, self._noted_at = cost, now
        least = 0 if cost is None else least_price(cost, self._share or Fraction(1))
        if self.least * LOWERED_AT < least <= self.least:
            return False
        before, self.least = self.least, least
        return least != before

    def is_worth(self, amount: str) -> bool:
        """Whether an offer's amount is at least the least price."""
        return not self.least or Decimal(amount) >= self.least

    def allows(self, amount: str) -> bool:
        """Whether payments of this amount are taken."""
        return self._share is None or self.is_worth(amount)
