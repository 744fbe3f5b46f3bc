"""The verifier of EVM networks: scheme `exact` with EIP-3009 TransferWithAuthorization on a USDC contract.

`check` takes under 0.1 ms, with coincurve's recovery and a cached EIP-712 domain separator. Only the contract knows balances
and used nonces.

Sources: x402-foundation specs/schemes/exact/scheme_exact_evm.md, EIP-712, EIP-3009, EIP-2 (low s), Circle's FiatTokenV2.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from coincurve import PublicKey
from Crypto.Hash import keccak

from shared.money import Price
from shared.x402 import authorization
from shared.x402.curves import SECP256K1_N
from shared.x402.erc6492 import SUFFIX, deployment_of
from shared.x402.exact import MAX_TIMEOUT_SECONDS, exact_offer, has_terms, unchanged
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer

TERMS: tuple[str, ...] = ()
TOKEN_KEY = TOKEN_REASON = ""
"""An EIP-3009 authorization has no room for a token of the server's."""
MORE_SETTLE_S = 0.0
completed = unchanged
SETTLE_MARGIN_S = 6
"""Seconds for which an authorization must stay valid after the check, as in the official verifier."""
VALID_BEFORE = "invalid_exact_evm_payload_authorization_valid_before"
LATEST_EXPIRY_S = MAX_TIMEOUT_SECONDS + 300
"""An authorization that is valid for longer is refused. This bounds how long a used payment can be presented again."""

_UINT = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})+", re.ASCII)
_MAX_SIGNATURE_CHARS = 2 + 2 * 4096


def keccak256(data: bytes) -> bytes:
    """Ethereum's hash: Keccak-256 before NIST's padding."""
    return keccak.new(digest_bits=256, data=data).digest()


def selector(signature: str) -> bytes:
    """The four bytes that name a contract's function, by a signature like ``transfer(address,uint256)``."""
    return keccak256(signature.encode())[:4]


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
        signature: an account's has v of 27 or 28. That of a wallet that is not deployed yet is wrapped (erc6492.py).
        signature_checked: False for a contract wallet's signature, which only the chain can check (ERC-1271).
    """

    value: int
    valid_after: int
    valid_before: int
    nonce: bytes

    def window_refusal(self, now: int, ledger: authorization.KnownLedger | None = None) -> str | None:
        """Judged by the clock."""
        if self.valid_after >= now:
            return "invalid_exact_evm_payload_authorization_valid_after"
        if not now + SETTLE_MARGIN_S <= self.valid_before <= now + LATEST_EXPIRY_S:
            return VALID_BEFORE
        return None

    def expires(self, now: int) -> int:
        """The end that the payer signed."""
        return self.valid_before

    def last_claim(self) -> authorization.LastClaim:
        """`window_refusal` takes whole seconds, so it lets a payment pass for one second more."""
        return authorization.LastClaim(self.valid_before - SETTLE_MARGIN_S, VALID_BEFORE)


def offers(token: EvmToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs in this token. Raises ExcessPrecision when the token cannot express the price."""
    amount = str(price.atomic(token.decimals))
    return (exact_offer(token.network, token.address, amount, pay_to, name=token.name, version=token.version),)


def matches(offer: Offer, accepted: Offer) -> bool:
    """Whether the client accepted this very offer. Addresses may be in any case."""
    return has_terms(offer, accepted) and (accepted.amount, accepted.asset.lower(), accepted.pay_to.lower()) == (
        offer.amount,
        offer.asset.lower(),
        offer.pay_to.lower(),
    )


def is_payable(offer: Offer) -> bool:
    """Whether amount and recipient have the form that `check` relies on."""
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


