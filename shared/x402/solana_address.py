"""Solana's addresses: base58, and the token account of a wallet for a mint.

Sources: the base58 alphabet of Bitcoin; solana-program's `Pubkey::find_program_address`; the associated token program.
"""

import hashlib
from functools import lru_cache

from shared.x402.base58 import Base58

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_PDA_MARKER = b"ProgramDerivedAddress"


_BASE58 = Base58("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
encode_base58, decode_base58 = _BASE58.encode, _BASE58.decode


def is_address(value: object) -> bool:
    """Whether it is the base58 text of 32 bytes."""
    try:
        return isinstance(value, str) and bool(decode_base58(value, 32))
    except ValueError:
        return False


TOKEN_PROGRAM = decode_base58("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", 32)
"""SPL Token. Every USDC mint belongs to this program, and none to Token-2022."""
ATA_PROGRAM = decode_base58("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", 32)
"""It makes wallets' token accounts."""


@lru_cache(maxsize=64)
def token_account(owner: bytes, mint: bytes) -> bytes:
    """The associated token account of a wallet: the first derived address, by bump from 255 down, that is off the curve."""
    for bump in range(255, -1, -1):
        address = _derived(owner, mint, bump)
        if not is_on_curve(address):
            return address
    raise ValueError("there is no such address")  # the probability is 2**-256


def may_be_token_account(address: bytes, owner: bytes, mint: bytes) -> bool:
    """Whether the address is derived from wallet and mint, with any bump.

    It saves the curve tests of `token_account`, which cannot be cached for payers. Of these addresses only the associated
    account can exist on the chain: nobody has the keys of the others, and the program creates no other one.
    """
    return any(_derived(owner, mint, bump) == address for bump in range(255, -1, -1))


def is_on_curve(address: bytes) -> bool:
    """Whether 32 bytes are a point of edwards25519, so that a key may exist: x² = (y² - 1) / (d·y² + 1)."""
    y = int.from_bytes(address, "little") & (1 << 255) - 1
    return _jacobi((y * y - 1) * (_D * y * y + 1) % _P) >= 0


def _derived(owner: bytes, mint: bytes, bump: int) -> bytes:
    seeds = owner + TOKEN_PROGRAM + mint + bytes((bump,))
    return hashlib.sha256(seeds + ATA_PROGRAM + _PDA_MARKER).digest()


def _jacobi(number: int) -> int:
    """The Jacobi symbol: 1 for a square modulo the field's prime, -1 for none, 0 for 0. A power takes seven times as long."""
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
