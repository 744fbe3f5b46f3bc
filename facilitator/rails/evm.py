"""The EVM rail on the chain: settles EIP-3009 authorizations from our settler account."""

from __future__ import annotations

import asyncio
import logging
import time

from eth_account import Account
from hexbytes import HexBytes
from web3 import AsyncHTTPProvider, AsyncWeb3

from facilitator.rails.account import MaybeSent, SettlerAccount
from facilitator.rails.calldata import transfer_with_authorization
from facilitator.rails.token import NODE_ERRORS, TokenOnChain, proves_payment
from shared.settings import InvalidSetting
from shared.x402 import evm
from shared.x402.evm import Authorization
from shared.x402.networks import EvmToken
from shared.x402.refusal import Refused
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Kind, Settlement, Verification

log = logging.getLogger(__name__)

RPC_TIMEOUT_S = 4.0
SETTLE_TIMEOUT_S = 6.0
"""From the start of a settlement to giving up on its receipt. Below the API's settle timeout, so that with a node that answers
it hears `settlement_pending` with the transaction instead of nothing."""

_Key = tuple[str, str, int, bytes]
"""Payment id, recipient, value, signature: a payer can sign two transfers with one nonce, and anybody can send one with a bad
signature beside the good one. None of them is the other's settlement."""


