"""The EVM rail: settles EIP-3009 authorizations from our settler account."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from facilitator import results
from facilitator.node_failures import NodeFailures
from facilitator.rails.evm.account import SettlerAccount
from facilitator.rails.evm.balance import balance_monitor
from facilitator.rails.evm.calldata import MULTICALL3, MULTICALL3_HASH
from facilitator.rails.evm.evidence import Authorizations, parse_id, transfers_in
from facilitator.rails.evm.finality import INCLUDED, Finality
from facilitator.rails.evm.gas_budget import GasBudget
from facilitator.rails.evm.groups import MOST_IN_GROUP, Groups
from facilitator.rails.evm.journal import Journal
from facilitator.rails.evm.l1_fee import L1Fee
from facilitator.rails.evm.losses import Losses
from facilitator.rails.evm.node import NODE_ERRORS, EvmNode, bytes_of, number_of
from facilitator.rails.evm.outcomes import Outcomes
from facilitator.rails.evm.prices import Prices
from facilitator.rails.evm.restart import restored
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.simulation import Simulator
from facilitator.rails.evm.transaction import Payment, Sent
from facilitator.rails.evm.watcher import Watcher
from facilitator.settling import PaymentKey, Settling, payment_key, require_ours
from shared.settings import InvalidSetting
from shared.x402 import evm
from shared.x402.evm import EvmAuthorization, checksummed, keccak256
from shared.x402.exact import SCHEME
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Settlement, SupportedKind, Verification

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 6.0
"""From the start of a settlement until the wait for its receipt ends. It is below the API's settle timeout: while the node
answers, the API hears `settlement_pending` with the transaction."""
WATCH_EVERY_S = 2.0
MOST_REMEMBERED = 4_000
"""Payments whose transaction has no known end. For any other payment the chain is asked when it comes again."""


class EvmRail:
    """One token on one EVM network.

    Args:
        rpc_url: JSON-RPC node.
        settler_key: 32 bytes, of the account that pays the gas.
        most_for_gas: wei that a unit of gas may cost.
        low_balance: wei of that account below which the log warns.
        batch: payments in one transaction.
        spacing_s: between two transactions.
        finality: of facilitator/rails/evm/finality.py.
        journal: file of what is under way; None: there is none.
    """

    def __init__(
        self,
        token: EvmToken,
        rpc_url: str,
        settler_key: bytes,
        *,
        most_for_gas: int,
        low_balance: int,
        batch: int = MOST_IN_GROUP,
        spacing_s: float = 0.1,
        finality: str = INCLUDED,
        journal: Path | None = None,
    ) -> None:
        self.token = token
        self._node = EvmNode(rpc_url)
        self._signer = Signer(settler_key, token.chain_id)
        self._authorizations = Authorizations(self._node, token)
        self._simulator = Simulator(self._node, token, self._signer.address)
        self._prices = Prices(self._node, most_for_gas)
        l1_fee = L1Fee()
        self._balance_monitor = balance_monitor(
            self._node, checksummed(self._signer.address), self._prices, l1_fee, low_balance
        )
        self._budget = GasBudget(batch)
        self._outcomes = Outcomes(self._node, token.address, self._authorizations, self._budget)
        self._journal = Journal(journal, self._signer.address, token.chain_id) if journal else None
        self._account = SettlerAccount(
            *(self._node, self._signer),
            prices=self._prices,
            l1_fee=l1_fee,
            balance_monitor=self._balance_monitor,
            journal=self._journal,
            registered=lambda sent: self._watcher.watch(sent),
        )
        self._losses = Losses()
        self._watcher = Watcher(
            *(self._node, Finality.parse(finality)),
            is_open=self._account.holds,
            ended=self._ended,
            sealed=self._sealed,
        )
        self._groups = Groups(
            *(token.address, self._simulator, self._account, self._budget),
            most=batch,
            spacing_s=spacing_s,
            refuse=self._outcomes.refuse,
            sent=self._watcher.look_soon,
        )
        self._outcomes.suspect = self._groups.suspect
        self._outcomes.failed_inside = self._groups.failed_inside
        self._outcomes.failed_together = self._groups.failed_together
        self._settling = Settling[PaymentKey]()
        self._payments: dict[PaymentKey, Payment] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def network(self) -> str:
        return self.token.network

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """The entry of /supported; none while nothing can be settled."""
        if self.unavailable_reason:
            return ()
        return (SupportedKind(x402_version=X402_VERSION, scheme=SCHEME, network=self.network),)

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The account that sends settlements."""
        return {"eip155:*": (checksummed(self._signer.address),)}

    @property
    def unavailable_reason(self) -> str:
        monitors = (self._balance_monitor, self._prices, self._losses)
        return next((one.unavailable_reason for one in monitors if one.unavailable_reason), "")

    @property
    def balance(self) -> str:
        """What the settler account has for gas."""
        return self._balance_monitor.balance

    @property
    def counts(self) -> Mapping[str, int]:
        """Gas that made payments, gas that made none, and lines of the journal that could not be used at the start."""
        dropped = self._journal.dropped if self._journal else 0
        return {"paid_gas": self._budget.paid, "burnt_gas": self._budget.burnt, "dropped_journal_lines": dropped}

    async def start(self) -> None:
        """Connect. Raises InvalidSetting when the node serves another chain, CannotStart, and what is in NODE_ERRORS."""
        chain_id = number_of(await self._node.ask("eth_chainId"))
        if chain_id != self.token.chain_id:
            raise InvalidSetting(f"the node serves chain {chain_id}, not {self.token.chain_id}")
        if self._groups.most > 1 and keccak256(bytes_of(await self._node.ask("eth_getCode", MULTICALL3, "latest"))) != (
            MULTICALL3_HASH
        ):
            log.warning("%s has no Multicall3: payments are settled one by one", self.network)
            self._groups.most = 1
        if self._journal is not None:
            self._journal.open()
        for sent in await self._account.start(self._restored):
            self._watcher.watch(sent)
            for payment in sent.members:
                self._payments[payment.key] = payment
                self._remember(payment)
        await self._balance_monitor.read()
        loops = (self._watch(), self._watcher.run(), self._groups.check_forever(), self._groups.send_forever())
        self._tasks = [asyncio.create_task(loop) for loop in loops]
        self._watcher.look_soon()

    async def stop(self) -> None:
        await self._settling.finish()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._node.close()
        if self._journal is not None:
            self._journal.close()

    async def verify(self, call: FacilitatorCall) -> Verification:
        try:
            authorization = self._check(call)
            (verdict,) = await self._simulator.check([Payment(authorization)])
            if verdict is not None:
                raise verdict
        except PaymentRefused as refused:
            return results.invalid(refused.reason, _payer(call))
        except NODE_ERRORS as error:
            return results.unverified(error)
        return results.valid(authorization)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        try:
            authorization = self._check(call)
        except PaymentRefused as refused:
            return results.failed(self.network, refused.reason, _payer(call))
        return await self._settling.once(payment_key(authorization), lambda: self._settle(authorization))

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one authorization; None when the id is not one of this token."""
        named = parse_id(payment_id, self.token)
        return await self._authorizations.evidence(named.payer, bytes.fromhex(named.nonce)) if named else None

    def _restored(self, first: int) -> Sequence[Sent]:
        """What the journal has of transactions with at least that number. Raises CannotStart."""
        if self._journal is None:
            return ()
        return restored(self._journal.read(), first, self.token, self._signer, self._journal.leave_out)

    def _check(self, call: FacilitatorCall) -> EvmAuthorization:
        require_ours(call, self.network)
        offer = call.payment_requirements
        if offer.asset.lower() != self.token.address.lower():
            raise PaymentRefused("invalid_payment_requirements")
        if (offer.extra.get("name"), offer.extra.get("version")) != (self.token.name, self.token.version):
            raise PaymentRefused("missing_eip712_domain")
        if not evm.is_payable(offer):
            raise PaymentRefused("invalid_payment_requirements")
        return evm.check(offer, call.payment_payload.payload)

    async def _settle(self, authorization: EvmAuthorization) -> Settlement:
        """Run one settlement. Never raises."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        payment = self._payments.get(payment_key(authorization))
        try:
            payment = await self._resumed(payment) if payment else None
            if payment is None:
                payment = await self._submitted(authorization, give_up_at)
            left_s = max(0.0, give_up_at - time.monotonic())
            return await asyncio.wait_for(asyncio.shield(payment.ended), left_s)
        except NODE_ERRORS as error:
            if not isinstance(error, TimeoutError):
                log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
        if payment is None:
            return results.unsettled(authorization)
        payment.is_withdrawn = True  # from here on it is not sent, unless it was
        if payment.sent is None:
            self._forget(payment)
            return results.unsettled(authorization)
        with contextlib.suppress(*NODE_ERRORS):
            await self._account.mend()
        if payment.ended.done():
            return payment.ended.result()
        return results.unsettled(authorization, payment.sent.hash if payment.sent else "")

    async def _resumed(self, payment: Payment) -> Payment | None:
        """The payment, which was presented before, if it was sent and may still get into a block. Raises NODE_ERRORS."""
        if payment.sent is None or not await self._account.still_has(payment.sent):
            return None  # if it was sent, another transaction took its number
        payment.is_withdrawn = False
        self._watcher.look_soon()
        return payment

    async def _submitted(self, authorization: EvmAuthorization, give_up_at: float) -> Payment:
        """A payment that is to be sent. Raises NODE_ERRORS."""
        if self._losses.unavailable_reason:
            raise TimeoutError(self._losses.unavailable_reason)
        if not await self._account.caught_up(give_up_at=give_up_at):
            raise TimeoutError("what an earlier run sent is not in a block yet")
        payment = Payment(authorization)
        self._payments[payment.key] = payment
        self._remember(payment)
        self._groups.submit(payment)
        return payment

    def _ended(self, sent: Sent, receipt: dict[str, Any] | None) -> None:
        """The watcher has seen the end of a transaction."""
        if receipt is None:
            self._losses.compare(sent, {})
            self._outcomes.lost(sent)
        else:
            self._outcomes.included(sent, receipt)

    def _sealed(self, sent: Sent, receipt: dict[str, Any]) -> None:
        """It is in a block of the chain. Until then it was held ready to be sent again."""
        self._account.confirm(sent)
        self._losses.compare(sent, transfers_in(receipt["logs"], self.token.address))

    def _remember(self, payment: Payment) -> None:
        """Keep the payment until it has ended. Of too many, the older half of those that are over is dropped."""
        payment.ended.add_done_callback(lambda _: self._forget(payment))
        if len(self._payments) > MOST_REMEMBERED:
            over = (
                one
                for key, one in self._payments.items()
                if key not in self._settling and not (one.sent and self._account.holds(one.sent))
            )
            for old in list(itertools.islice(over, MOST_REMEMBERED // 2)):
                self._forget(old)

    def _forget(self, payment: Payment) -> None:
        if self._payments.get(payment.key) is payment:
            del self._payments[payment.key]

    async def _watch(self) -> None:
        """Mend transactions that get into no block, and read the balance, whether or not somebody waits."""
        failures = NodeFailures(self.network, NODE_ERRORS)
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            with failures.swallowed():
                if self._account.is_overdue:
                    await self._account.mend()
                if self._prices.unavailable_reason:
                    self._balance_monitor.read_soon()
                if self._balance_monitor.is_due:
                    await self._balance_monitor.read()


def _payer(call: FacilitatorCall) -> str | None:
    authorization = call.payment_payload.payload.get("authorization")
    payer = authorization.get("from") if isinstance(authorization, dict) else None
    return payer if isinstance(payer, str) else None
