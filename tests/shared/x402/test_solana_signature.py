"""Signatures that other libraries take and Solana's nodes do not."""

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature

from shared.x402.solana import SMALL_ORDER, is_signed_by
from tests.each import each

L = 2**252 + 27742317777372353535851937790883648493
KEY, MESSAGE = Keypair.from_seed(bytes(range(32))), b"a message"
BASE_POINT = bytes([0x58]) + bytes([0x66]) * 31
NEUTRAL = (1).to_bytes(32, "little")


def test_a_signature_of_the_key_is_one() -> None:
    """Of that message alone."""
    key, signature = bytes(KEY.pubkey()), bytes(KEY.sign_message(MESSAGE))
    assert is_signed_by(key, signature, MESSAGE)
    assert not is_signed_by(key, signature, MESSAGE + b"!")
    assert not is_signed_by(bytes(Keypair().pubkey()), signature, MESSAGE)


def with_r_of_small_order() -> bytes:
    """By the key's owner: R neutral, and s the hash times the secret number."""
    digest = bytearray(hashlib.sha512(KEY.secret()).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    secret = int.from_bytes(digest, "little")
    h = int.from_bytes(hashlib.sha512(NEUTRAL + bytes(KEY.pubkey()) + MESSAGE).digest(), "little")
    return NEUTRAL + (h * secret % L).to_bytes(32, "little")


@pytest.mark.parametrize(
    ("key", "signature"),
    [(NEUTRAL, BASE_POINT + NEUTRAL), (bytes(KEY.pubkey()), with_r_of_small_order())],
    ids=["a key of small order", "an R of small order"],
)
def test_small_orders_sign_nothing(key: bytes, signature: bytes) -> None:
    """OpenSSL takes both. The first one is a signature of every message."""
    Ed25519PublicKey.from_public_bytes(key).verify(signature, MESSAGE)
    assert not Signature(signature).verify(Pubkey(key), MESSAGE)
    assert not is_signed_by(key, signature, MESSAGE)


@each("y", sorted(SMALL_ORDER))
@each("sign", [0, 1 << 255])
def test_no_spelling_of_a_small_order_signs(y: int, sign: int) -> None:
    """Nor does solders take one."""
    key = (y | sign).to_bytes(32, "little")
    signature = BASE_POINT + NEUTRAL
    for message in range(20):
        assert not is_signed_by(key, signature, bytes([message]))
        assert not Signature(signature).verify(Pubkey(key), bytes([message]))


@pytest.mark.parametrize("add", [L, 2 * L, 3 * L])
def test_s_has_one_spelling(add: int) -> None:
    """Below the group's order."""
    signature = bytes(KEY.sign_message(MESSAGE))
    longer = signature[:32] + (int.from_bytes(signature[32:], "little") + add).to_bytes(32, "little")
    assert not is_signed_by(bytes(KEY.pubkey()), longer, MESSAGE)


def test_whatever_the_key_is() -> None:
    """No point at all, or not 32 bytes."""
    signature = bytes(KEY.sign_message(MESSAGE))
    for key in (b"\2" + bytes(31), b"\xff" * 32, b"", bytes(31)):
        assert not is_signed_by(key, signature, MESSAGE)
