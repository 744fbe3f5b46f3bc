"""Finds out whether the payments of callers who left were settled.

The reconciler never starts a settlement for a caller who has left. It reads the chain through the facilitator. A facilitator
without evidence gets the same payment again while it is valid, which settles at most once. `coinslot-ops payments` lists
what stays undecided.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

import msgspec

from api.payment.ledger import Ledger
from api.payment.ledger_terms import Doubtful, Recorded
from api.payment.periodic_task import PeriodicTask
from api.payment.rails import ConfiguredRail
from api.payment.settle import FAILED, proven_by, refuted_by
from api.payment.unsettled import NoEvidence, Unsettled
from shared.observability.metrics import metrics
from shared.sealing.sealing import Sealer, Unsealable
from shared.x402.wire import Evidence, Offer, Payment, Settlement

log = logging.getLogger(__name__)

EVERY_S = 1.0
AT_ONCE = 8
"""Payments of one run. Each takes one or two calls to a facilitator."""
LEASE_MARGIN_MS = 3_000


class Reconciler(PeriodicTask):
    """Takes doubtful payments from the ledger. Of all API processes, one gets each payment.

    Args:
        rails: the rails whose facilitators are asked. The asset of a payment's offer tells which.
        sealer: opens the payments that the ledger keeps.
        probe_s: longest time, in seconds, that one facilitator may take to answer.
    """

    def __init__(self, ledger: Ledger, rails: Sequence[ConfiguredRail], sealer: Sealer, *, probe_s: float) -> None:
        super().__init__("reconciler", every_s=EVERY_S, at_once=AT_ONCE)
        self._ledger = ledger
        self._rails: Mapping[tuple[str, str], ConfiguredRail] = {rail.asset: rail for rail in rails}
        self._sealer = sealer
        self._lease_ms = int(2 * probe_s * 1000) + LEASE_MARGIN_MS

    async def run_once(self) -> int:
        """Examine the payments that are due. Returns their number. Raises RedisLost and RedisRefused."""
        doubtful = await self._ledger.take_doubtful(AT_ONCE, self._lease_ms)
        await asyncio.gather(*(self._examine(each) for each in doubtful))
        return len(doubtful)

    async def _examine(self, payment: Doubtful) -> None:
        offer = msgspec.json.decode(payment.offer, type=Offer)
        rail = self._rails.get((offer.network, offer.asset))
        if rail is None:
            log.warning("%s was made on %s, which is not configured any more", payment.payment_id, offer.network)
            return
        try:
            evidence = await rail.facilitator.evidence(payment.payment_id)
        except NoEvidence:
            await self._ask_again(payment, offer, rail)
            return
        except Unsettled:
            evidence = Evidence(status="unknown", network=offer.network)
        settlement = proven_by(evidence, offer, payment.payer)
        if settlement is not None:
            await self._settled(payment, settlement, offer, rail)
        elif payment.state == "REJECTED":
            if evidence.status != "unknown":
                await self._ledger.close(payment.payment_id)
        elif refuted_by(evidence, payment.valid_before):
            if await self._ledger.rejected(payment.payment_id, payment.attempts, FAILED, by_evidence=True):
                metrics.payment(payment.endpoint, rail.rail, "rejected")
        else:
            await self._ledger.unknown(payment.payment_id, payment.attempts)

    async def _ask_again(self, payment: Doubtful, offer: Offer, rail: ConfiguredRail) -> None:
        """Repeat the identical settle call, the only question that a facilitator without evidence answers."""
        if payment.state == "REJECTED":
            await self._ledger.close(payment.payment_id)
            return
        attempts = payment.attempts
        try:
            made = msgspec.json.decode(self._sealer.open(payment.payment, payment.payment_id.encode()), type=Payment)
            if payment.valid_before <= time.time():
                raise Unsettled("it can no longer be sent")
            attempts = await self._ledger.attempt(payment.payment_id, attempts, self._lease_ms)
            if not attempts:
                return
            settlement = await rail.settle(made, offer, payer=payment.payer, facilitator=payment.facilitator)
            await self._settled(payment, settlement, offer, rail)
        except (Unsettled, Unsealable, msgspec.DecodeError):
            # A refusal decides nothing: it may be refused because an earlier attempt has settled it.
            await self._ledger.unknown(payment.payment_id, attempts)

    async def _settled(self, payment: Doubtful, settlement: Settlement, offer: Offer, rail: ConfiguredRail) -> None:
        log.info("settlement of %s found: %s", payment.payment_id, settlement.transaction)
        recorded = await self._ledger.settled(payment.payment_id, msgspec.json.encode(settlement), 0)
        if recorded is Recorded.NEW:
            metrics.payment(payment.endpoint, rail.rail, "settled", tokens=rail.tokens(offer))
