"""Channels on an EVM network: settles deposits, and relays claims, payouts and refunds that their receiver has signed.

It signs nothing for a receiver. The contract lets anybody send these calls, so only the settler's gas is to be protected: only
channels of our own recipient are relayed, and only what the node says would succeed.
"""

import asyncio
import logging
from typing import Any

import msgspec

from facilitator import results
from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from facilitator.rails.evm import calldata as calls
from facilitator.rails.evm.account import SettlerAccount, Work
from facilitator.rails.evm.calldata import Row
from facilitator.rails.evm.node import bytes_of, is_failure, number_of, value_of, view
from facilitator.rails.evm.settlements import SETTLE_TIMEOUT_S, Settlements
from facilitator.rails.evm.simulation import GAS_MARGIN, Simulator
from facilitator.rails.evm.transaction import Operation, Payment
from facilitator.settling import CannotSend, Settling, require_ours
from shared.x402 import evm_channel
from shared.x402.evm_channel import SCHEME, Deposit, RefundRequest, Voucher
from shared.x402.evm_channel_ids import CONTRACT, PREFIX, ChannelConfig
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import FacilitatorCall, Offer, Settlement, Verification

log = logging.getLogger(__name__)

MOST_ROWS = 50
"""Channels in one claim. Each takes 24,100 gas (measured), so more save nothing."""


class _Voucher(msgspec.Struct, frozen=True, rename="camel"):
    channel: ChannelConfig
    max_claimable_amount: str


class _Claim(msgspec.Struct, frozen=True, rename="camel"):
    voucher: _Voucher
    signature: str
    total_claimed: str

    def row(self) -> Row:
        """Raises ValueError."""
        signature = bytes.fromhex(self.signature.removeprefix("0x"))
        return Row(self.voucher.channel, int(self.voucher.max_claimable_amount), signature, int(self.total_claimed))


class _Claims(msgspec.Struct, frozen=True, rename="camel"):
    claims: tuple[_Claim, ...]
    claim_authorizer_signature: str


class _Payout(msgspec.Struct, frozen=True):
    receiver: str
    token: str


class _Refund(msgspec.Struct, frozen=True, rename="camel"):
    channel_config: ChannelConfig
    amount: str
    refund_nonce: str
    refund_authorizer_signature: str
    claims: tuple[_Claim, ...] = ()
    claim_authorizer_signature: str = ""


