"""What channels are called and what is signed for them: ids and digests, by EIP-712.

Sources: x402-foundation specs/schemes/batch-settlement/scheme_batch_settlement_evm.md (commit 1889fdd5), EIP-712, EIP-3009.
"""

import re
from functools import lru_cache

import msgspec

from shared.x402.evm import domain_separator, hash_typed, keccak256, token_separator
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer

CONTRACT = "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003"
"""Holds all channels: the same address on every chain."""
COLLECTOR = "0x4020806089470a89826cB9fB1f4059150b550004"
"""Takes deposits that are signed as EIP-3009 authorizations, for that contract."""
MOST_TOPICS = 200
"""Channels that one search for events names: the contract is everybody's, and its other events are not read."""
MOST_BLOCKS = 2_000
"""Blocks of one search. Many nodes allow no more."""
FINAL_BLOCKS = 900
"""A block with so many on top counts as final where the node knows no `finalized`: half an hour on Base."""
MIN_DELAY_S, MAX_DELAY_S = 900, 2_592_000
"""Bounds of the contract for `withdrawDelay`."""
CONFIG_ABI = "(address,address,address,address,address,uint40,bytes32)"
"""Type of a configuration in the signatures of the contract's functions."""
CLAIM_ROW_GAS = 25_000
"""Of one channel in a claim: 24,100 were measured on the contract's code."""
PREFIX = "invalid_batch_settlement_evm_"
"""Of the reasons that belong to this scheme."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_WORD = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)

_CONFIG_TYPEHASH = keccak256(
    b"ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,"
    b"address token,uint40 withdrawDelay,bytes32 salt)"
)
_VOUCHER_TYPEHASH = keccak256(b"Voucher(bytes32 channelId,uint128 maxClaimableAmount)")
_REFUND_TYPEHASH = keccak256(b"Refund(bytes32 channelId,uint256 nonce,uint128 amount)")
_ENTRY_TYPE = b"ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
_ENTRY_TYPEHASH = keccak256(_ENTRY_TYPE)
_BATCH_TYPEHASH = keccak256(b"ClaimBatch(ClaimEntry[] claims)" + _ENTRY_TYPE)
_RECEIVE_TYPEHASH = keccak256(
    b"ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)


class ChannelConfig(msgspec.Struct, frozen=True, rename="camel"):
    """What a channel's id is made of. Addresses may be in any case.

    Args:
        payer: who deposits, and who gets back what is left.
        payer_authorizer: whose signature vouchers have.
        receiver: who gets what is claimed.
        receiver_authorizer: whose signature claims and refunds have.
        token: the token's address.
        withdraw_delay: seconds between the payer's announcement of a withdrawal and its end.
        salt: any 32 bytes, in hex.
    """

    payer: str
    payer_authorizer: str
    receiver: str
    receiver_authorizer: str
    token: str
    withdraw_delay: int
    salt: str


@lru_cache(maxsize=65_536)
def channel_id(chain_id: int, config: ChannelConfig) -> bytes:
    """The EIP-712 hash of a configuration. It is kept, because each call of a channel brings the same one.

    Raises:
        PaymentRefused: a field has not its form.
    """
    if not (all(_ADDRESS.fullmatch(address) for address in _addresses(config)) and _WORD.fullmatch(config.salt)):
        raise _refused("voucher_payload")
    if not MIN_DELAY_S <= config.withdraw_delay <= MAX_DELAY_S:
        raise _refused("withdraw_delay_out_of_range")
    return _hash(chain_id, _CONFIG_TYPEHASH + config_words(config))


def config_words(config: ChannelConfig) -> bytes:
    """The seven words of a configuration, as they are hashed, and as the contract takes them."""
    words = b"".join(bytes(12) + bytes.fromhex(address[2:]) for address in _addresses(config))
    return words + config.withdraw_delay.to_bytes(32, "big") + bytes.fromhex(config.salt[2:])


def voucher_digest(chain_id: int, channel: bytes, max_claimable: int) -> bytes:
    """The 32 bytes that `payerAuthorizer` signs."""
    return _hash(chain_id, _VOUCHER_TYPEHASH + channel + max_claimable.to_bytes(32, "big"))


def refund_digest(chain_id: int, channel: bytes, nonce: int, amount: int) -> bytes:
    """The 32 bytes that `receiverAuthorizer` signs to give a channel's rest back.

    Args:
        nonce: the channel's `refundNonce` in the contract.
    """
    return _hash(chain_id, _REFUND_TYPEHASH + channel + nonce.to_bytes(32, "big") + amount.to_bytes(32, "big"))


def claim_digest(chain_id: int, rows: list[tuple[bytes, int, int]]) -> bytes:
    """The 32 bytes that `receiverAuthorizer` signs to claim.

    Args:
        rows: channel, what its voucher allows, and what is claimed of it in all.
    """
    entries = b"".join(
        keccak256(_ENTRY_TYPEHASH + channel + most.to_bytes(32, "big") + claimed.to_bytes(32, "big"))
        for channel, most, claimed in rows
    )
    return _hash(chain_id, _BATCH_TYPEHASH + keccak256(entries))


def deposit_nonce(channel: bytes, salt: bytes) -> bytes:
    """The EIP-3009 nonce of a deposit into a channel."""
    return keccak256(channel + salt)


def deposit_digest(offer: Offer, payer: str, amount: int, valid_after: int, valid_before: int, nonce: bytes) -> bytes:
    """The 32 bytes that a payer signs for a deposit, in the token's domain."""
    numbers = b"".join(number.to_bytes(32, "big") for number in (amount, valid_after, valid_before))
    words = b"".join(bytes(12) + bytes.fromhex(address[2:]) for address in (payer, COLLECTOR))
    return hash_typed(token_separator(offer), _RECEIVE_TYPEHASH + words + numbers + nonce)


def chain_id_of(network: str) -> int:
    """The number in a CAIP-2 name of an EVM network."""
    return int(network.partition(":")[2])


def _addresses(config: ChannelConfig) -> tuple[str, ...]:
    return (config.payer, config.payer_authorizer, config.receiver, config.receiver_authorizer, config.token)


def _hash(chain_id: int, content: bytes) -> bytes:
    return hash_typed(domain_separator("x402 Batch Settlement", "1", chain_id, CONTRACT), content)


def _refused(reason: str) -> PaymentRefused:
    return PaymentRefused(PREFIX + reason)
