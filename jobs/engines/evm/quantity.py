"""Numbers and bytes as callers write them."""

import re

from shared.endpoint import InvalidField

MAX_UINT256 = 2**256 - 1
MAX_DATA_BYTES = 128 * 1024
_DECIMAL = re.compile(r"[0-9]{1,80}", re.ASCII)
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,64}", re.ASCII)
_DATA = re.compile(r"0[xX](?:[0-9a-fA-F]{2})*", re.ASCII)


def parse_uint256(text: str, *, field: str) -> int:
    """A decimal or 0x number from 0 to 2^256-1. Raises InvalidField."""
    if _DECIMAL.fullmatch(text):
        number = int(text)
    elif _HEX.fullmatch(text):
        number = int(text, 16)
    else:
        raise InvalidField("A number is decimal digits, or 0x and hex digits.", field=field)
    if number > MAX_UINT256:
        raise InvalidField("The number is larger than 2^256-1.", field=field)
    return number


def parse_data(text: str, *, field: str) -> bytes:
    """0x and an even number of hex digits, MAX_DATA_BYTES at most. Raises InvalidField."""
    if len(text) > 2 + 2 * MAX_DATA_BYTES:
        raise InvalidField(f"The data has more than {MAX_DATA_BYTES} bytes.", field=field)
    if not _DATA.fullmatch(text):
        raise InvalidField("Data is 0x and an even number of hex digits.", field=field)
    return bytes.fromhex(text[2:])


def formatted(amount: int, decimals: int) -> str:
    """`amount` in units of 10^decimals, exactly, without zeros at its end: 1500000 with 6 decimals is ``1.5``."""
    digits = str(abs(amount)).rjust(decimals + 1, "0")
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return ("-" if amount < 0 else "") + whole + ("." + fraction if fraction else "")


def ether(wei: int) -> str:
    """An amount of wei, written in ether."""
    return formatted(wei, 18)
