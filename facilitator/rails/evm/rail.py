"""The EVM rail: settles EIP-3009 authorizations from our settler account."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence

from eth_account import Account

from facilitator import results
from facilitator.node_failures import NodeFailures
from facilitator.rails.evm.account import MaybeSent, SettlerAccount
from facilitator.rails.evm.balance import balance_monitor
from facilitator.rails.evm.calldata import transfer_with_authorization
from facilitator.rails.evm.evidence import Authorizations, parse_id, proves_payment
from facilitator.rails.evm.node import NODE_ERRORS, connection, receipt
from facilitator.rails.evm.prices import Prices
from facilitator.rails.evm.simulation import Simulator
from facilitator.rails.evm.transaction import Sent
from facilitator.settling import CannotSend, PaymentKey, Settling, payment_key, require_ours
from shared.settings import InvalidSetting
from shared.x402 import evm
from shared.x402.evm import EvmAuthorization
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
    """

    def __init__(
        self, token: EvmToken, rpc_url: str, settler_key: bytes, *, most_for_gas: int, low_balance: int
    ) -> None:
        self.token = token
        settler = Account.from_key(settler_key)
        self._web3 = connection(rpc_url)
        self._simulator = Simulator(self._web3, token, settler.address)
        self._authorizations = Authorizations(self._web3, token)
        self._prices = Prices(self._web3, most_for_gas)
        self._balance_monitor = balance_monitor(self._web3, settler.address, self._prices, low_balance)
        self._account = SettlerAccount(
            self._web3, settler, token.chain_id, prices=self._prices, balance_monitor=self._balance_monitor
        )
        self._settling = Settling[PaymentKey]()
        self._sent: dict[PaymentKey, Sent] = {}
        self._watching: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def network(self) -> str:
        """CAIP-2."""
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
        return {"eip155:*": (self._account.address,)}

    @property
    def unavailable_reason(self) -> str:
        """Why nothing can be settled now; empty when it can."""
        return self._balance_monitor.unavailable_reason or self._prices.unavailable_reason

    @property
    def balance(self) -> str:
        """What the settler account has for gas."""
        return self._balance_monitor.balance

    async def start(self) -> None:
        """Connect. Raises InvalidSetting when the node serves another chain, and what is in NODE_ERRORS."""
        chain_id = await self._web3.eth.chain_id
        if chain_id != self.token.chain_id:
            raise InvalidSetting(f"the node serves chain {chain_id}, not {self.token.chain_id}")
        await self._account.start()
        await self._balance_monitor.read()
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Wait for the settlements under way, then disconnect."""
        await self._settling.finish()
        # Not cancelled: when a waiting request is cancelled, web3 leaves a lock of all its providers locked.
        self._stopping.set()
        if self._watching is not None:
            await self._watching
        await self._web3.provider.disconnect()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now."""
        try:
            authorization = self._check(call)
            await self._simulator.check(call.payment_requirements, authorization)
        except PaymentRefused as refused:
            return results.invalid(refused.reason, _payer(call))
        except NODE_ERRORS as error:
            return results.unverified(error)
        return results.valid(authorization)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before."""
        try:
            authorization = self._check(call)
        except PaymentRefused as refused:
            return results.failed(self.network, refused.reason, _payer(call))
        return await self._settling.once(payment_key(authorization), lambda: self._settle(call, authorization))

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one authorization; None when the id is not one of this token."""
        named = parse_id(payment_id, self.token)
        return await self._authorizations.evidence(named.payer, bytes.fromhex(named.nonce)) if named else None

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

    async def _settle(self, call: FacilitatorCall, authorization: EvmAuthorization) -> Settlement:
        """Run one settlement. Never raises."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        key = payment_key(authorization)
        try:
            sent = self._sent.get(key)
            if sent is not None and not await self._account.still_has(sent):
                # It is in no block and cannot be sent again: another transaction took its number.
                del self._sent[key]
                sent = None
            if sent is None:
                ended = await self._send(call, authorization, give_up_at)
                if isinstance(ended, Settlement):
                    return ended
                sent = ended
                self._remember(key, sent)
            found = await receipt(self._web3, sent, give_up_at=give_up_at)
            if found is None:
                await self._account.mend()
                return self._unsettled(authorization)
            self._account.confirm(sent)
            self._sent.pop(key, None)
            if found["status"] == 1 and proves_payment(found["logs"], authorization):
                return results.succeeded(authorization, found["transactionHash"].to_0x_hex())
            # Somebody else may have sent the same authorization first. Then the payer has paid all the same.
            return await self._settled_before(authorization) or results.failed(
                self.network, "invalid_transaction_state", authorization.payer
            )
        except CannotSend as why:
            return self._unsettled(authorization, message=str(why))
        except NODE_ERRORS as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return self._unsettled(authorization)

    async def _send(
        self, call: FacilitatorCall, authorization: EvmAuthorization, give_up_at: float
    ) -> Sent | Settlement:
        """Send the transfer. The result is a Settlement when nothing was sent: settled before, or refused."""
        if not await self._account.caught_up(give_up_at=give_up_at):
            raise TimeoutError("what an earlier run sent is not in a block yet")
        try:
            gas = await self._simulator.check(call.payment_requirements, authorization)
        except PaymentRefused as refused:
            return await self._settled_before(authorization) or results.failed(
                self.network, refused.reason, authorization.payer
            )
        try:
            return await self._account.send(
                self.token.address,
                transfer_with_authorization(authorization),
                gas,
                valid_before=authorization.valid_before,
                give_up_at=give_up_at,
            )
        except MaybeSent as maybe:
            return maybe.sent

    def _remember(self, key: PaymentKey, sent: Sent) -> None:
        """Keep the transaction until its receipt was seen. Of too many, the older half of those that are over is dropped."""
        self._sent[key] = sent
        if len(self._sent) > MOST_REMEMBERED:
            over = [k for k, old in self._sent.items() if k not in self._settling and not self._account.holds(old)]
            for old_key in over[: MOST_REMEMBERED // 2]:
                del self._sent[old_key]

    async def _watch(self) -> None:
        """Mend transactions that get into no block, and read the balance, whether or not somebody waits."""
        failures = NodeFailures(self.network, NODE_ERRORS)
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), WATCH_EVERY_S)
                return
            with failures.swallowed():
                if self._account.is_overdue:
                    await self._account.mend()
                if self._prices.unavailable_reason:
                    self._balance_monitor.read_soon()
                if self._balance_monitor.is_due:
                    await self._balance_monitor.read()

    async def _settled_before(self, authorization: EvmAuthorization) -> Settlement | None:
        """The earlier settlement of this very payment, or None. Raises TimeoutError when the chain shows neither."""
        evidence = await self._authorizations.evidence(authorization.payer, authorization.nonce)
        return results.settled_before(authorization, evidence)

    def _unsettled(self, authorization: EvmAuthorization, *, message: str | None = None) -> Settlement:
        sent = self._sent.get(payment_key(authorization))
        return results.unsettled(authorization, sent.newest.hash.to_0x_hex() if sent else "", message=message)


def _payer(call: FacilitatorCall) -> str | None:
    authorization = call.payment_payload.payload.get("authorization")
    payer = authorization.get("from") if isinstance(authorization, dict) else None
    return payer if isinstance(payer, str) else None
