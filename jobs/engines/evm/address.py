"""EVM addresses as text: inside 0x and 40 hex digits in lower case, in answers with a checksum (EIP-55)."""

import re

from shared.endpoint import InvalidField
from shared.x402.evm import checksummed as checksummed

PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
"""Uniswap's contract for approvals, at the same address on all chains."""
ZERO = "0x" + "0" * 40
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}", re.ASCII)


def parse(text: str, *, field: str) -> str:
    """The address, in lower case.

    All digits in lower case or all in upper case is accepted. Mixed case is a checksum (EIP-55), and must be right.

    Raises:
        InvalidField: `invalid_address`; for a wrong checksum `suggestions` has the address with the right one.
    """
    if not _ADDRESS.fullmatch(text):
        raise InvalidField("An address is 0x and 40 hex digits.", field=field, code="invalid_address")
    digits = text[2:]
    right = checksummed("0x" + digits.lower())
    if digits not in (digits.lower(), digits.upper(), right[2:]):
        raise InvalidField(
            f"The checksum of the address is wrong: one letter or more was changed. If the digits are right, it is {right}.",
            field=field,
            code="invalid_address",
            suggestions=(right,),
        )
    return "0x" + digits.lower()


def of_word(word: bytes) -> str | None:
    """The address in 32 bytes of ABI; None when the 12 bytes before it are not zero."""
    return None if any(word[:12]) or len(word) != 32 else "0x" + word[12:].hex()


def short(address: str) -> str:
    """The short form for a sentence: ``0x1234…cdef``."""
    shown = checksummed(address)
    return f"{shown[:6]}…{shown[-4:]}"
