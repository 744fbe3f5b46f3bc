"""Ed25519 as Solana's nodes check it: `verify_strict` of ed25519-dalek."""

from __future__ import annotations

from shared.x402.curves import is_ed25519_signature

_ORDER = 2**252 + 27742317777372353535851937790883648493
_Y = (1 << 255) - 1
_P = 2**255 - 19
# The y of every point of small order: 0, 1, -1 and two of order 8, with their other spellings in 255 bits. For such a key
# every message has a valid signature. The two of order 8 come from libsodium's table.
_ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
SMALL_ORDER = frozenset({0, 1, _P - 1, _P, _P + 1, _ORDER_8, _P - _ORDER_8})


def is_signed_by(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether 64 bytes are the key's signature in its only accepted form: s below the group's order, no small orders."""
    if int.from_bytes(signature[32:], "little") >= _ORDER:
        return False
    if (
        int.from_bytes(signature[:32], "little") & _Y in SMALL_ORDER
        or int.from_bytes(key, "little") & _Y in SMALL_ORDER
    ):
        return False
    return is_ed25519_signature(key, signature, message)
