"""The XRPL rail: submits payments that their payers signed in full. Payers also pay the fee, so this rail holds no key."""

import logging
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from facilitator import results
from facilitator.rail import Rail
from facilitator.rails.xrpl.admission import Admission, OutcomeUnknown
from facilitator.rails.xrpl.clock import STALE_AFTER_S, LedgerClock
from facilitator.rails.xrpl.evidence import Outcome, Status, XrplLedger
from facilitator.rails.xrpl.node import NODE_ERRORS, XrplNode
from facilitator.settling import Settling
from shared.settings.rails import configured_token
from shared.settings.service import InvalidSetting, Settings
from shared.x402 import xrpl
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC, XrplToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Evidence, FacilitatorCall, Settlement
from shared.x402.xrpl import XrplAuthorization
from shared.x402.xrpl_payment import refused

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 12.0
"""From the start of a settlement until the wait for its ledger ends. It is below the API's settle timeout: while the node
answers, the API gets `settlement_pending` with the transaction."""
ASK_AGAIN_S = 1.0
"""How often the node is asked for a payment: its ledger may be validated before we see that ledger."""
RETRY_S = 0.2
"""The pause after a failure of the node."""
MOST_REMEMBERED = 4_000
"""Payments that were sent and have no known end."""
_ACCEPTED = ("tesSUCCESS", "terQUEUED", "tefALREADY")


