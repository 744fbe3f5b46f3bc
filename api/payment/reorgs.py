"""Checks ten minutes after each settlement whether the payment is still on the chain.

A call is answered as soon as its transaction is in a block, and a chain may drop its last blocks in a reorganisation. Then the
price of the call is lost, and the caller owes nothing. A rail that loses many payments takes no new ones meanwhile.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence

import msgspec

from api.payment.ledger import Ledger
from api.payment.ledger_terms import Settled
from api.payment.periodic_task import PeriodicTask
from api.payment.rails import ConfiguredRail
from api.payment.settle import LATE_BLOCKS_S, proven_by
from api.payment.unsettled import NoEvidence, Unsettled
from shared.x402.wire import Offer

log = logging.getLogger(__name__)

EVERY_S = 5.0
AT_ONCE = 16
"""Payments of one run. Each takes one call to a facilitator."""
BUDGET = 20
"""Payments that one rail may lose within WINDOW_MS before it takes no new ones."""
WINDOW_MS = 60 * 60 * 1000


class ReorgMonitor(PeriodicTask):
    """Looks for settled payments on the chain once more. Of all API processes, one checks each payment."""

    def __init__(self, ledger: Ledger, rails: Sequence[ConfiguredRail]) -> None:
        super().__init__("reorg-monitor", every_s=EVERY_S, at_once=AT_ONCE)
        self._ledger = ledger
        self._rails: Mapping[tuple[str, str], ConfiguredRail] = {rail.asset: rail for rail in rails}

    async def run_once(self) -> int:
        """Check the payments that are due. Returns their number. Raises RedisLost and RedisRefused."""
        due = await self._ledger.take_settled(AT_ONCE)
        await asyncio.gather(*(self._check(payment) for payment in due))
        lost = await self._ledger.lost_lately(tuple(self._rails), WINDOW_MS)
        for rail, count in zip(self._rails.values(), lost, strict=True):
            rail.health.hold(is_held=count >= BUDGET)
        return len(due)

    async def _check(self, payment: Settled) -> None:
        offer = msgspec.json.decode(payment.offer, type=Offer)
        rail = self._rails.get((offer.network, offer.asset))
        try:
            if rail is None:
                raise NoEvidence("its rail is not configured any more")
            evidence = await rail.facilitator.evidence(payment.payment_id)
        except NoEvidence:
            await self._ledger.kept(payment.payment_id)
            return
        except Unsettled:
            return
        if proven_by(evidence, offer, payment.payer) is not None:
            await self._ledger.kept(payment.payment_id)
            return
        # The chain's own clock counts: a node that is behind has not seen the payment yet.
        is_late = evidence.as_of > payment.at_ms / 1000 + LATE_BLOCKS_S
        if evidence.status == "unknown" or not is_late:
            return
        if await self._ledger.taken_back(payment.payment_id, rail.asset, WINDOW_MS):
            log.error("%s was settled, and the chain does not show it any more", payment.payment_id)
