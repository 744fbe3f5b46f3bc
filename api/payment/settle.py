"""Step 6 of a paid call (docs/architecture.md): from a claimed payment to its receipt, or to why there is none."""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass

import msgspec

from api.errors import Charged, Problem, retryable_problem
from api.http import Answer
from api.payment.facilitator import Declined, NotSent, Unsettled
from api.payment.gate import PaymentGate
from api.payment.headers import Presented
from api.payment.ledger import Claim, Ledger
from api.payment.rails import ConfiguredRail
from api.redis_client import RedisLost, RedisRefused
from shared.failpoints import reach
from shared.x402.authorization import Authorization
from shared.x402.wire import Evidence, Offer, Payment, Settlement

log = logging.getLogger(__name__)

FAILED = "settlement_failed"
LATE_BLOCKS_S = 30
"""How far behind the chain the blocks that a node shows may be."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A payment that passed every check that needs no network, with the request that it pays."""

    presented: Presented
    offer: Offer
    rail: ConfiguredRail
    payment: Payment
    authorization: Authorization
    claim: Claim
    body: bytes

    @property
    def is_its_own(self) -> bool:
        """Whether the call is the one that this payment pays, and not one that another payment has paid before."""
        return self.claim.payment_id == self.authorization.payment_id


async def settle(checked: Checked, attempts: int, ledger: Ledger, gate: PaymentGate) -> bytes | Answer:
    """Settle: the receipt, or the 402 of a definite refusal. Unknown is never 402: clients then pay twice."""
    facilitator = checked.rail.facilitator
    reach("before-settle")
    try:
        settlement = await facilitator.settle(checked.payment, checked.offer, payer=checked.authorization.payer)
        return await _settled(checked, settlement, ledger, gate)
    except NotSent:
        forgotten = await ledger.abandon(checked.claim.payment_id, attempts)
        charged: Charged = False if forgotten else "unknown"
        raise retryable_problem(
            "unavailable", "The payment cannot be settled now.", charged=charged, after_s=5
        ) from None
    except Declined as declined:
        reach("declined")
        if await ledger.rejected(checked.claim.payment_id, attempts, declined.reason):
            reach("rejected")
            return gate.declined(declined.reason, declined.settlement)
    except Unsettled as undecided:
        log.warning("undecided settlement of %s: %s", checked.claim.payment_id, undecided)
    return await _settled_by_evidence(checked, attempts, ledger, gate)


async def _settled_by_evidence(checked: Checked, attempts: int, ledger: Ledger, gate: PaymentGate) -> bytes | Answer:
    """After any doubt only the chain decides."""
    authorization, payment_id = checked.authorization, checked.claim.payment_id
    reach("undecided")
    try:
        evidence = await checked.rail.facilitator.evidence(payment_id)
    except Unsettled:
        evidence = Evidence(status="unknown", network=checked.offer.network)
    reach("evidence-read")
    proven = proven_by(evidence, checked.offer, authorization.payer)
    if proven is not None:
        return await _settled(checked, proven, ledger, gate)
    is_refuted = refuted_by(evidence, checked.claim.valid_before)
    if is_refuted and await ledger.rejected(payment_id, attempts, FAILED, by_evidence=True):
        return gate.refuse(FAILED)
    await ledger.unknown(payment_id, attempts)
    reach("unknown")
    log.warning("unknown settlement of %s after %d attempts", payment_id, attempts)
    detail = "It is not known yet whether the payment went through. Do not pay again."
    raise retryable_problem("settlement_unknown", detail, charged="unknown", after_s=2)


async def _settled(checked: Checked, settlement: Settlement, ledger: Ledger, gate: PaymentGate) -> bytes:
    """Record the settlement; what it is recorded as is the receipt."""
    receipt = msgspec.json.encode(settlement)
    reach("facilitator-answered")
    try:
        await ledger.settled(checked.claim.payment_id, receipt, checked.claim.run_lease_ms)
        reach("settled")
    except (RedisLost, RedisRefused):
        # The money has moved. The same payment again finds that out from the facilitator.
        problem = retryable_problem("unavailable", "The call was paid and cannot be run now.", charged=True, after_s=2)
        raise with_receipt(problem, checked, receipt, gate) from None
    return receipt


def with_receipt(problem: Problem, checked: Checked, receipt: bytes, gate: PaymentGate) -> Problem:
    """A failure after the settlement carries the receipt all the same."""
    headers = gate.receipt(receipt, older=checked.presented.older)
    return dataclasses.replace(problem, headers=problem.headers + headers)


def proven_by(evidence: Evidence, offer: Offer, payer: str) -> Settlement | None:
    """The settlement, when the chain shows a transfer of this offer. One nonce may have been signed for two recipients."""
    pay_to = evidence.pay_to or ""
    is_ours = pay_to == offer.pay_to or (pay_to.startswith("0x") and pay_to.lower() == offer.pay_to.lower())
    if not evidence.transaction or not is_ours or (evidence.status, evidence.amount) != ("settled", offer.amount):
        return None
    return Settlement(
        success=True, transaction=evidence.transaction, network=offer.network, payer=payer, amount=offer.amount
    )


def refuted_by(evidence: Evidence, valid_before: int) -> bool:
    """Whether the chain shows that this payment was not made, and cannot be made any more: by the chain's clock, and with time
    for a late block to arrive."""
    is_over = evidence.as_of > valid_before + LATE_BLOCKS_S
    # Settled, and not proven: to somebody else.
    return evidence.status in ("void", "settled") or (evidence.status == "unused" and is_over)
