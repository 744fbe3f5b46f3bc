"""ABI encoding of the calls and events of settlements (EIP-3009, ERC-20, ERC-1271, Multicall3) and of the channels' contract,
and of what these answer, without a contract object."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.x402.erc6492 import Deployment, deployment_of
from shared.x402.evm import EvmAuthorization, keccak256, selector
from shared.x402.evm_channel import Deposit
from shared.x402.evm_channel_ids import COLLECTOR, CONFIG_ABI, CONTRACT, ChannelConfig, config_words

AUTHORIZATION_USED = keccak256(b"AuthorizationUsed(address,bytes32)")
AUTHORIZATION_CANCELED = keccak256(b"AuthorizationCanceled(address,bytes32)")
TRANSFER = keccak256(b"Transfer(address,address,uint256)")

MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
"""Its address on every chain that has it."""
MULTICALL3_HASH = bytes.fromhex("d5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891")
"""Keccak-256 of its code."""

_SETTLE_VRS = bytes.fromhex("e3ee160e")
_SETTLE_BYTES = bytes.fromhex("cf092995")
_AUTHORIZATION_STATE = bytes.fromhex("e94a0102")
_BALANCE_OF = bytes.fromhex("70a08231")
_IS_VALID_SIGNATURE = bytes.fromhex("1626ba7e")
_L1_FEE_UPPER_BOUND = bytes.fromhex("f1c7a58b")
_AGGREGATE3 = bytes.fromhex("82ad56cb")

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


def transfer_with_authorization(authorization: EvmAuthorization) -> bytes:
    """The call that settles a payment: with (v, r, s) for an account's signature, with bytes for a contract wallet's."""
    head = (
        address_word(authorization.payer)
        + address_word(authorization.pay_to)
        + uint(authorization.value)
        + uint(authorization.valid_after)
        + uint(authorization.valid_before)
        + authorization.nonce
    )
    deployment = deployment_of(authorization.signature)
    signature = deployment.signature if deployment else authorization.signature
    if authorization.signature_checked:
        v = signature[64]
        return _SETTLE_VRS + head + uint(v if v >= 27 else v + 27) + signature[:64]
    return _SETTLE_BYTES + head + uint(7 * 32) + dynamic(signature)


class Part(NamedTuple):
    """One call of several that are made together."""

    target: str
    data: bytes
    may_fail: bool = True


def aggregate3(parts: Sequence[Part]) -> bytes:
    """Multicall3's call that makes these calls. One that fails and may not makes all fail."""
    tuples = [address_word(one.target) + uint(one.may_fail) + uint(3 * 32) + dynamic(one.data) for one in parts]
    offsets, offset = [], len(parts) * 32
    for one in tuples:
        offsets.append(uint(offset))
        offset += len(one)
    return _AGGREGATE3 + uint(32) + uint(len(parts)) + b"".join((*offsets, *tuples))


def aggregated_results(content: bytes) -> list[tuple[bool, bytes]]:
    """What Multicall3 returns: of each call whether it succeeded, and what it returned."""
    words = [int.from_bytes(content[at : at + 32]) for at in range(0, len(content), 32)]
    if len(words) < 2:
        return []
    results = []
    for offset in words[2 : 2 + words[1]]:
        at = 64 + offset
        length = words[at // 32 + 2]
        results.append((bool(words[at // 32]), content[at + 96 : at + 96 + length]))
    return results


def aggregated(asset: str, authorizations: Sequence[EvmAuthorization]) -> tuple[str, bytes]:
    """The contract and the call that settle several payments."""
    return MULTICALL3, aggregate3([Part(asset, transfer_with_authorization(one)) for one in authorizations])


def deploying(asset: str, authorization: EvmAuthorization, deployment: Deployment) -> tuple[str, bytes]:
    """The contract and the call that deploy a wallet and settle its payment. If somebody deploys it before and the factory then
    fails without taking all gas, it pays all the same."""
    parts = [
        Part(deployment.factory, deployment.data),
        Part(asset, transfer_with_authorization(authorization), may_fail=False),
    ]
    return MULTICALL3, aggregate3(parts)


def deploying_trial(
    asset: str, authorization: EvmAuthorization, deployment: Deployment, digest: bytes
) -> tuple[str, bytes]:
    """The same for a trial that says which part fails, with the wallet's own check of its signature between the two."""
    parts = [
        Part(deployment.factory, deployment.data),
        Part(authorization.payer, is_valid_signature(digest, deployment.signature)),
        Part(asset, transfer_with_authorization(authorization)),
    ]
    return MULTICALL3, aggregate3(parts)


def authorization_state(payer: str, nonce: bytes) -> bytes:
    """Asks the token whether a nonce is used."""
    return _AUTHORIZATION_STATE + address_word(payer) + nonce


def balance_of(account: str) -> bytes:
    """Asks the token how many atomic units an account holds."""
    return _BALANCE_OF + address_word(account)


def is_valid_signature(digest: bytes, signature: bytes) -> bytes:
    """Asks a contract wallet whether a signature is its own (ERC-1271)."""
    return _IS_VALID_SIGNATURE + digest + uint(2 * 32) + dynamic(signature)


def l1_fee_upper_bound(size: int) -> bytes:
    """Asks an OP Stack chain's oracle for the most that the data of a transaction of so many bytes costs on L1, in wei."""
    return _L1_FEE_UPPER_BOUND + uint(size)


def uint(number: int) -> bytes:
    """A number as a word."""
    return number.to_bytes(32, "big")


def address_word(address: str) -> bytes:
    """An address as a word."""
    return bytes(12) + bytes.fromhex(address[2:])


def dynamic(data: bytes) -> bytes:
    """Bytes of any length: their number, and they themselves in whole words."""
    return uint(len(data)) + data + bytes(-len(data) % 32)


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


def settling_call(asset: str, authorizations: Sequence[EvmAuthorization]) -> tuple[str, bytes]:
    """The contract and the data. A deposit is settled by itself, and so is what a wallet pays that is to be deployed.

    Args:
        asset: the token's address.
    """
    if len(authorizations) > 1:
        return aggregated(asset, authorizations)
    (payment,) = authorizations
    if isinstance(payment, Deposit):
        return CONTRACT, deposit(payment)
    if deployment := deployment_of(payment.signature):
        return deploying(asset, payment, deployment)
    return asset, transfer_with_authorization(payment)
