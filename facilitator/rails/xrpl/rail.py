"""The XRPL rail on the ledger: submits what payers have signed in full. They pay the network's fee, so no key is here."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence

import msgspec

from facilitator.rails.xrpl.admission import Admission, InTheOpen
from facilitator.rails.xrpl.clock import STALE_AFTER_S, LedgerClock
from facilitator.rails.xrpl.evidence import Fate, Outcome, XrplLedger
from facilitator.rails.xrpl.node import NODE_ERRORS, XrplNode
from facilitator.settling import Settling, require_ours
from shared.settings import InvalidSetting
from shared.x402 import xrpl
from shared.x402.networks import XrplToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Settlement, SupportedKind, Verification
from shared.x402.xrpl import XrplAuthorization
from shared.x402.xrpl_payment import refused

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 12.0
"""From the start of a settlement to giving up on its ledger. Below the API's settle timeout, so that with a node that answers
it hears `settlement_pending` with the transaction instead of nothing."""
ASK_AGAIN_S = 1.0
"""About a payment whose ledger may have been validated without our hearing of it."""
RETRY_S = 0.2
"""After a node's failure."""
MOST_REMEMBERED = 4_000
"""Payments that were sent and whose end nobody has heard of yet."""
_GOES_WELL = ("tesSUCCESS", "terQUEUED", "tefALREADY")


