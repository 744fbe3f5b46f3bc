"""What the answers to vouchers change in the store of channels, and how far a server is believed.

| it says                                           | believed                                                               |
|---------------------------------------------------|------------------------------------------------------------------------|
| the call was not charged, or less than its price  | yes, as for every payment: it can claim no more than was signed        |
| how much was charged in all, in a receipt         | up to the highest voucher that counts                                  |
| the same in a 402 that corrects us                | with our own signature over as much, and up to what the store has signed |
| the balance                                       | up to what we have deposited                                           |
"""

import re
from dataclasses import dataclass
from typing import Any

from coinslot import payment as payments
from coinslot.channel_store import Channel, ChannelStore
from coinslot.errors import Charged, CoinslotError, PaymentNotSaved, Unreachable
from coinslot.payment import SignedPayment
from shared.x402 import evm_channel_ids
from shared.x402.evm import signer_of
from shared.x402.evm_channel import SCHEME
from shared.x402.wire import Challenge, Settlement

_UINT = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Signed:
    """What a payment signs.

    Attributes:
        most: what its voucher allows to claim.
        deposit: the nonce of its deposit; empty without one.
    """

    channel: str
    most: int
    deposit: str


def signed(payment: SignedPayment) -> Signed | None:
    """What a payment out of a channel signs; None for any other payment."""
    if payment.offer.scheme != SCHEME:
        return None
    payload = payments.decode(payment.header).payload
    channel = payload["voucher"]["channelId"]
    salt = payload.get("deposit", {}).get("authorization", {}).get("erc3009Authorization", {}).get("salt", "")
    nonce = evm_channel_ids.deposit_nonce(bytes.fromhex(channel[2:]), bytes.fromhex(salt[2:])).hex() if salt else ""
    return Signed(channel, int(payload["voucher"]["maxClaimableAmount"]), nonce and f"0x{nonce}")


def interrupted(store: ChannelStore, payment: SignedPayment) -> None:
    """Nobody waits for its answer any more. It counts until `coinslot resume` has it."""
    if (own := signed(payment)) is not None:
        store.end_turn(own.deposit)


def failed(store: ChannelStore, payment: SignedPayment, error: CoinslotError) -> None:
    """The call ended with an error. After some errors it is certain that nothing has left this process."""
    was_sent = not isinstance(error, Unreachable | PaymentNotSaved)
    _end(store, payment, charged=error.charged, receipt=error.receipt, was_sent=was_sent)


def answered(store: ChannelStore, payment: SignedPayment, receipt: Settlement | None) -> None:
    """The call was answered, so a deposit that came with it was made."""
    _end(store, payment, charged=True, receipt=receipt, is_answered=True)


def corrected(store: ChannelStore, channel_id: str, challenge: Challenge | None) -> bool:
    """Whether a 402 has shown where the next voucher of the channel starts, with a signature of ours to prove it."""
    if challenge is None:
        return False
    with store.changing() as channels:
        if (channel := channels.get(channel_id)) is None:
            return False
        return any(_correct(channel, offer.extra) for offer in challenge.accepts if offer.scheme == SCHEME)


def _correct(channel: Channel, extra: dict[str, Any]) -> bool:
    """Take the start from the `extra` of a corrective 402's offer. False: it proves nothing, or nothing new."""
    state, voucher = _state(channel, extra), extra.get("voucherState")
    if state is None or not isinstance(voucher, dict):
        return False
    start, most = _amount(state, "chargedCumulativeAmount"), _amount(voucher, "signedMaxClaimable")
    signature = voucher.get("signature")
    if start is None or most is None or not start <= most <= channel.signed:
        return False
    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        return False
    digest = evm_channel_ids.voucher_digest(evm_channel_ids.chain_id_of(channel.network), channel.raw_id, most)
    if signer_of(digest, bytes.fromhex(signature[2:])) != channel.config.payer_authorizer.lower():
        return False
    channel.start_from(start)
    return True


def _end(
    store: ChannelStore,
    payment: SignedPayment,
    *,
    charged: Charged,
    receipt: Settlement | None,
    was_sent: bool = True,
    is_answered: bool = False,
) -> None:
    own = signed(payment)
    if own is None:
        return
    try:
        with store.changing() as channels:
            channel = channels.get(own.channel)
            if channel is None:
                return
            if was_sent:
                channel.url = payment.url
            else:
                channel.deposits.pop(own.deposit, None)
            if is_answered or (receipt is not None and receipt.success):
                channel.confirm(own.deposit)
            extra = (receipt.extra if receipt else None) or {}
            if (state := _state(channel, extra)) is not None:
                _believe(channel, state)
            if charged != "unknown":
                price = int(payment.offer.amount) if charged else 0
                amount = _amount(extra, "chargedAmount")
                channel.end(own.most, price if amount is None else min(amount, price))
    finally:
        store.end_turn(own.deposit)


def _believe(channel: Channel, state: dict[str, Any]) -> None:
    start, balance = _amount(state, "chargedCumulativeAmount"), _amount(state, "balance")
    if start is not None and start <= channel.used:
        channel.start_from(start)
    promised = sum(deposit.amount for deposit in channel.deposits.values())
    if balance is not None and promised and balance == channel.balance + promised:
        for nonce in list(channel.deposits):
            channel.confirm(nonce)


def _state(channel: Channel, extra: dict[str, Any]) -> dict[str, Any] | None:
    state = extra.get("channelState")
    return state if isinstance(state, dict) and str(state.get("channelId", "")).lower() == channel.id else None


def _amount(members: dict[str, Any], name: str) -> int | None:
    text = members.get(name)
    return int(text) if isinstance(text, str) and _UINT.fullmatch(text) else None
