"""Settlements that the ledger could not record when they were made. They are recorded as soon as it can.

Their callers have been answered that they are charged. Until the ledger has it, only this process and the facilitator know it.
"""

from collections.abc import Callable

from api.payment.ledger import Ledger
from api.payment.ledger_terms import Recorded
from api.payment.periodic_task import PeriodicTask
from api.redis_client import RedisLost, RedisRefused
from shared.ledger.keys import bucket_of

EVERY_S = 0.5
MOST = 10_000
"""Settlements that are kept. Of more than these the oldest is left to the facilitator, which finds it when its call is
repeated."""


class UnrecordedSettlements(PeriodicTask):
    """Keeps receipts by payment id until the ledger has them."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__("unrecorded", every_s=EVERY_S, at_once=MOST + 1)
        self._ledger = ledger
        self._kept: dict[str, tuple[bytes, Callable[[], None]]] = {}

    def keep(self, payment_id: str, receipt: bytes, *, on_recorded: Callable[[], None]) -> None:
        """Keep a receipt that the ledger did not take.

        Args:
            on_recorded: called when it is recorded here, and not by another process.
        """
        self._kept[payment_id] = receipt, on_recorded
        if len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]

    def receipt(self, payment_id: str) -> bytes:
        """The receipt of a payment whose settlement is not recorded yet; empty for any other payment."""
        kept = self._kept.get(payment_id)
        return kept[0] if kept else b""

    async def run_once(self) -> int:
        """Record what is kept, as far as its servers take it. Raises RedisLost and RedisRefused when none does."""
        recorded, lost = 0, dict[int, RedisLost | RedisRefused]()
        for payment_id, (receipt, on_recorded) in list(self._kept.items()):
            if (bucket := bucket_of(payment_id)) in lost:
                continue
            try:
                # The script may have run, and only its answer was lost: then a copy of the call may drive the payment already.
                is_known = bool(await self._ledger.receipt(payment_id))
                if not is_known and await self._ledger.settled(payment_id, receipt, 0) is Recorded.NEW:
                    on_recorded()
            except (RedisLost, RedisRefused) as error:
                lost[bucket] = error
                continue
            self._kept.pop(payment_id, None)
            recorded += 1
        if lost and not recorded:
            raise next(iter(lost.values()))
        return recorded
