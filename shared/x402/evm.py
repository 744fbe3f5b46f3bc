"""The EVM rail, offline: scheme `exact` with EIP-3009 TransferWithAuthorization on a USDC contract.

`offers()` says what may be paid, `check()` decides statically whether a payment is what was offered, in under 0.1 ms
(coincurve recovery and a cached EIP-712 domain separator). Only the contract itself knows balances and used nonces.

Sources: x402-foundation specs/schemes/exact/scheme_exact_evm.md, EIP-712, EIP-3009, EIP-2 (low s), Circle's FiatTokenV2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from coincurve import PublicKey
from Crypto.Hash import keccak

from shared.money import Price
from shared.x402 import authorization
from shared.x402.networks import EVM_USDC, EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer

SCHEME = "exact"
MAX_TIMEOUT_SECONDS = 60
"""Offered lifetime of an authorization."""
SETTLE_MARGIN_S = 6
"""An authorization must outlive the check by this much, as the official verifier asks."""
LATEST_EXPIRY_S = MAX_TIMEOUT_SECONDS + 300
"""An authorization valid for longer is refused: it bounds how long a used payment can be presented again."""

_SECP256K1_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_UINT = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})+", re.ASCII)
_MAX_SIGNATURE_CHARS = 2 + 2 * 4096

# A wallet that is a contract wraps its signature; ERC-6492 marks one that is not deployed yet with this suffix.
_ERC6492_SUFFIX = "6492" * 16


def keccak256(data: bytes) -> bytes:
    """Ethereum's hash: Keccak-256 before NIST's padding."""
    return keccak.new(digest_bits=256, data=data).digest()


_DOMAIN_TYPEHASH = keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
TRANSFER_TYPEHASH = keccak256(
    b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvmAuthorization(authorization.Authorization):
    """A payment that passed the static check.

    Attributes:
        payment_id: ``eip155:8453:<asset>:<from>:<nonce>`` in lower case.
        payer: `from`, in lower case. Lower case is canonical for EVM only.
        value: atomic units.
        valid_after, valid_before: Unix seconds, both exclusive on the chain.
        signature: with v of 27 or 28, where it is an account's.
        signature_checked: False for a contract wallet's signature, which only the chain can check (ERC-1271).
    """

    value: int
    valid_after: int
    valid_before: int
    nonce: bytes

    def window_refusal(self, now: int, ledger: int | None = None) -> str | None:
        """By the clock alone."""
        if self.valid_after >= now:
            return "invalid_exact_evm_payload_authorization_valid_after"
        if not now + SETTLE_MARGIN_S <= self.valid_before <= now + LATEST_EXPIRY_S:
            return "invalid_exact_evm_payload_authorization_valid_before"
        return None

    def expires(self, now: int) -> int:
        """As its payer has signed it."""
        return self.valid_before


def offers(token: EvmToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs on this rail. Raises ExcessPrecision when the token cannot express the price."""
    return (
        Offer(
            scheme=SCHEME,
            network=token.network,
            amount=str(price.atomic(token.decimals)),
            asset=token.address,
            pay_to=pay_to,
            max_timeout_seconds=MAX_TIMEOUT_SECONDS,
            extra={"name": token.name, "version": token.version, "paymentFlow": "upfront"},
        ),
    )


def matches(offer: Offer, accepted: Offer) -> bool:
    """Whether the client accepted this very offer. Clients may add keys to `extra`, and write addresses in any case."""
    return (
        accepted.scheme == offer.scheme
        and accepted.network == offer.network
        and accepted.amount == offer.amount
        and accepted.asset.lower() == offer.asset.lower()
        and accepted.pay_to.lower() == offer.pay_to.lower()
        and accepted.max_timeout_seconds == offer.max_timeout_seconds
        and all(accepted.extra.get(key) == value for key, value in offer.extra.items())
    )


def is_payable(offer: Offer) -> bool:
    """Whether amount and recipient have the form that `check` relies on. Ours do; a facilitator is handed anybody's."""
    return bool(_UINT.fullmatch(offer.amount) and _ADDRESS.fullmatch(offer.pay_to))


class _Authorization(
    msgspec.Struct, frozen=True, rename={"from_": "from", "valid_after": "validAfter", "valid_before": "validBefore"}
):
    from_: str
    to: str
    value: str
    valid_after: str
    valid_before: str
    nonce: str


class _Payload(msgspec.Struct, frozen=True):
    signature: str
    authorization: _Authorization


