"""ABI encoding of the calls and events of a settlement (EIP-3009, ERC-20, ERC-1271, Multicall3), without a contract object."""

from __future__ import annotations

from collections.abc import Sequence

from shared.x402.evm import EvmAuthorization, keccak256

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
    signature = authorization.signature
    if authorization.signature_checked:
        v = signature[64]
        return _SETTLE_VRS + head + uint(v if v >= 27 else v + 27) + signature[:64]
    return _SETTLE_BYTES + head + uint(7 * 32) + dynamic(signature)


def aggregate3(target: str, calls: Sequence[bytes]) -> bytes:
    """Multicall3's call that makes these calls of one contract, each of which may fail without the others."""
    tuples = [address_word(target) + uint(True) + uint(3 * 32) + dynamic(call) for call in calls]
    offsets, offset = [], len(calls) * 32
    for one in tuples:
        offsets.append(uint(offset))
        offset += len(one)
    return _AGGREGATE3 + uint(32) + uint(len(calls)) + b"".join((*offsets, *tuples))


def aggregated(asset: str, authorizations: Sequence[EvmAuthorization]) -> tuple[str, bytes]:
    """The contract and the call that settle several payments."""
    return MULTICALL3, aggregate3(asset, [transfer_with_authorization(one) for one in authorizations])


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
