"""Solana's addresses: base58, and the token account that belongs to a wallet and a mint.

Sources: the base58 alphabet of Bitcoin; solana-program's `Pubkey::find_program_address`; the associated token program.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {character: digit for digit, character in enumerate(_ALPHABET)}
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_PDA_MARKER = b"ProgramDerivedAddress"


def encode_base58(raw: bytes) -> str:
    """Leading zero bytes are ones."""
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + text


def decode_base58(text: str, size: int) -> bytes:
    """The `size` bytes that `text` stands for. No two texts stand for the same bytes.

    Raises:
        ValueError: it is not base58, or of another length.
    """
    if len(text) > size * 2:  # 138 characters say 100 bytes: far too long is not even read
        raise ValueError("too long")
    number = 0
    try:
        for character in text:
            number = number * 58 + _DIGITS[character]
    except KeyError:
        raise ValueError("not base58") from None
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    zeros = len(text) - len(text.lstrip("1"))
    if zeros + len(raw) != size:
        raise ValueError("of another length")
    return bytes(zeros) + raw


def is_address(value: object) -> bool:
    """Whether it is the text of 32 bytes."""
    try:
        return isinstance(value, str) and bool(decode_base58(value, 32))
    except ValueError:
        return False


TOKEN_PROGRAM = decode_base58("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", 32)
"""SPL Token. Every USDC mint is of this one, and none of Token-2022."""
_ATA_PROGRAM = decode_base58("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", 32)


@lru_cache(maxsize=64)
def token_account(owner: bytes, mint: bytes) -> bytes:
    """The associated token account of a wallet: the first address, by bump from 255 down, that is no key's."""
    for bump in range(255, -1, -1):
        address = _derived(owner, mint, bump)
        if not is_on_curve(address):
            return address
    raise ValueError("there is no such address")  # of odds 2**-256


def may_be_token_account(address: bytes, owner: bytes, mint: bytes) -> bool:
    """Whether the address is derived from wallet and mint, with whatever bump.

    Saves the curve tests of `token_account`, which every payer would cost anew: of these addresses only the associated
    account can ever exist on the chain, because the others have no key and the program makes no other one.
    """
    return any(_derived(owner, mint, bump) == address for bump in range(255, -1, -1))


def is_on_curve(address: bytes) -> bool:
    """Whether 32 bytes are a point of edwards25519, so that somebody may have the key: x² = (y² - 1) / (d·y² + 1)."""
    y = int.from_bytes(address, "little") & (1 << 255) - 1
    return _jacobi((y * y - 1) * (_D * y * y + 1) % _P) >= 0


def _derived(owner: bytes, mint: bytes, bump: int) -> bytes:
    seeds = owner + TOKEN_PROGRAM + mint + bytes((bump,))
    return hashlib.sha256(seeds + _ATA_PROGRAM + _PDA_MARKER).digest()


def _jacobi(number: int) -> int:
    """1 for a square modulo the field's prime, -1 for none, 0 for 0. Seven times faster than a power."""
    modulus, sign = _P, 1
    while number:
        twos = (number & -number).bit_length() - 1
        number >>= twos
        if twos & 1 and modulus & 7 in (3, 5):
            sign = -sign
        if number & 3 == 3 and modulus & 3 == 3:
            sign = -sign
        number, modulus = modulus % number, number
    return sign if modulus == 1 else 0
