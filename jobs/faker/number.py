"""faker.number: numbers within faker-js's default bounds."""

from __future__ import annotations

from jobs.faker.source import Source
from jobs.faker.text import as_number

_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


def int_(source: Source) -> str:
    """0 to 2**53 - 1, JavaScript's largest safe integer."""
    return str(source.integer(0, 2**53 - 1))


def big_int(source: Source) -> str:
    """0 to 999999999999999."""
    return str(source.integer(0, 999_999_999_999_999))


def float_(source: Source) -> str:
    """0 up to but not including 1."""
    return as_number(source.rng.random())


def binary(source: Source) -> str:
    """``0`` or ``1``."""
    return str(source.integer(0, 1))


def octal(source: Source) -> str:
    """``0`` to ``7``."""
    return str(source.integer(0, 7))


def hex_(source: Source) -> str:
    """``0`` to ``f``."""
    return f"{source.integer(0, 15):x}"


def roman_numeral(source: Source) -> str:
    """I (1) to MMMCMXCIX (3999)."""
    left = source.integer(1, 3999)
    numeral = ""
    for value, sign in _ROMAN:
        numeral += sign * (left // value)
        left %= value
    return numeral
