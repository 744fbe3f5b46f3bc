"""Payments that are sent by themselves and last: what their payers' code does must not affect others."""

import time
from collections import Counter
from functools import partial

from facilitator.rails.evm.transaction import Payment

AT_ONCE = 16
"""Such transactions that may be in no block yet. Each may burn its own gas limit, and no more."""
OF_ONE_PAYER = 4
SUSPECT_FOR_S = 3600.0
MOST_SUSPECTS = 10_000


class Isolation:
    """The payments that wait to be sent by themselves, and the payers who may have spoiled a group."""

    def __init__(self) -> None:
        self._waiting: list[Payment] = []
        self._under_way: Counter[str] = Counter()
        self._suspects: dict[str, float] = {}

    def suspect(self, payer: str) -> None:
        """Keep this payer's payments out of groups for an hour, and check each when his last one has ended."""
        self._suspects.pop(payer, None)
        self._suspects[payer] = time.monotonic() + SUSPECT_FOR_S
        if len(self._suspects) > MOST_SUSPECTS:
            del self._suspects[next(iter(self._suspects))]

    def __len__(self) -> int:
        return len(self._waiting)

    def is_suspect(self, payer: str) -> bool:
        """Whether this payer's payments are sent by themselves, one at a time."""
        return self._suspects.get(payer, 0.0) > time.monotonic()

    def add(self, payment: Payment) -> None:
        """It was checked, and waits for its turn."""
        self._waiting.append(payment)

    def take(self) -> Payment | None:
        """The next one, whose transaction counts as under way until its payment has ended; None when all have to wait."""
        self._waiting = [one for one in self._waiting if not one.is_withdrawn]
        if self._under_way.total() >= AT_ONCE:
            return None
        for payment in self._waiting:
            payer = payment.authorization.payer
            if self._under_way[payer] < (1 if self.is_suspect(payer) else OF_ONE_PAYER):
                self._waiting.remove(payment)
                self._under_way[payer] += 1
                payment.ended.add_done_callback(partial(self._release, payer))
                return payment
        return None

    def clear(self) -> list[Payment]:
        """Take out all that wait."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def later_of(self, payer: str) -> list[Payment]:
        """Take out what waits of one payer: an earlier one has ended, so they are to be checked again."""
        theirs = [one for one in self._waiting if one.authorization.payer == payer]
        self._waiting = [one for one in self._waiting if one.authorization.payer != payer]
        return theirs

    def _release(self, payer: str, _: object) -> None:
        self._under_way[payer] -= 1
        if not self._under_way[payer]:
            del self._under_way[payer]
