"""The XRP Ledger's hashes, addresses and signatures, offline.

Sources: xrpl.org, "Cryptographic Keys", "Addresses" and "base58 Encodings"; rippled's rule of fully canonical signatures.
"""

import hashlib
from functools import lru_cache

from coincurve import PublicKey
from Crypto.Hash import RIPEMD160

from shared.x402.base58 import Base58
from shared.x402.curves import SECP256K1_N, is_ed25519_signature

_BASE58 = Base58("rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz")
_CHECKSUM_BYTES = 4

ACCOUNT_ID_BYTES = 20
ED25519_PREFIX = 0xED
PUBLIC_KEY_BYTES = 33
"""The length of both kinds of key: compressed secp256k1, or 0xED and an ed25519 key."""


def sha512_half(data: bytes) -> bytes:
    """The ledger's hash: the first half of SHA-512."""
    return hashlib.sha512(data).digest()[:32]


def address_of(public_key: bytes) -> str:
    """The classic address of a key pair."""
    return address(RIPEMD160.new(hashlib.sha256(public_key).digest()).digest())


def address(account_id: bytes) -> str:
    """The classic address of an account id. Its version byte is zero, so it starts with ``r``."""
    payload = b"\0" + account_id
    return _BASE58.encode(payload + _checksum(payload))


@lru_cache(maxsize=256)
def account_id(text: str) -> bytes:
    """The 20 bytes of a classic address. Raises ValueError for any other text, also for an X-address."""
    return base58_payload(text, 1 + ACCOUNT_ID_BYTES)[1:]


def base58_payload(text: str, length: int) -> bytes:
    """So many bytes out of a text in the ledger's base58, whose checksum must be right. Raises ValueError."""
    decoded = _BASE58.decode(text, length + _CHECKSUM_BYTES)
    payload = decoded[:length]
    if _checksum(payload) != decoded[length:]:
        raise ValueError("the checksum is wrong")
    return payload


def is_address(text: object) -> bool:
    """Whether it is a classic address."""
    if not isinstance(text, str):
        return False
    try:
        account_id(text)
    except ValueError:
        return False
    return True


def is_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether it is the key's signature of the message, in the only form that the network takes."""
    if len(public_key) != PUBLIC_KEY_BYTES:
        return False
    if public_key[0] == ED25519_PREFIX:
        return is_ed25519_signature(public_key[1:], signature, message)
    if public_key[0] not in (2, 3) or not _is_fully_canonical(signature):
        return False
    try:
        return bool(PublicKey(public_key).verify(signature, sha512_half(message), hasher=None))
    except Exception:  # coincurve raises a bare one for what it cannot parse
        return False


def _is_fully_canonical(signature: bytes) -> bool:
    """Whether it is strict DER, r and s are in the group, and s is in its lower half. Other signatures have several forms."""
    if not 8 <= len(signature) <= 72 or signature[0] != 0x30 or signature[1] != len(signature) - 2:
        return False
    r_length = signature[3]
    if 4 + r_length + 2 > len(signature):
        return False
    s_length = signature[5 + r_length]
    if 6 + r_length + s_length != len(signature):
        return False
    r = _integer(signature[2], signature[4 : 4 + r_length])
    s = _integer(signature[4 + r_length], signature[6 + r_length :])
    return 0 < r < SECP256K1_N and 0 < s <= SECP256K1_N // 2


def _integer(tag: int, content: bytes) -> int:
    """A positive DER integer in its shortest form, else 0."""
    if tag != 2 or not content or content[0] & 0x80 or (content[0] == 0 and len(content) > 1 and content[1] < 0x80):
        return 0
    return int.from_bytes(content, "big")


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:_CHECKSUM_BYTES]