class ChannelRelay:
    """The channels of one recipient.

    Args:
        receiver: whom the channels pay.
        sender: the account that pays the gas.
    """

    def __init__(
        self,
        token: EvmToken,
        receiver: str,
        sender: str,
        *,
        node: JsonRpcNode,
        simulator: Simulator,
        settlements: Settlements,
        account: SettlerAccount,
    ) -> None:
        self._token = token
        self._receiver = receiver.lower()
        self._sender = sender
        self._node = node
        self._simulator = simulator
        self._settlements = settlements
        self._account = account
        self._relaying = Settling[bytes]()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether a deposit would settle, and whether a voucher is covered by what its channel holds. It sends nothing."""
        try:
            authorization = self._check(call)
            if isinstance(authorization, Deposit):
                (verdict,) = await self._simulator.check([Payment(authorization)])
                if verdict is not None:
                    raise verdict
                return results.valid(authorization)
            voucher = authorization.voucher if isinstance(authorization, RefundRequest) else authorization
            state = await channel_state(self._node, voucher.channel_id)
            if voucher.max_claimable > int(state["balance"]):
                raise PaymentRefused(f"{PREFIX}cumulative_exceeds_balance")
        except PaymentRefused as refused:
            return results.invalid(refused.reason)
        except NODE_ERRORS as error:
            return results.unverified(error)
        return msgspec.structs.replace(results.valid(authorization), extra=state)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle a deposit, or relay what a receiver has signed. The same call twice has one effect. Never raises."""
        try:
            require_ours(call, self._token.network, SCHEME)
            kind = call.payment_payload.payload.get("type")
            if kind == "deposit":
                deposit = self._check(call)
                assert isinstance(deposit, Deposit)
                return await self._deposited(deposit)
            data, amount = await self._data(str(kind), call.payment_payload.payload)
        except PaymentRefused as refused:
            return results.failed(self._token.network, refused.reason)
        except NODE_ERRORS as error:
            return self._pending("", type(error).__name__)
        return await self._relaying.once(data, lambda: self._relay(str(kind), data, amount))

    async def finish(self) -> None:
        """Wait until nothing is under way."""
        await self._relaying.finish()

    def _check(self, call: FacilitatorCall) -> Voucher | Deposit | RefundRequest:
        require_ours(call, self._token.network, SCHEME)
        offer = call.payment_requirements
        self._require_own(offer.pay_to, offer.asset)
        if (offer.extra.get("name"), offer.extra.get("version")) != (self._token.name, self._token.version):
            raise PaymentRefused(f"{PREFIX}missing_eip712_domain")
        if not evm_channel.is_payable(_with_least(offer)):
            raise PaymentRefused("invalid_payment_requirements")
        return evm_channel.check(_with_least(offer), call.payment_payload.payload)

    def _require_own(self, receiver: str, token: str) -> None:
        """The settler pays for nobody else's channels."""
        if (receiver.lower(), token.lower()) != (self._receiver, self._token.address.lower()):
            raise PaymentRefused("invalid_payment_requirements")

    async def _deposited(self, deposit: Deposit) -> Settlement:
        settlement = await self._settlements.settle(deposit)
        if not settlement.success:
            return settlement
        try:
            state = await channel_state(self._node, deposit.voucher.channel_id)
        except NODE_ERRORS:
            return settlement  # whoever wants to know reads it from the chain
        return msgspec.structs.replace(settlement, extra={"channelState": state})

    async def _data(self, kind: str, payload: dict[str, Any]) -> tuple[bytes, int | None]:
        """The call of the contract, and what it pays to somebody. Raises PaymentRefused, and what is in NODE_ERRORS."""
        try:
            match kind:
                case "claim":
                    asked = msgspec.convert(payload, _Claims)
                    return self._claim(asked.claims, asked.claim_authorizer_signature), None
                case "settle":
                    payout = msgspec.convert(payload, _Payout)
                    self._require_own(payout.receiver, payout.token)
                    owed = await owed_to(self._node, payout.receiver, payout.token)
                    if not owed:
                        raise PaymentRefused(f"{PREFIX}nothing_to_settle")
                    return calls.settle(payout.receiver, payout.token), owed
                case "refund":
                    return self._refund(msgspec.convert(payload, _Refund))
        except (msgspec.ValidationError, ValueError, OverflowError):
            raise PaymentRefused(f"{PREFIX}{kind}_payload") from None
        raise PaymentRefused(f"{PREFIX}unknown_settle_action")

    def _claim(self, claims: tuple[_Claim, ...], signature: str) -> bytes:
        if not 0 < len(claims) <= MOST_ROWS:
            raise PaymentRefused(f"{PREFIX}claim_payload")
        for claim in claims:
            self._require_own(claim.voucher.channel.receiver, claim.voucher.channel.token)
        rows = [claim.row() for claim in claims]
        return calls.claim(rows, bytes.fromhex(signature.removeprefix("0x")))

    def _refund(self, asked: _Refund) -> tuple[bytes, int]:
        self._require_own(asked.channel_config.receiver, asked.channel_config.token)
        signature = bytes.fromhex(asked.refund_authorizer_signature.removeprefix("0x"))
        amount = int(asked.amount)
        data = calls.refund(asked.channel_config, amount, int(asked.refund_nonce), signature)
        if asked.claims:
            data = calls.multicall([self._claim(asked.claims, asked.claim_authorizer_signature), data])
        return data, amount

    async def _relay(self, kind: str, data: bytes, amount: int | None) -> Settlement:
        """Send a call of the contract, and wait for its block."""
        call = {"from": self._sender, "to": CONTRACT, "data": "0x" + data.hex()}
        operation: Operation | None = None
        try:
            gas = number_of(await self._node.ask("eth_estimateGas", call))
            operation = Operation(CONTRACT, data, int(gas * GAS_MARGIN))
            work = Work(CONTRACT, data, operation.gas, operation=operation)
            await self._account.send(lambda gas_left: work if work.gas <= gas_left else None)
            if operation.sent is None:
                return self._pending("", "the settler account cannot pay for so much gas now")
            receipt = await asyncio.wait_for(asyncio.shield(operation.ended), SETTLE_TIMEOUT_S)
        except (CannotSend, *NODE_ERRORS) as error:
            sent = operation.sent if operation else None
            if sent is None and operation is None and _reverts(error):
                return results.failed(self._token.network, f"{PREFIX}{kind}_simulation_failed")
            return self._pending(sent.hash if sent else "", str(error) or type(error).__name__)
        if receipt is None:
            return self._pending(operation.sent.hash, "its number was used by another transaction")
        transaction = receipt["transactionHash"]
        if not number_of(receipt["status"]):
            failed = results.failed(self._token.network, f"{PREFIX}{kind}_transaction_failed")
            return msgspec.structs.replace(failed, transaction=transaction)
        log.info("%s of channels: %s", kind, transaction)
        return Settlement(
            success=True,
            transaction=transaction,
            network=self._token.network,
            amount="" if amount is None else str(amount),
        )

    def _pending(self, transaction: str, message: str) -> Settlement:
        return Settlement(
            success=False,
            transaction=transaction,
            network=self._token.network,
            error_reason="settlement_pending" if transaction else "unexpected_settle_error",
            error_message=message,
        )


async def channel_state(node: JsonRpcNode, channel_id: bytes) -> dict[str, Any]:
    """What the chain shows of a channel, in the words of /verify and /settle. Raises what is in NODE_ERRORS."""
    answers = await node.ask_all([view(CONTRACT, data) for data in calls.channel_views(channel_id)])
    (balance, claimed), (_, since), (nonce,) = (
        calls.numbers(bytes_of(value_of(answer)), count) for answer, count in zip(answers, (2, 2, 1), strict=True)
    )
    return {
        "channelId": "0x" + channel_id.hex(),
        "balance": str(balance),
        "totalClaimed": str(claimed),
        "withdrawRequestedAt": since,
        "refundNonce": str(nonce),
    }


async def owed_to(node: JsonRpcNode, receiver: str, token: str) -> int:
    """What was claimed for a receiver and not paid out, in atomic units. Raises what is in NODE_ERRORS."""
    call = view(CONTRACT, calls.receiver_view(receiver, token))
    claimed, settled = calls.numbers(bytes_of(await node.ask(call.method, *call.params)), 2)
    return claimed - settled


def _with_least(offer: Offer) -> Offer:
    """The offer as it is; the least deposit is the seller's affair."""
    return (
        offer
        if "minDeposit" in offer.extra
        else msgspec.structs.replace(offer, extra={**offer.extra, "minDeposit": "0"})
    )


def _reverts(error: Exception) -> bool:
    try:
        return is_failure(error)
    except NODE_ERRORS:
        return False
