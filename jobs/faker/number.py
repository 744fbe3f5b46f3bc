"""faker.number: numbers within faker-js's default bounds."""

from jobs.faker.source import Source, integers, signs
from jobs.faker.text import as_number

_ROMAN = {
    "M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1,
}  # fmt: skip

int_ = integers(0, 2**53 - 1, "0 to 2**53 - 1, JavaScript's largest safe integer.")
big_int = integers(0, 999_999_999_999_999, "0 to 999999999999999.")
binary = signs("01", 1, "``0`` or ``1``.")
octal = signs("01234567", 1, "``0`` to ``7``.")
hex_ = signs("0123456789abcdef", 1, "``0`` to ``f``.")


def float_(source: Source) -> str:
    """0 up to but not including 1."""
    return as_number(source.rng.random())


def roman_numeral(source: Source) -> str:
    """I (1) to MMMCMXCIX (3999)."""
    left = source.integer(1, 3999)
    numeral = ""
    for sign, value in _ROMAN.items():
        numeral += sign * (left // value)
        left %= value
    return numeral