class XrplRail(Rail[XrplAuthorization]):
    """The tokens of one XRPL network.

    Args:
        tokens: of one network.
        rpc_url: JSON-RPC node.
    """

    node_errors = NODE_ERRORS

    def __init__(self, tokens: Sequence[XrplToken], rpc_url: str) -> None:
        (self.network,) = {token.network for token in tokens}
        self._tokens = {token.currency: token for token in tokens}
        self._node = XrplNode(rpc_url)
        self._clock = LedgerClock(self._node, self.network)
        self._ledger = XrplLedger(self._node)
        self._admission = Admission(self._ledger, self._clock)
        self._settling = Settling[str]()
        self._sent: dict[str, int] = {}

    @property
    def terms(self) -> dict[str, Any]:
        """The newest ledger is among them."""
        return {"areFeesSponsored": False, "ledger": self._clock.index}

    @property
    def unavailable_reason(self) -> str:
        silent = self._clock.silent_for_s
        return f"the node has shown no new ledger for {silent:.0f} s" if silent > STALE_AFTER_S else ""

    @property
    def balance(self) -> str:
        """There is no account of ours."""
        return ""

    async def start(self) -> None:
        """Connect. Raises InvalidSetting when the node serves another network, and what is in NODE_ERRORS."""
        info = (await self._node.ask("server_info"))["info"]
        served, ours = info["network_id"], int(self.network.partition(":")[2])
        if served != ours:
            raise InvalidSetting(f"the node serves XRPL network {served}, not {ours}")
        await self._clock.start()

    async def stop(self) -> None:
        await self._settling.finish()
        await self._clock.stop()
        await self._node.close()

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the ledger says of one transaction; None when the id is not one of this network.

        An `unused` one has no `as_of`, because payments expire by ledgers here.
        """
        named = xrpl.PaymentId.parse(payment_id)
        if named is None or named.network != self.network:
            return None
        unknown = Evidence(status="unknown", network=self.network, payer=named.payer)
        try:
            if self._clock.index < named.last_ledger:
                await self._clock.look()
            is_over = self._clock.index >= named.last_ledger
            outcome = await self._ledger.outcome(named.transaction, through=named.last_ledger)
        except NODE_ERRORS as error:
            log.warning("no evidence: %s", type(error).__name__)
            return unknown
        if outcome.status is Status.SETTLED and outcome.payer == named.payer and self._is_ours(outcome):
            return Evidence(
                status="settled",
                network=self.network,
                as_of=outcome.at,
                transaction=named.transaction,
                payer=named.payer,
                pay_to=outcome.pay_to,
                amount=format(outcome.value.normalize(), "f"),
            )
        if outcome.status in (Status.SETTLED, Status.FAILED) or (is_over and outcome.status is Status.ABSENT):
            return msgspec.structs.replace(unknown, status="void", as_of=self._clock.close_time)
        is_open = outcome.status is Status.OPEN or not is_over
        return msgspec.structs.replace(unknown, status="unused") if is_open else unknown

    def _check(self, call: FacilitatorCall) -> XrplAuthorization:
        offer, accepted = call.payment_requirements, call.payment_payload.accepted
        token = self._tokens.get(offer.asset)
        if token is None or offer.extra.get("issuer") != token.issuer or not xrpl.is_payable(offer):
            raise PaymentRefused("invalid_payment_requirements")
        if not xrpl.matches(offer, accepted):
            raise PaymentRefused("invalid_payment_requirements")
        payment = xrpl.check(offer, call.payment_payload.payload)
        method = accepted.extra.get("assetTransferMethod", "ticketSequence" if payment.ticket else "sequence")
        if method != ("ticketSequence" if payment.ticket else "sequence"):
            raise PaymentRefused("invalid_exact_xrpl_asset_transfer_method_mismatch")
        return payment

    async def _simulate(self, call: FacilitatorCall, payment: XrplAuthorization) -> None:
        try:
            await self._admission.check(payment)
        except OutcomeUnknown:
            raise _sequence_used(payment) from None

    async def _settle(self, call: FacilitatorCall, payment: XrplAuthorization) -> Settlement:
        return await self._settling.once(payment.transaction, lambda: self._run(payment))

    async def _run(self, payment: XrplAuthorization) -> Settlement:
        """Run one settlement. Never raises."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        is_seen = False
        while True:
            ledger, pause = self._clock.index, ASK_AGAIN_S
            try:
                outcome = await self._ledger.outcome(payment.transaction, through=min(payment.last_ledger, ledger))
                if outcome.status in (Status.SETTLED, Status.FAILED):
                    return self._ended(payment, outcome)
                if outcome.status is Status.OPEN:
                    is_seen = True
                else:
                    await self._push(payment, outcome.status, searched=ledger, is_seen=is_seen)
            except PaymentRefused as refusal:
                self._sent.pop(payment.transaction, None)
                return results.failed(self.network, refusal.reason, payment.payer)
            except OutcomeUnknown:
                is_seen = True
            except NODE_ERRORS as error:
                log.warning("settling %s: %s", payment.payment_id, type(error).__name__)
                pause = RETRY_S
            left = give_up_at - time.monotonic()
            if left <= 0:
                is_sent = is_seen or payment.transaction in self._sent
                return results.unsettled(payment, payment.transaction if is_sent else "")
            await self._clock.wait(after=ledger, at_most_s=min(left, pause))

    async def _push(self, payment: XrplAuthorization, status: Status, *, searched: int, is_seen: bool) -> None:
        """Send the payment, again if need be, unless it can never be validated.

        Args:
            searched: the ledger up to which `status` holds. Others may have been validated since.

        Raises:
            PaymentRefused: it can never be validated; or it was never sent, and the ledger would not take it.
            OutcomeUnknown: a ledger that this node does not have may have used its sequence.
        """
        if payment.last_ledger <= searched:
            if status is not Status.ABSENT:
                raise OutcomeUnknown
            raise refused("expired")
        if not is_seen and payment.transaction not in self._sent:
            await self._admit(payment)
        self._remember(payment)
        submitted = await self._node.ask("submit", tx_blob=payment.blob)
        if submitted["engine_result"] not in _ACCEPTED:
            log.debug("%s was answered %s", payment.payment_id, submitted["engine_result"])
            is_over, index = await self._ledger.is_sequence_used(payment.payer, payment.sequence, payment.ticket)
            if is_over and (await self._ledger.outcome(payment.transaction, through=index)).status is Status.ABSENT:
                raise _sequence_used(payment)

    async def _admit(self, payment: XrplAuthorization) -> None:
        try:
            await self._admission.check(payment)
        except PaymentRefused:
            if payment.last_ledger <= self._clock.index:
                raise OutcomeUnknown from None  # it has just expired, and the next search says whether it was unused
            raise

    def _remember(self, payment: XrplAuthorization) -> None:
        self._sent[payment.transaction] = payment.last_ledger
        if len(self._sent) > MOST_REMEMBERED:
            for transaction, last in tuple(self._sent.items()):
                if last < self._clock.index and transaction not in self._settling:
                    del self._sent[transaction]

    def _is_ours(self, outcome: Outcome) -> bool:
        """Whether what arrived is one of our tokens."""
        token = self._tokens.get(outcome.token[0])
        return token is not None and outcome.token[1] == token.issuer

    def _ended(self, payment: XrplAuthorization, outcome: Outcome) -> Settlement:
        self._sent.pop(payment.transaction, None)
        if outcome.status is Status.FAILED:
            return results.failed(self.network, "transaction_failed", payment.payer)
        shown = outcome.payer, outcome.pay_to, outcome.value, outcome.token
        if shown != (payment.payer, payment.pay_to, payment.value, (payment.asset, payment.issuer)):
            return results.failed(self.network, "invalid_transaction_state", payment.payer)
        return results.succeeded(payment, payment.transaction)


def _sequence_used(payment: XrplAuthorization) -> PaymentRefused:
    return refused("ticket_not_available" if payment.ticket else "sequence_not_current")


def rail(settings: Settings, name: str) -> XrplRail:
    """Both tokens, whichever are offered. Raises InvalidSetting."""
    own = settings.xrpl
    return XrplRail([configured_token(table, own.network, name) for table in (XRPL_USDC, XRPL_RLUSD)], own.rpc_url)
