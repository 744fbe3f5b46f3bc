"""The EVM rail on the chain: settles EIP-3009 authorizations from our settler account."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence

import msgspec
from eth_account import Account
from web3 import AsyncHTTPProvider, AsyncWeb3

from facilitator.rails.evm.account import MaybeSent, SettlerAccount
from facilitator.rails.evm.balance import BalanceMonitor
from facilitator.rails.evm.calldata import transfer_with_authorization
from facilitator.rails.evm.payment_id import parse_evm
from facilitator.rails.evm.prices import CannotSend, Prices
from facilitator.rails.evm.token import NODE_ERRORS, TokenOnChain, proves_payment
from facilitator.rails.evm.transaction import Sent
from facilitator.settling import Settling, require_ours
from shared.settings import InvalidSetting
from shared.x402 import evm
from shared.x402.evm import EvmAuthorization
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Settlement, SupportedKind, Verification

log = logging.getLogger(__name__)

RPC_TIMEOUT_S = 4.0
SETTLE_TIMEOUT_S = 6.0
"""From the start of a settlement to giving up on its receipt. Below the API's settle timeout, so that with a node that answers
it hears `settlement_pending` with the transaction instead of nothing."""
WATCH_EVERY_S = 2.0
MOST_REMEMBERED = 4_000
"""Payments with a transaction whose end nobody has heard of yet. Without one, the chain is asked when one comes again."""

_Key = tuple[str, str, int, bytes]
"""Payment id, recipient, value, signature: a payer can sign two transfers with one nonce, and anybody can send one with a bad
signature beside the good one. None of them is the other's settlement."""


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
        # web3's own retries would hide how long a call takes; whoever asked repeats it.
        provider = AsyncHTTPProvider(
            rpc_url, request_kwargs={"timeout": RPC_TIMEOUT_S}, exception_retry_configuration=None
        )
        # None of its middleware (names, validation, gas prices): each call passes through all of it for nothing.
        self._web3 = AsyncWeb3(provider, middleware=[])
        self._chain = TokenOnChain(self._web3, token)
        settler = Account.from_key(settler_key)
        self._prices = Prices(self._web3, most_for_gas)
        self._balance_monitor = BalanceMonitor(self._web3, settler.address, self._prices, low_balance)
        self._account = SettlerAccount(
            self._web3, settler, token.chain_id, prices=self._prices, balance_monitor=self._balance_monitor
        )
        self._settling = Settling[_Key]()
        self._sent: dict[_Key, Sent] = {}
        self._watching: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def network(self) -> str:
        """CAIP-2."""
        return self.token.network

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """What /supported says of it: nothing while no settlement can be paid for."""
        return (
            ()
            if self.unavailable_reason
            else (SupportedKind(x402_version=X402_VERSION, scheme=evm.SCHEME, network=self.network),)
        )

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
        """What the settler account has for gas, as it was read last."""
        return f"{self._balance_monitor.balance_eth} ETH"

    async def start(self) -> None:
        """Raises InvalidSetting when the node serves another chain: settling there would be settling nothing."""
        chain_id = await self._web3.eth.chain_id
        if chain_id != self.token.chain_id:
            raise InvalidSetting(f"the node serves chain {chain_id}, not {self.token.chain_id}")
        await self._account.start()
        await self._balance_monitor.read()
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections."""
        await self._settling.finish()
        # Not cancelled: web3 leaves a lock of all its providers locked when a request is cancelled while it waits for it.
        self._stopping.set()
        if self._watching is not None:
            await self._watching
        await self._web3.provider.disconnect()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. Changes nothing."""
        try:
            authorization = self._check(call)
            await self._simulate(call, authorization)
        except PaymentRefused as refused:
            return Verification(is_valid=False, invalid_reason=refused.reason, payer=_payer(call))
        except NODE_ERRORS as error:
            return Verification(
                is_valid=False, invalid_reason="unexpected_verify_error", invalid_message=type(error).__name__
            )
        return Verification(is_valid=True, payer=authorization.payer)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice is one transaction."""
        try:
            authorization = self._check(call)
        except PaymentRefused as refused:
            return self._failed(refused.reason, _payer(call))
        key = _key(authorization)
        return await self._settling.once(key, lambda: self._settle(call, authorization))

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one authorization."""
        named = parse_evm(payment_id)
        if named is None or (named.network, named.asset) != (self.network, self.token.address.lower()):
            return None
        return await self._chain.evidence(named.payer, named.nonce)

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

    async def _simulate(self, call: FacilitatorCall, authorization: EvmAuthorization) -> int:
        """Gas of the transfer, after every check. Raises Refused and NODE_ERRORS."""
        if reason := authorization.window_refusal(int(time.time())):
            raise PaymentRefused(reason)
        if not authorization.signature_checked:
            digest = evm.authorization_digest(call.payment_requirements, authorization)
            await self._chain.check_wallet(authorization.payer, digest, authorization.signature)
        return await self._chain.simulate(authorization, sender=self._account.address)

    async def _settle(self, call: FacilitatorCall, authorization: EvmAuthorization) -> Settlement:
        """Never raises. `settlement_pending`: a transaction may be on its way. `unexpected_settle_error`: none of ours is."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        key = _key(authorization)
        try:
            sent = self._sent.get(key)
            if sent is not None and not await self._account.still_has(sent):
                # Neither in a block nor to be sent any more: another transaction took its number.
                del self._sent[key]
                sent = None
            if sent is None:
                ended = await self._send(call, authorization, give_up_at)
                if isinstance(ended, Settlement):
                    return ended
                sent = ended
                self._remember(key, sent)
            receipt = await self._chain.receipt(sent, give_up_at=give_up_at)
            if receipt is None:
                await self._account.mend()
                return self._open(authorization)
            self._account.confirm(sent)
            self._sent.pop(key, None)
            if receipt["status"] == 1 and proves_payment(receipt["logs"], authorization):
                return self._succeeded(authorization, receipt["transactionHash"].to_0x_hex())
            # Somebody else may have sent the same authorization first: the payer has paid all the same.
            return await self._settled_before(authorization) or self._failed(
                "invalid_transaction_state", authorization.payer
            )
        except CannotSend as why:
            return msgspec.structs.replace(self._open(authorization), error_message=str(why))
        except NODE_ERRORS as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return self._open(authorization)

    async def _send(
        self, call: FacilitatorCall, authorization: EvmAuthorization, give_up_at: float
    ) -> Sent | Settlement:
        """Send the transfer; or how it ended without that: settled before, or refused."""
        if not await self._account.caught_up(give_up_at=give_up_at):
            raise TimeoutError("what an earlier run sent is not in a block yet")
        try:
            gas = await self._simulate(call, authorization)
        except PaymentRefused as refused:
            return await self._settled_before(authorization) or self._failed(refused.reason, authorization.payer)
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

    def _remember(self, key: _Key, sent: Sent) -> None:
        """Until its receipt has been seen; when there are too many, the older half of those whose number is taken is let go."""
        self._sent[key] = sent
        if len(self._sent) > MOST_REMEMBERED:
            over = [k for k, old in self._sent.items() if k not in self._settling and not self._account.holds(old)]
            for old_key in over[: MOST_REMEMBERED // 2]:
                del self._sent[old_key]

    async def _watch(self) -> None:
        """What nobody is waiting for: a transaction that does not get into a block, and the account's balance."""
        was_silent = False
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), WATCH_EVERY_S)
                return
            try:
                if self._account.is_overdue:
                    await self._account.mend()
                if self._balance_monitor.is_due:
                    await self._balance_monitor.read()
                was_silent = False
            except NODE_ERRORS as error:
                if not was_silent:
                    log.warning("the node cannot be asked: %s", type(error).__name__)
                was_silent = True

    async def _settled_before(self, authorization: EvmAuthorization) -> Settlement | None:
        """The earlier settlement of this very payment, or None when the chain shows that there is none.

        Raises:
            TimeoutError: the chain shows neither.
        """
        evidence = await self._chain.evidence(authorization.payer, authorization.nonce)
        if evidence.status == "unknown":
            raise TimeoutError("the chain does not say what became of it")
        is_ours = (evidence.status, evidence.pay_to, evidence.amount) == (
            "settled",
            authorization.pay_to.lower(),
            str(authorization.value),
        )
        return self._succeeded(authorization, evidence.transaction) if is_ours else None

    def _succeeded(self, authorization: EvmAuthorization, transaction: str) -> Settlement:
        return Settlement(
            success=True,
            transaction=transaction,
            network=self.network,
            payer=authorization.payer,
            amount=str(authorization.value),
        )

    def _failed(self, reason: str, payer: str | None) -> Settlement:
        return Settlement(success=False, transaction="", network=self.network, payer=payer, error_reason=reason)

    def _open(self, authorization: EvmAuthorization) -> Settlement:
        sent = self._sent.get(_key(authorization))
        return Settlement(
            success=False,
            transaction=sent.newest.hash.to_0x_hex() if sent else "",
            network=self.network,
            payer=authorization.payer,
            error_reason="settlement_pending" if sent else "unexpected_settle_error",
        )


def _key(authorization: EvmAuthorization) -> _Key:
    return authorization.payment_id, authorization.pay_to.lower(), authorization.value, authorization.signature


def _payer(call: FacilitatorCall) -> str | None:
    authorization = call.payment_payload.payload.get("authorization")
    payer = authorization.get("from") if isinstance(authorization, dict) else None
    return payer if isinstance(payer, str) else None