def check(offer: Offer, payload: dict[str, Any]) -> EvmAuthorization:
    """Decide offline whether `payload` pays `offer`: shape, recipient, amount and signature, but not the time window.

    Args:
        offer: our own offer, never the client's copy of it.
        payload: the `payload` member of the payment: ``{"signature": "0x…", "authorization": {…}}``, all strings.

    Raises:
        Refused: with the specification's reason.
    """
    try:
        decoded = msgspec.convert(payload, _Payload)
    except msgspec.ValidationError:
        raise PaymentRefused("invalid_payload") from None
    fields = decoded.authorization
    if not (
        _ADDRESS.fullmatch(fields.from_)
        and _ADDRESS.fullmatch(fields.to)
        and _NONCE.fullmatch(fields.nonce)
        and len(decoded.signature) <= _MAX_SIGNATURE_CHARS
        and _HEX.fullmatch(decoded.signature)
    ):
        raise PaymentRefused("invalid_payload")
    value, valid_after, valid_before = (
        _uint256(text) for text in (fields.value, fields.valid_after, fields.valid_before)
    )
    if fields.to.lower() != offer.pay_to.lower():
        raise PaymentRefused("invalid_exact_evm_payload_recipient_mismatch")
    if value != int(offer.amount):
        raise PaymentRefused("invalid_exact_evm_payload_authorization_value_mismatch")

    payer, nonce = fields.from_.lower(), bytes.fromhex(fields.nonce[2:])
    signature = bytes.fromhex(decoded.signature[2:])
    is_ecdsa = len(signature) == 65
    if is_ecdsa:
        digest = transfer_digest(offer, payer, fields.to, value, valid_after, valid_before, nonce)
        if _signer(digest, signature) != payer:
            raise PaymentRefused("invalid_exact_evm_payload_signature")
        # One form: v of 0 and 27 mean the same, and what is derived from a signature must be the same, too.
        signature = signature[:64] + bytes([signature[64] % 27 + 27])
    elif decoded.signature.endswith(_ERC6492_SUFFIX):
        # Settling it would call a factory of the client's choice with the settler's money.
        raise PaymentRefused("invalid_exact_evm_payload_undeployed_smart_wallet")
    return EvmAuthorization(
        payment_id=f"{offer.network}:{offer.asset.lower()}:{payer}:{fields.nonce.lower()}",
        network=offer.network,
        asset=offer.asset,
        payer=payer,
        pay_to=offer.pay_to,
        value=value,
        valid_after=valid_after,
        valid_before=valid_before,
        nonce=nonce,
        signature=signature,
        signature_checked=is_ecdsa,
    )


@lru_cache(maxsize=16)
def domain_separator(name: str, version: str, chain_id: int, contract: str) -> bytes:
    """EIP-712 domain separator of a token. Base USDC's is 0x02fa7265…c7834f."""
    return keccak256(
        _DOMAIN_TYPEHASH
        + keccak256(name.encode())
        + keccak256(version.encode())
        + chain_id.to_bytes(32, "big")
        + _word(contract)
    )


def transfer_digest(
    offer: Offer, payer: str, to: str, value: int, valid_after: int, valid_before: int, nonce: bytes
) -> bytes:
    """The 32 bytes that a payer signs to pay `offer`."""
    chain_id = int(offer.network.partition(":")[2])
    separator = domain_separator(offer.extra["name"], offer.extra["version"], chain_id, offer.asset)
    struct_hash = keccak256(
        TRANSFER_TYPEHASH
        + _word(payer)
        + _word(to)
        + value.to_bytes(32, "big")
        + valid_after.to_bytes(32, "big")
        + valid_before.to_bytes(32, "big")
        + nonce
    )
    return keccak256(b"\x19\x01" + separator + struct_hash)


def authorization_digest(offer: Offer, checked: EvmAuthorization) -> bytes:
    """The same 32 bytes, of a payment that was checked."""
    return transfer_digest(
        offer,
        checked.payer,
        checked.pay_to,
        checked.value,
        checked.valid_after,
        checked.valid_before,
        checked.nonce,
    )


def address_of(public_key: PublicKey) -> str:
    """The account of a secp256k1 key, in lower case."""
    return "0x" + keccak256(public_key.format(compressed=False)[1:])[12:].hex()


def token_on(network: str) -> EvmToken:
    """The USDC contract of a network. Raises KeyError when there is none that we know."""
    return EVM_USDC[network]


def _uint256(text: str) -> int:
    """Strict decimal: int() alone takes signs, spaces, underscores, leading zeros and digits of other scripts."""
    if not _UINT.fullmatch(text) or (number := int(text)) >= 1 << 256:
        raise PaymentRefused("invalid_payload")
    return number


def _word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def _signer(digest: bytes, signature: bytes) -> str | None:
    """The account that signed, or None. Refuses high s and v outside {27, 28} (0 and 1 mean the same), as the token does."""
    v = signature[64]
    recovery_id = v - 27 if v >= 27 else v
    if recovery_id not in (0, 1) or int.from_bytes(signature[32:64], "big") > _SECP256K1_N // 2:
        return None
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([recovery_id]), digest, hasher=None)
    except Exception:
        # coincurve raises a bare Exception for values that recover to no point.
        return None
    return address_of(key)