def check(offer: Offer, payload: dict[str, Any], factories: Collection[str] = ()) -> EvmAuthorization:
    """Decide whether `payload` pays `offer`: form, recipient, amount and signature, but not the time window.

    Args:
        offer: our own offer, never the client's copy of it.
        payload: the `payload` member of the payment: ``{"signature": "0x…", "authorization": {…}}``, all strings.
        factories: contracts, in lower case, that may be called to deploy the wallet that pays (ERC-6492).

    Raises:
        PaymentRefused: it does not, with the specification's reason.
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
        if signer_of(digest, signature) != payer:
            raise PaymentRefused("invalid_exact_evm_payload_signature")
        signature = canonical(signature)
    else:
        _check_factory(signature, factories)
    return EvmAuthorization(
        payment_id=f"{offer.network}:{offer.asset.lower()}:{payer}:{fields.nonce.lower()}",
        network=offer.network,
        asset=offer.asset,
        payer=payer,
        pay_to=offer.pay_to,
        amount=offer.amount,
        value=value,
        valid_after=valid_after,
        valid_before=valid_before,
        nonce=nonce,
        signature=signature,
        signature_checked=is_ecdsa,
    )


def _check_factory(signature: bytes, factories: Collection[str]) -> None:
    """Refuse a wallet that is to be deployed by a contract of the client's choice, at the settler's cost.

    Raises:
        PaymentRefused: it is.
    """
    if signature.endswith(SUFFIX) and not factories:
        raise PaymentRefused("invalid_exact_evm_payload_undeployed_smart_wallet")
    try:
        deployment = deployment_of(signature)
    except ValueError:
        raise PaymentRefused("invalid_payload") from None
    if deployment is not None and deployment.factory not in factories:
        raise PaymentRefused("eip6492_factory_not_allowed")


@lru_cache(maxsize=16)
def domain_separator(name: str, version: str, chain_id: int, contract: str) -> bytes:
    """EIP-712 domain separator of a contract. Base USDC's is 0x02fa7265…c7834f."""
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
    return hash_typed(
        token_separator(offer),
        TRANSFER_TYPEHASH
        + _word(payer)
        + _word(to)
        + value.to_bytes(32, "big")
        + valid_after.to_bytes(32, "big")
        + valid_before.to_bytes(32, "big")
        + nonce,
    )


def token_separator(offer: Offer) -> bytes:
    """EIP-712 domain separator of an offer's token."""
    chain_id = int(offer.network.partition(":")[2])
    return domain_separator(offer.extra["name"], offer.extra["version"], chain_id, offer.asset)


def hash_typed(separator: bytes, content: bytes) -> bytes:
    """The EIP-712 hash of a struct, given as its type hash and its encoded fields."""
    return keccak256(b"\x19\x01" + separator + keccak256(content))


def authorization_digest(offer: Offer, checked: EvmAuthorization) -> bytes:
    """The 32 bytes that the payer of a checked payment signed."""
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


@lru_cache(maxsize=4096)
def checksummed(address: str) -> str:
    """With EIP-55's checksum: a letter is upper case where the hash of the lower-case text has a digit of 8 or more."""
    digits = address[2:].lower()
    nibbles = keccak256(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if int(nibble, 16) >= 8 else digit for digit, nibble in zip(digits, nibbles[:40], strict=True)
    )


def _uint256(text: str) -> int:
    """Strict decimal: int() alone takes signs, spaces, underscores, leading zeros and digits of other scripts."""
    if not _UINT.fullmatch(text) or (number := int(text)) >= 1 << 256:
        raise PaymentRefused("invalid_payload")
    return number


def _word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def signer_of(digest: bytes, signature: bytes) -> str | None:
    """The account that signed, or None. A high s is refused, and v outside {0, 1, 27, 28}, as the token does it."""
    v = signature[64]
    recovery_id = v - 27 if v >= 27 else v
    if recovery_id not in (0, 1) or int.from_bytes(signature[32:64], "big") > SECP256K1_N // 2:
        return None
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([recovery_id]), digest, hasher=None)
    except Exception:
        # coincurve raises a bare Exception for values that recover to no point.
        return None
    return address_of(key)


def canonical(signature: bytes) -> bytes:
    """A signature with v of 27 or 28, as contracts take it: v of 0 and of 27 mean the same. One form, because keys are derived
    from it."""
    return signature[:64] + bytes([signature[64] % 27 + 27])


RlpItem = bytes | int | Sequence["RlpItem"]


def rlp(item: RlpItem) -> bytes:
    """Ethereum's serialization (yellow paper, appendix B)."""
    if isinstance(item, int):
        item = item.to_bytes((item.bit_length() + 7) // 8, "big")
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < 0x80 else _rlp_head(0x80, len(item)) + item
    content = b"".join(map(rlp, item))
    return _rlp_head(0xC0, len(content)) + content


def _rlp_head(offset: int, length: int) -> bytes:
    if length <= 55:
        return bytes([offset + length])
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([offset + 55 + len(size)]) + size
