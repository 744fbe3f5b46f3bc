"""Step 6 of a paid call (docs/architecture.md): settles a claimed payment, or finds out why it cannot be settled."""

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import msgspec

from api.call_log import CallLog
from api.causes import Cause
from api.errors import Charged, Problem, problem_of
from api.http import Answer
from api.payment.answers import BazaarStatus
from api.payment.gate import PaymentGate
from api.payment.headers import Presented
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim, Entry, Recorded
from api.payment.rails import ConfiguredRail
from api.payment.unrecorded import UnrecordedSettlements
from api.payment.unsettled import Declined, NotSent, Undecided, Unsettled
from api.redis_client import RedisLost, RedisRefused
from shared.failpoints import reach
from shared.ledger.listing import LISTING, host_of, listing_key
from shared.observability import tracing
from shared.observability.metrics import metrics
from shared.x402.authorization import Authorization
from shared.x402.wire import Evidence, Offer, Payment, Settlement

log = logging.getLogger(__name__)

FAILED = "settlement_failed"
LATE_BLOCKS_S = 30
"""How far the blocks that a node shows may be behind the chain, in seconds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A payment that passed every check that needs no network, with the request that it pays."""

    presented: Presented
    offer: Offer
    rail: ConfiguredRail
    payment: Payment
    authorization: Authorization
    claim: Claim
    query: bytes
    body: bytes
    call_log: CallLog
    is_outdated: bool = False
    """Whether it is made for an offer that is not ours now: it pays nothing new."""
    deposit: bytes = b""
    """The settlement of the deposit that came with a voucher, as JSON."""

    @property
    def is_its_own(self) -> bool:
        """Whether this payment pays the call. False when another payment paid for it under the same identifier."""
        return self.claim.payment_id == self.authorization.payment_id


class _Sent(NamedTuple):
    """A settlement, which facilitator made it, and what that said of its catalogue."""

    settlement: Settlement
    facilitator: str
    statuses: Sequence[BazaarStatus]


@tracing.traced("settle")
async def settle(
    checked: Checked, entry: Entry, ledger: Ledger, gate: PaymentGate, unrecorded: UnrecordedSettlements
) -> bytes | Answer:
    """Settle the payment. Returns the receipt, or the 402 of a definite refusal.

    An unknown outcome is never a 402, because clients would pay twice.

    Args:
        entry: which attempt it is, and which facilitator got the earlier ones.
        unrecorded: takes a receipt that the ledger does not.

    Raises:
        Problem: the outcome is unknown, or nothing was sent.
        RedisLost, RedisRefused: the ledger did not answer.
    """
    doubt, attempts = "", entry.attempts
    reach("before-settle")
    try:
        sent = await _send(checked, entry, ledger, gate)
        receipt = await _settled(checked, sent.settlement, ledger, gate, unrecorded)
        await _note_listing(checked, sent, ledger, gate)
        return receipt
    except NotSent as not_sent:
        forgotten = await ledger.abandon(checked.claim.payment_id, attempts)
        charged: Charged = False if forgotten else "unknown"
        raise problem_of(Cause.FACILITATOR_UNREACHABLE, charged=charged, failure=not_sent) from None
    except Declined as declined:
        reach("declined")
        if await ledger.rejected(checked.claim.payment_id, attempts, declined.reason):
            reach("rejected")
            metrics.payment(gate.endpoint.name, checked.rail.rail, "rejected")
            checked.call_log.refused(declined.reason, Cause.SETTLEMENT_REFUSED)
            return gate.declined(declined.reason, declined.settlement)
        doubt = f"refused after an earlier attempt: {declined}"
    except Unsettled as undecided:
        doubt = str(undecided)
    return await _settled_by_evidence(checked, attempts, ledger, gate, unrecorded, doubt)


async def _send(checked: Checked, entry: Entry, ledger: Ledger, gate: PaymentGate) -> _Sent:
    """Send the payment to the facilitator that its record names. One that was sent to none before may be the listing
    facilitator's turn.

    Raises:
        Unsettled: as a Facilitator does.
        RedisLost, RedisRefused: nothing was sent.
    """
    rail, claim, facilitator = checked.rail, checked.claim, entry.facilitator
    payment, statuses = checked.payment, list[BazaarStatus]()
    described = gate.described(payment) if rail.listing or rail.health.indexes else payment
    send = partial(rail.settle, offer=checked.offer, payer=checked.authorization.payer, on_status=statuses.append)
    resource, listings = gate.listing.url, ledger.listings
    if rail.listing and gate.endpoint.listed and entry.attempts == 1:
        is_turn = await rail.listing.gets(described, checked.authorization, claim, resource, listings)
        facilitator = LISTING if is_turn else ""
    if rail.listing and facilitator == LISTING:
        try:
            return _Sent(await send(described, facilitator=LISTING), LISTING, statuses)
        except Unsettled as failure:
            await listings.failed(rail.listing.key(resource), claim.payment_id, f"{type(failure).__name__}: {failure}")
            # Nobody has seen the payment, so the rail's own facilitator still gets it as its one and only attempt.
            is_free = isinstance(failure, NotSent) and entry.attempts == 1
            if not is_free or not await listings.route(claim.payment_id, "", claim.settle_lease_ms):
                raise
    try:
        return _Sent(await send(described if rail.health.indexes else payment), "", statuses)
    except Declined:
        if rail.listing:
            await listings.give_back(rail.listing.key(resource), claim.payment_id)
        raise


