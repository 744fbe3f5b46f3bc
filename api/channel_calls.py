"""What a paid call does with a channel, beside what it does with any payment: opens it, corrects the payer, pays him back."""

import asyncio
import dataclasses
import logging
import time

import msgspec

from api.causes import Cause
from api.claims import voucher_claim
from api.errors import problem_of
from api.http import Answer
from api.payment.challenge import channel_state
from api.payment.gate import PaymentGate
from api.payment.ledger_terms import Claim, Entry, LookUp, Verdict
from api.payment.settle import Checked
from api.services import Services
from shared.x402.evm_channel import Deposit, RefundRequest, Voucher
from shared.x402.evm_channel_ids import PREFIX
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Settlement

log = logging.getLogger(__name__)

REFUND_TIMEOUT_S = 25.0
"""How long a refund is waited for. Common HTTP clients give up after 30 s."""
_POLL_S = 0.1
_READS = 5
"""How often a channel is read for a deposit that a node has not seen yet."""
_READ_PAUSE_S = 0.3
_REASONS = {
    Verdict.UNKNOWN: "channel_not_found",
    Verdict.MISMATCH: "cumulative_amount_mismatch",
    Verdict.EXCEEDS: "cumulative_exceeds_balance",
    Verdict.BUSY: "channel_busy",
}
_REFUND_REASONS = {
    "unknown": "channel_not_found",
    "busy": "channel_busy",
    "limited": "refund_too_soon",
    "nothing": "nothing_to_settle",
    "partial": "refund_amount_invalid",
}


class ChannelCalls:
    """The channels of one endpoint's calls."""

    def __init__(self, gate: PaymentGate, services: Services) -> None:
        self._gate = gate
        self._services = services
        self._ledger = services.ledger
        self._channels = services.ledger.channels

    async def opened(self, checked: Checked, *, is_read: bool = False) -> tuple[Checked, Entry]:
        """Go from a deposit, which is settled, to the call that its voucher pays.

        Args:
            is_read: the ledger knows already what the chain shows of it.

        Raises:
            Problem: the chain cannot be read now. The same request finds the deposit and continues.
            PaymentRefused: its price is outdated, and the ledger does not know its voucher.
            RedisLost, RedisRefused: the ledger did not answer.
        """
        deposit = checked.authorization
        assert isinstance(deposit, Deposit)
        receipt = await self._ledger.receipt(deposit.payment_id)
        call_log, voucher = checked.call_log, deposit.voucher
        endpoint = self._gate.endpoint
        claim = voucher_claim(self._services, endpoint, voucher, checked.payment, checked.query, checked.body)
        offer = checked.payment.accepted
        call = dataclasses.replace(checked, authorization=voucher, claim=claim, offer=offer, deposit=receipt)
        call_log.receipt, call_log.payment_id, call_log.deposit = b"", claim.payment_id, receipt
        how = LookUp.FIND if checked.is_outdated else LookUp.CLAIM
        if is_read:
            return call, await self._taken(claim, how)
        entry = Entry(Verdict.UNKNOWN)
        for _ in range(_READS):
            if not await self._channels.read(voucher, has_deposit=True):
                raise problem_of(Cause.CHANNEL_UNREAD)
            entry = await self._taken(claim, how)
            if entry.verdict not in (Verdict.UNKNOWN, Verdict.EXCEEDS):
                break
            await asyncio.sleep(_READ_PAUSE_S)  # perhaps the claimer's node has not seen the block yet
        if entry.verdict is Verdict.UNKNOWN:
            raise problem_of(Cause.CHANNEL_UNREAD)
        await self._channels.opened(deposit.payment_id)
        return call, entry

    async def _taken(self, claim: Claim, how: LookUp) -> Entry:
        entry = await self._ledger.look_up(claim, how)
        if entry.verdict is Verdict.ABSENT:
            raise PaymentRefused("no_matching_offer")
        return entry

    async def known(self, checked: Checked) -> Entry:
        """Take a voucher of a channel that the ledger does not know, if the chain knows it. Raises Problem."""
        assert isinstance(checked.authorization, Voucher)
        if not await self._channels.read(checked.authorization):
            raise problem_of(Cause.CHANNEL_UNREAD)
        return await self._ledger.claim(checked.claim)

    def refuse(self, checked: Checked, entry: Entry) -> Answer:
        """402 for a voucher that pays nothing, with what its payer has to know."""
        assert isinstance(checked.authorization, Voucher)
        reason = PREFIX + _REASONS[entry.verdict]
        if entry.verdict is not Verdict.MISMATCH or entry.channel is None:
            return self._gate.refuse(reason)
        return self._gate.correct(reason, checked.authorization.channel_id, entry.channel)

    async def refund(self, request: RefundRequest) -> Answer:
        """Have the claimer pay back what is left of a channel, and wait for it.

        Raises:
            Problem: it is not known yet what becomes of it.
            RedisLost, RedisRefused: the ledger did not answer.
        """
        voucher = request.voucher
        verdict, channel = await self._channels.begin_refund(voucher, request.wanted)
        if verdict == "mismatch" and channel is not None:
            return self._gate.correct(PREFIX + _REASONS[Verdict.MISMATCH], voucher.channel_id, channel)
        if verdict == "nothing" and (result := await self._channels.refund_result(voucher)):
            return self._refunded(result)  # to a caller who has lost the answer
        if verdict != "begun":
            return self._gate.refuse(PREFIX + _REFUND_REASONS[verdict])
        give_up_at = time.monotonic() + REFUND_TIMEOUT_S
        while time.monotonic() < give_up_at:
            await asyncio.sleep(_POLL_S)
            if result := await self._channels.refund_result(voucher):
                return self._refunded(result)
        raise problem_of(Cause.SETTLEMENT_UNKNOWN, charged=False)

    def _refunded(self, result: bytes) -> Answer:
        settlement = msgspec.json.decode(result, type=Settlement)
        if not settlement.success:
            return self._gate.declined(settlement.error_reason or PREFIX + "refund_failed", settlement)
        headers = ((b"content-type", b"application/json"), *self._gate.receipt(result))
        return Answer(200, headers, result)

    async def receipt(self, checked: Checked, receipt: bytes) -> bytes:
        """The receipt of a call: of one that came with a deposit, it names that, too.

        Args:
            receipt: as the worker wrote it; empty where nothing was charged.
        """
        if not checked.deposit:
            return receipt
        settled = msgspec.json.decode(checked.deposit, type=Settlement)
        if receipt:
            extra = msgspec.json.decode(receipt, type=Settlement).extra
        else:
            voucher = checked.authorization
            assert isinstance(voucher, Voucher)
            channel = await self._channels.state(voucher)
            state = channel_state(voucher.channel_id, channel)["channelState"] if channel else None
            extra = {"chargedAmount": "0"} | ({"channelState": state} if state else {})
        return msgspec.json.encode(msgspec.structs.replace(settled, extra=extra))