class XrplRail:
    """The tokens of one XRPL network.

    Args:
        tokens: all of one network.
        rpc_url: JSON-RPC node.
    """

    def __init__(self, tokens: Sequence[XrplToken], rpc_url: str) -> None:
        (self._network,) = {token.network for token in tokens}
        self._tokens = {token.currency: token for token in tokens}
        self._node = XrplNode(rpc_url)
        self._clock = LedgerClock(self._node)
        self._ledger = XrplLedger(self._node)
        self._admission = Admission(self._ledger, self._clock)
        self._settling = Settling[str]()
        self._sent: dict[str, int] = {}

    @property
    def network(self) -> str:
        """CAIP-2."""
        return self._network

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """What /supported says of it, the ledger included: nothing while the node shows no new ones."""
        if self.unavailable_reason:
            return ()
        extra = {"areFeesSponsored": False, "ledger": self._clock.index}
        return (SupportedKind(x402_version=X402_VERSION, scheme=xrpl.SCHEME, network=self.network, extra=extra),)

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """Nobody: payers sign and pay for everything."""
        return {}

    @property
    def unavailable_reason(self) -> str:
        """Why nothing can be settled now; empty when it can."""
        silent = self._clock.silent_for_s
        return f"the node has shown no new ledger for {silent:.0f} s" if silent > STALE_AFTER_S else ""

    @property
    def balance(self) -> str:
        """Payers pay."""
        return ""

    async def start(self) -> None:
        """Raises InvalidSetting when the node serves another network, and what is in NODE_ERRORS when it does not answer."""
        info = (await self._node.ask("server_info"))["info"]
        served, ours = info["network_id"], int(self.network.partition(":")[2])
        if served != ours:
            raise InvalidSetting(f"the node serves XRPL network {served}, not {ours}")
        await self._clock.start()

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections."""
        await self._settling.finish()
        await self._clock.stop()
        await self._node.close()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. Changes nothing."""
        payer = None
        try:
            payment = self._check(call)
            payer = payment.payer
            await self._admission.check(payment)
        except PaymentRefused as refusal:
            return Verification(is_valid=False, invalid_reason=refusal.reason, payer=payer)
        except InTheOpen:
            reason = refused("ticket_not_available" if payment.ticket else "sequence_not_current").reason
            return Verification(is_valid=False, invalid_reason=reason, payer=payer)
        except NODE_ERRORS as error:
            name = type(error).__name__
            return Verification(is_valid=False, invalid_reason="unexpected_verify_error", invalid_message=name)
        return Verification(is_valid=True, payer=payer)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice is one transaction."""
        try:
            payment = self._check(call)
        except PaymentRefused as refusal:
            return self._failed(refusal.reason, None)
        return await self._settling.once(payment.transaction, lambda: self._settle(payment))

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the ledger says of one transaction. An `unused` one has no time: here it is counted in ledgers, not seconds."""
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
        if outcome.fate is Fate.SETTLED and outcome.payer == named.payer and self._is_ours(outcome):
            return Evidence(
                status="settled",
                network=self.network,
                as_of=outcome.at,
                transaction=named.transaction,
                payer=named.payer,
                pay_to=outcome.pay_to,
                amount=format(outcome.value.normalize(), "f"),
            )
        if outcome.fate in (Fate.SETTLED, Fate.FAILED) or (is_over and outcome.fate is Fate.ABSENT):
            return msgspec.structs.replace(unknown, status="void", as_of=self._clock.close_time)
        is_open = outcome.fate is Fate.OPEN or not is_over
        return msgspec.structs.replace(unknown, status="unused") if is_open else unknown

    def _check(self, call: FacilitatorCall) -> XrplAuthorization:
        require_ours(call, self.network)
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

    async def _settle(self, payment: XrplAuthorization) -> Settlement:
        """Never raises. `settlement_pending`: it may be on its way. `unexpected_settle_error`: nothing of ours is."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        is_seen = False
        while True:
            ledger, pause = self._clock.index, ASK_AGAIN_S
            try:
                outcome = await self._ledger.outcome(payment.transaction, through=min(payment.last_ledger, ledger))
                if outcome.fate in (Fate.SETTLED, Fate.FAILED):
                    return self._ended(payment, outcome)
                if outcome.fate is Fate.OPEN:
                    is_seen = True
                else:
                    await self._push(payment, outcome.fate, searched=ledger, is_seen=is_seen)
            except PaymentRefused as refusal:
                self._sent.pop(payment.transaction, None)
                return self._failed(refusal.reason, payment.payer)
            except InTheOpen:
                is_seen = True
            except NODE_ERRORS as error:
                log.warning("settling %s: %s", payment.payment_id, type(error).__name__)
                pause = RETRY_S
            left = give_up_at - time.monotonic()
            if left <= 0:
                return self._open(payment, is_seen=is_seen)
            await self._clock.wait(after=ledger, at_most_s=min(left, pause))

    async def _push(self, payment: XrplAuthorization, fate: Fate, *, searched: int, is_seen: bool) -> None:
        """Send it, or send it again, unless it can never be validated.

        Args:
            searched: the ledger up to which `fate` holds. Others may have been validated since.

        Raises:
            Refused: it can not, by the ledger; or it was never sent, and would not be taken.
            InTheOpen: something with its sequence may be in a ledger that this node does not have, or not yet.
        """
        if payment.last_ledger <= searched:
            if fate is not Fate.ABSENT:
                raise InTheOpen
            raise refused("expired")
        if not is_seen and payment.transaction not in self._sent:
            await self._admit(payment)
        self._remember(payment)
        submitted = await self._node.ask("submit", tx_blob=payment.blob)
        if submitted["engine_result"] not in _GOES_WELL:
            log.info("%s was answered %s", payment.payment_id, submitted["engine_result"])
            is_over, index = await self._ledger.is_out_of_turn(payment.payer, payment.sequence, payment.ticket)
            if is_over and (await self._ledger.outcome(payment.transaction, through=index)).fate is Fate.ABSENT:
                raise refused("ticket_not_available" if payment.ticket else "sequence_not_current")

    async def _admit(self, payment: XrplAuthorization) -> None:
        try:
            await self._admission.check(payment)
        except PaymentRefused:
            if payment.last_ledger <= self._clock.index:
                raise InTheOpen from None  # it has just expired: whether unused, the next search says
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
        if outcome.fate is Fate.FAILED:
            return self._failed("transaction_failed", payment.payer)
        shown = outcome.payer, outcome.pay_to, outcome.value, outcome.token
        if shown != (payment.payer, payment.pay_to, payment.value, (payment.asset, payment.issuer)):
            return self._failed("invalid_transaction_state", payment.payer)
        return Settlement(
            success=True,
            transaction=payment.transaction,
            network=self.network,
            payer=payment.payer,
            amount=format(payment.value.normalize(), "f"),
        )

    def _failed(self, reason: str, payer: str | None) -> Settlement:
        return Settlement(success=False, transaction="", network=self.network, payer=payer, error_reason=reason)

    def _open(self, payment: XrplAuthorization, *, is_seen: bool) -> Settlement:
        is_sent = is_seen or payment.transaction in self._sent
        return Settlement(
            success=False,
            transaction=payment.transaction if is_sent else "",
            network=self.network,
            payer=payment.payer,
            error_reason="settlement_pending" if is_sent else "unexpected_settle_error",
        )