async def _note_listing(checked: Checked, sent: _Sent, ledger: Ledger, gate: PaymentGate) -> None:
    """Note what the settlement means for the catalogue of the facilitator that made it."""
    payment_id, transaction = checked.claim.payment_id, sent.settlement.transaction
    status = sent.statuses[0] if sent.statuses else None
    listings, resource, rail = ledger.listings, gate.listing.url, checked.rail
    if rail.listing and sent.facilitator == LISTING:
        await listings.settled(rail.listing.key(resource), payment_id, transaction, status)
    elif status and gate.endpoint.listed:
        key = listing_key(host_of(rail.facilitator.url), resource)
        await listings.settled_elsewhere(key, payment_id, transaction, status)


async def _settled_by_evidence(
    checked: Checked, attempts: int, ledger: Ledger, gate: PaymentGate, unrecorded: UnrecordedSettlements, doubt: str
) -> bytes | Answer:
    """Ask the chain, which alone decides after any doubt."""
    authorization, payment_id = checked.authorization, checked.claim.payment_id
    reach("undecided")
    try:
        evidence = await checked.rail.facilitator.evidence(payment_id)
    except Unsettled:
        evidence = Evidence(status="unknown", network=checked.offer.network)
    reach("evidence-read")
    proven = proven_by(evidence, checked.offer, authorization.payer)
    if proven is not None:
        log.warning("undecided settlement of %s is on the chain: %s", payment_id, doubt)
        return await _settled(checked, proven, ledger, gate, unrecorded)
    is_refuted = refuted_by(evidence, checked.claim.valid_before)
    if is_refuted and await ledger.rejected(payment_id, attempts, FAILED, by_evidence=True):
        metrics.payment(gate.endpoint.name, checked.rail.rail, "rejected")
        checked.call_log.refused(FAILED, Cause.SETTLEMENT_REFUTED)
        return gate.refuse(FAILED)
    await ledger.unknown(payment_id, attempts)
    reach("unknown")
    unknown = Undecided(f"{doubt}, attempt {attempts}")
    raise problem_of(Cause.SETTLEMENT_UNKNOWN, charged="unknown", failure=unknown)


async def _settled(
    checked: Checked, settlement: Settlement, ledger: Ledger, gate: PaymentGate, unrecorded: UnrecordedSettlements
) -> bytes:
    """Record the settlement. Returns the receipt: the settlement as it is recorded."""
    receipt = msgspec.json.encode(settlement)
    rail = checked.rail
    counted = partial(metrics.payment, gate.endpoint.name, rail.rail, "settled", tokens=rail.tokens(checked.offer))
    reach("facilitator-answered")
    try:
        recorded = await ledger.settled(checked.claim.payment_id, receipt, checked.claim.run_lease_ms)
        reach("settled")
        if recorded is Recorded.NEW:
            counted()
    except (RedisLost, RedisRefused) as error:
        # The money has moved. The facilitator says so when the same payment comes again to another process.
        unrecorded.keep(checked.claim.payment_id, receipt, on_recorded=counted)
        problem = problem_of(Cause.SETTLEMENT_UNRECORDED, charged=True, failure=error)
        raise with_receipt(problem, checked, receipt, gate) from None
    return receipt


def with_receipt(problem: Problem, checked: Checked, receipt: bytes, gate: PaymentGate) -> Problem:
    """The same problem with the receipt, which every answer after a settlement carries. A voucher's call has none before it is
    answered: until then nobody knows whether it is charged."""
    if not receipt:
        return dataclasses.replace(problem, charged="unknown") if problem.charged is True else problem
    headers = gate.receipt(receipt, older=checked.presented.older)
    return dataclasses.replace(problem, headers=problem.headers + headers)


def proven_by(evidence: Evidence, offer: Offer, payer: str) -> Settlement | None:
    """The settlement, when the chain shows a transfer of this offer; None otherwise.

    Recipient and amount are compared, because one nonce may have been signed for two recipients.
    """
    pay_to = evidence.pay_to or ""
    is_ours = pay_to == offer.pay_to or (pay_to.startswith("0x") and pay_to.lower() == offer.pay_to.lower())
    if not evidence.transaction or not is_ours or (evidence.status, evidence.amount) != ("settled", offer.amount):
        return None
    return Settlement(
        success=True, transaction=evidence.transaction, network=offer.network, payer=payer, amount=offer.amount
    )


def refuted_by(evidence: Evidence, valid_before: int) -> bool:
    """Whether the chain shows that this payment was not made and can no longer be made.

    The chain's own clock counts, with LATE_BLOCKS_S for a block that arrives late. Call it only when `proven_by` gives None.
    """
    is_over = evidence.as_of > valid_before + LATE_BLOCKS_S
    # "settled" without a proof means: to another recipient.
    return evidence.status in ("void", "settled") or (evidence.status == "unused" and is_over)