class EvmRail:
    """One token on one EVM network.

    Args:
        rpc_url: JSON-RPC node.
        settler_key: 32 bytes, of the account that pays the gas.
    """

    def __init__(self, token: EvmToken, rpc_url: str, settler_key: bytes) -> None:
        self.token = token
        # web3's own retries would hide how long a call takes; whoever asked repeats it.
        provider = AsyncHTTPProvider(
            rpc_url, request_kwargs={"timeout": RPC_TIMEOUT_S}, exception_retry_configuration=None
        )
        # None of its middleware (names, validation, gas prices): each call passes through all of it for nothing.
        self._web3 = AsyncWeb3(provider, middleware=[])
        self._chain = TokenOnChain(self._web3, token)
        self._account = SettlerAccount(self._web3, Account.from_key(settler_key), token.chain_id)
        self._settling: dict[_Key, asyncio.Task[Settlement]] = {}
        self._sent: dict[_Key, tuple[HexBytes, int]] = {}

    @property
    def kind(self) -> Kind:
        """What /supported says of it."""
        return Kind(x402_version=X402_VERSION, scheme=evm.SCHEME, network=self.token.network)

    @property
    def signers(self) -> tuple[str, ...]:
        """The accounts that send settlements."""
        return (self._account.address,)

    async def start(self) -> None:
        """Raises InvalidSetting when the node serves another chain: settling there would be settling nothing."""
        chain_id = await self._web3.eth.chain_id
        if chain_id != self.token.chain_id:
            raise InvalidSetting(f"the node serves chain {chain_id}, not {self.token.chain_id}")

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections."""
        await asyncio.gather(*self._settling.values(), return_exceptions=True)
        await self._web3.provider.disconnect()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. Changes nothing."""
        try:
            authorization = self._check(call)
            await self._simulate(call, authorization)
        except Refused as refused:
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
        except Refused as refused:
            return self._failed(refused.reason, _payer(call))
        key = _key(authorization)
        running = self._settling.get(key)
        if running is None:
            # A task of its own: whoever asked may hang up, and the settlement still ends well.
            running = asyncio.create_task(self._settle(call, authorization))
            self._settling[key] = running
            running.add_done_callback(lambda _: self._settling.pop(key, None))
        return await asyncio.shield(running)

    async def evidence(self, payer: str, nonce: bytes) -> Evidence:
        """What the chain says of one authorization."""
        return await self._chain.evidence(payer, nonce)

    def _check(self, call: FacilitatorCall) -> Authorization:
        offer, accepted = call.payment_requirements, call.payment_payload.accepted
        if (call.x402_version, call.payment_payload.x402_version) != (X402_VERSION, X402_VERSION):
            raise Refused("invalid_x402_version")
        if offer.scheme != evm.SCHEME or accepted.scheme != evm.SCHEME:
            raise Refused("unsupported_scheme")
        if offer.network != self.token.network or accepted.network != offer.network:
            raise Refused("invalid_network")
        if offer.asset.lower() != self.token.address.lower():
            raise Refused("invalid_payment_requirements")
        if (offer.extra.get("name"), offer.extra.get("version")) != (self.token.name, self.token.version):
            raise Refused("missing_eip712_domain")
        if not evm.is_payable(offer):
            raise Refused("invalid_payment_requirements")
        return evm.check(offer, call.payment_payload.payload)

    async def _simulate(self, call: FacilitatorCall, authorization: Authorization) -> int:
        """Gas of the transfer, after every check. Raises Refused and NODE_ERRORS."""
        if reason := authorization.window_refusal(int(time.time())):
            raise Refused(reason)
        if not authorization.signature_checked:
            digest = evm.authorization_digest(call.payment_requirements, authorization)
            await self._chain.check_wallet(authorization.payer, digest, authorization.signature)
        return await self._chain.simulate(authorization, sender=self._account.address)

    async def _settle(self, call: FacilitatorCall, authorization: Authorization) -> Settlement:
        """Never raises. `settlement_pending`: a transaction may be on its way. `unexpected_settle_error`: none of ours is."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        key = _key(authorization)
        try:
            sent = self._sent.get(key)
            if sent is not None and not await self._account.still_has(sent[0]):
                # Neither in a block nor to be sent any more: another transaction took its number.
                sent = None
            if sent is None:
                ended = await self._send(call, authorization)
                if isinstance(ended, Settlement):
                    return ended
                sent = self._sent[key] = ended, authorization.valid_before
            transaction = sent[0]
            receipt = await self._chain.receipt(transaction, give_up_at=give_up_at)
            if receipt is None:
                await self._account.mend()
                return self._open(authorization)
            self._account.forget(transaction)
            self._sent.pop(key, None)
            if receipt["status"] == 1 and proves_payment(receipt["logs"], authorization):
                return self._succeeded(authorization, transaction.to_0x_hex())
            # Somebody else may have sent the same authorization first: the payer has paid all the same.
            return await self._settled_before(authorization) or self._failed(
                "invalid_transaction_state", authorization.payer
            )
        except NODE_ERRORS as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return self._open(authorization)

    async def _send(self, call: FacilitatorCall, authorization: Authorization) -> HexBytes | Settlement:
        """Send the transfer; or how it ended without that: settled before, or refused."""
        try:
            gas = await self._simulate(call, authorization)
        except Refused as refused:
            return await self._settled_before(authorization) or self._failed(refused.reason, authorization.payer)
        now = time.time()
        # A transaction of an expired authorization can only fail.
        for key in [key for key, sent in self._sent.items() if sent[1] < now and key not in self._settling]:
            del self._sent[key]
        try:
            return await self._account.send(self.token.address, transfer_with_authorization(authorization), gas)
        except MaybeSent as maybe:
            return maybe.transaction

    async def _settled_before(self, authorization: Authorization) -> Settlement | None:
        """The earlier settlement of this very payment, or None when the chain shows that there is none.

        Raises:
            TimeoutError: the chain shows neither.
        """
        evidence = await self.evidence(authorization.payer, authorization.nonce)
        if evidence.status == "unknown":
            raise TimeoutError("the chain does not say what became of it")
        is_ours = (evidence.status, evidence.pay_to, evidence.amount) == (
            "settled",
            authorization.pay_to.lower(),
            str(authorization.value),
        )
        return self._succeeded(authorization, evidence.transaction) if is_ours else None

    def _succeeded(self, authorization: Authorization, transaction: str) -> Settlement:
        return Settlement(
            success=True,
            transaction=transaction,
            network=self.token.network,
            payer=authorization.payer,
            amount=str(authorization.value),
        )

    def _failed(self, reason: str, payer: str | None) -> Settlement:
        return Settlement(success=False, transaction="", network=self.token.network, payer=payer, error_reason=reason)

    def _open(self, authorization: Authorization) -> Settlement:
        sent = self._sent.get(_key(authorization))
        return Settlement(
            success=False,
            transaction=sent[0].to_0x_hex() if sent else "",
            network=self.token.network,
            payer=authorization.payer,
            error_reason="settlement_pending" if sent else "unexpected_settle_error",
        )


def _key(authorization: Authorization) -> _Key:
    return authorization.payment_id, authorization.pay_to.lower(), authorization.value, authorization.signature


def _payer(call: FacilitatorCall) -> str | None:
    authorization = call.payment_payload.payload.get("authorization")
    payer = authorization.get("from") if isinstance(authorization, dict) else None
    return payer if isinstance(payer, str) else None
