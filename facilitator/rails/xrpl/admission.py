"""Asks the node what would keep a payment from being validated, before it is sent."""

import asyncio
import time
from decimal import Decimal

from facilitator.rails.xrpl.clock import LedgerClock
from facilitator.rails.xrpl.evidence import Status, XrplLedger
from shared.x402.refusal import PaymentRefused
from shared.x402.xrpl import XrplAuthorization
from shared.x402.xrpl_payment import refused

NODES_APART = 2
"""By how many ledgers an honest client's node may be ahead of ours."""
RECIPIENT_KNOWN_S = 10.0
"""How long it is remembered that a recipient can receive a token. Only the recipient or the issuer can change that."""
FEE_KNOWN_S = 60.0
MOST_RECIPIENTS = 1_000

_REQUIRE_DESTINATION_TAG = 0x00020000
_REQUIRE_AUTH = 0x00040000
_DISABLE_MASTER = 0x00100000
_GLOBAL_FREEZE = 0x00400000
_DEPOSIT_AUTH = 0x01000000


class OutcomeUnknown(Exception):
    """A ledger that is not validated yet has used the payment's sequence, for this payment or for another transaction."""


class Admission:
    """Judges payments by the open ledger, so that transactions sent before count. It only reads."""

    def __init__(self, ledger: XrplLedger, clock: LedgerClock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._receivers: dict[tuple[str, str, str], tuple[float, Decimal]] = {}
        self._base_fee = 0
        self._base_fee_at = 0.0

    async def check(self, payment: XrplAuthorization) -> None:
        """Make sure that the ledger would take the payment now.

        Raises:
            PaymentRefused: it would not, and the payment was not sent.
            OutcomeUnknown: the payment may have been sent before.
            What is in NODE_ERRORS.
        """
        if payment.ledger_refusal(self._clock.index, tolerance=NODES_APART):
            await self._clock.look()
        if reason := payment.ledger_refusal(self._clock.index, tolerance=NODES_APART):
            raise PaymentRefused(reason)
        if payment.fee < await self._least_fee():
            raise refused("fee_too_low")
        _, spent = await asyncio.gather(self._check_payer(payment), self._check_recipient(payment))
        await self._check_funds(payment, spent)

    async def _check_payer(self, payment: XrplAuthorization) -> None:
        root, _ = await self._ledger.account(payment.payer)
        if root is None:
            raise refused("account_not_found")
        is_master = payment.signer == payment.payer and not root.flags & _DISABLE_MASTER
        if not is_master and payment.signer != root.regular_key:
            raise refused("signer_not_authorized")
        await self._check_sequence(payment, root.sequence)
        if root.balance < payment.fee:
            raise refused("fee_unfunded")

    async def _check_sequence(self, payment: XrplAuthorization, next_sequence: int) -> None:
        if payment.ticket:
            if payment.ticket < next_sequence and not await self._ledger.has_ticket(payment.payer, payment.ticket):
                await self._check_used(payment, "ticket_not_available")
            if payment.ticket >= next_sequence:
                raise refused("ticket_not_available")
        elif payment.sequence < next_sequence:
            await self._check_used(payment, "sequence_not_current")
        elif payment.sequence > next_sequence:
            raise refused("sequence_not_current")

    async def _check_used(self, payment: XrplAuthorization, reason: str) -> None:
        """The open ledger has used the sequence. That is final when a validated ledger has, and not for this payment."""
        is_over, index = await self._ledger.is_sequence_used(payment.payer, payment.sequence, payment.ticket)
        if not is_over:
            raise OutcomeUnknown
        outcome = await self._ledger.outcome(payment.transaction, through=index)
        if outcome.status is not Status.ABSENT:
            raise OutcomeUnknown
        raise refused(reason)

    async def _check_recipient(self, payment: XrplAuthorization) -> Decimal:
        """Make sure that the recipient can receive. The result is what the payer spends for one token that arrives."""
        key = payment.pay_to, payment.asset, payment.issuer
        known = self._receivers.get(key)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        (root, _), (issuer, _), line = await asyncio.gather(
            self._ledger.account(payment.pay_to),
            self._ledger.account(payment.issuer),
            self._ledger.trust_line(payment.pay_to, payment.asset, payment.issuer),
        )
        if root is None or issuer is None or line is None or line.limit - line.balance < payment.value:
            raise refused("pay_to_cannot_receive")
        needs_tag = root.flags & _REQUIRE_DESTINATION_TAG and payment.destination_tag is None
        is_stopped = issuer.flags & _GLOBAL_FREEZE or (issuer.flags & _REQUIRE_AUTH and not line.is_authorized)
        if needs_tag or root.flags & _DEPOSIT_AUTH or is_stopped or line.is_frozen:
            raise refused("pay_to_cannot_receive")
        if len(self._receivers) >= MOST_RECIPIENTS:
            self._receivers.clear()
        self._receivers[key] = time.monotonic() + RECIPIENT_KNOWN_S, issuer.transfer_rate
        return issuer.transfer_rate

    async def _check_funds(self, payment: XrplAuthorization, rate: Decimal) -> None:
        line = await self._ledger.trust_line(payment.payer, payment.asset, payment.issuer)
        if line is None:
            raise refused("trust_line_missing")
        if line.is_frozen:
            raise refused("trust_line_frozen")
        spent = payment.value * rate
        if spent > payment.send_max:
            raise refused("sendmax_too_low")
        if spent > line.balance:
            raise PaymentRefused("insufficient_funds")

    async def _least_fee(self) -> int:
        if self._base_fee_at < time.monotonic() - FEE_KNOWN_S or not self._base_fee:
            self._base_fee, self._base_fee_at = await self._ledger.base_fee(), time.monotonic()
        return self._base_fee
