"""ABI encoding of the calls of the channels' contract, and of what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from facilitator.rails.evm.calldata import address_word, dynamic, uint
from shared.x402.evm import selector
from shared.x402.evm_channel import Deposit
from shared.x402.evm_channel_ids import COLLECTOR, CONFIG_ABI, ChannelConfig, config_words

_ROWS = f"(({CONFIG_ABI},uint128),bytes,uint128)[]"

_DEPOSIT = selector(f"deposit({CONFIG_ABI},uint128,address,bytes)")
_CLAIM = selector(f"claimWithSignature({_ROWS},bytes)")
_SETTLE = selector("settle(address,address)")
_REFUND = selector(f"refundWithSignature({CONFIG_ABI},uint128,uint256,bytes)")
_MULTICALL = selector("multicall(bytes[])")
_CHANNELS = selector("channels(bytes32)")
_WITHDRAWALS = selector("pendingWithdrawals(bytes32)")
_REFUND_NONCE = selector("refundNonce(bytes32)")
_RECEIVERS = selector("receivers(address,address)")


@dataclass(frozen=True, slots=True)
class Row:
    """One channel of a claim.

    Attributes:
        max_claimable, signature: of the payer's voucher.
        claimed: what is claimed in all, in atomic units.
    """

    config: ChannelConfig
    max_claimable: int
    signature: bytes
    claimed: int


def deposit(authorization: Deposit) -> bytes:
    """The call that moves a deposit into its channel."""
    data = (
        uint(authorization.valid_after)
        + uint(authorization.valid_before)
        + authorization.salt
        + uint(4 * 32)
        + dynamic(authorization.signature)
    )
    head = config_words(authorization.voucher.config) + uint(authorization.value) + address_word(COLLECTOR)
    return _DEPOSIT + head + uint(10 * 32) + dynamic(data)


def claim(rows: Sequence[Row], authorizer_signature: bytes) -> bytes:
    """The call that claims, for the authorizer of all rows."""
    content = _array([_row(row) for row in rows])
    return _CLAIM + uint(2 * 32) + uint(2 * 32 + len(content)) + content + dynamic(authorizer_signature)


def settle(receiver: str, token: str) -> bytes:
    """The call that pays out what was claimed for a receiver."""
    return _SETTLE + address_word(receiver) + address_word(token)


def refund(config: ChannelConfig, amount: int, nonce: int, authorizer_signature: bytes) -> bytes:
    """The call that pays a channel's rest back to its payer."""
    return _REFUND + config_words(config) + uint(amount) + uint(nonce) + uint(10 * 32) + dynamic(authorizer_signature)


def multicall(calls: Sequence[bytes]) -> bytes:
    """The call that makes several others, all or none."""
    return _MULTICALL + uint(32) + _array([dynamic(call) for call in calls])


def channel_views(channel_id: bytes) -> tuple[bytes, bytes, bytes]:
    """Ask for balance and total claimed; for amount and time of an announced withdrawal; and for the refund nonce."""
    return _CHANNELS + channel_id, _WITHDRAWALS + channel_id, _REFUND_NONCE + channel_id


def receiver_view(receiver: str, token: str) -> bytes:
    """Ask for what was claimed for a receiver, and what of it was paid out."""
    return _RECEIVERS + address_word(receiver) + address_word(token)


def numbers(answer: bytes, count: int) -> list[int]:
    """The numbers of an answer. Raises ValueError when it is no such answer."""
    if len(answer) != 32 * count:
        raise ValueError(f"an answer of {len(answer)} bytes, not {32 * count}")
    return [int.from_bytes(answer[at : at + 32]) for at in range(0, len(answer), 32)]


def _row(row: Row) -> bytes:
    return (
        config_words(row.config) + uint(row.max_claimable) + uint(10 * 32) + uint(row.claimed) + dynamic(row.signature)
    )


def _array(items: Sequence[bytes]) -> bytes:
    """An array of items of dynamic length."""
    offsets, offset = [], len(items) * 32
    for item in items:
        offsets.append(uint(offset))
        offset += len(item)
    return uint(len(items)) + b"".join((*offsets, *items))
