"""Settlements that the ledger could not record when they were made. They are recorded as soon as it can.

Their callers were told that they are charged. Until it is recorded, only this process knows that, besides the facilitator.
"""

from __future__ import annotations

from api.payment.ledger import Ledger
from api.payment.periodic_task import PeriodicTask

EVERY_S = 0.5
MOST = 10_000
"""Settlements that are kept. Of more than these the oldest is left to the facilitator, which finds it when its call is
repeated."""


class UnrecordedSettlements(PeriodicTask):
    """Keeps receipts by payment id until the ledger has them."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__("unrecorded", every_s=EVERY_S, at_once=MOST + 1)
        self._ledger = ledger
        self._receipts: dict[str, bytes] = {}

    def keep(self, payment_id: str, receipt: bytes) -> None:
        """Keep a receipt that the ledger did not take."""
        self._receipts[payment_id] = receipt
        if len(self._receipts) > MOST:
            del self._receipts[next(iter(self._receipts))]

    def receipt(self, payment_id: str) -> bytes:
        """The receipt of a payment whose settlement is not recorded yet; empty for any other payment."""
        return self._receipts.get(payment_id, b"")

    async def run_once(self) -> int:
        """Record what is kept. Raises RedisLost when the ledger cannot be reached, and RedisRefused when it takes nothing."""
        recorded = 0
        for payment_id, receipt in list(self._receipts.items()):
            await self._ledger.settled(payment_id, receipt, 0)
            self._receipts.pop(payment_id, None)
            recorded += 1
        return recorded
