"""Check digits inside the national part of an IBAN, which some countries had before IBANs existed.

The rules are those of the countries' bank associations. The examples of the SWIFT IBAN registry follow them.
"""

import string
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle

from jobs.faker import checks

_CZECH = (6, 3, 7, 9, 10, 5, 8, 4, 2)
_HUNGARIAN = (9, 7, 3, 1)
_SPANISH = (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)
# Values of Italian characters in odd places: of 0 to 9 and of A to J, then of K to Z. In even places, the position counts.
_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)
_ITALIAN = dict(
    zip(
        string.digits + string.ascii_uppercase,
        (*_ODD, *_ODD, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
        strict=True,
    )
)
_FRENCH = str.maketrans(string.ascii_uppercase, "12345678912345678923456789")


def checked(country: str, bban: str) -> str:
    """Put the country's check digits into the national part. The characters in their places are ignored."""
    rule = _RULES.get(country)
    return rule(bban) if rule else bban


def _sum(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, cycle(weights)))


def _ten(digits: str, weights: Sequence[int]) -> str:
    """Append the digit that makes the weighted sum a multiple of 10."""
    return digits[:-1] + str(-_sum(digits[:-1], weights) % 10)


def _eleven(digits: str, weights: Sequence[int]) -> str:
    """Append the digit that makes the weighted sum a multiple of 11. If that would be 10, the digit before changes too.

    Args:
        weights: of all digits but the last, whose weight is 1. The weight of the one before it is 2.
    """
    rest = -_sum(digits[:-1], weights) % 11
    if rest < 10:
        return digits[:-1] + str(rest)
    return _eleven(f"{digits[:-2]}{(int(digits[-2]) + 1) % 10}0", weights)


def _mod_11_10(digits: str) -> str:
    """Append the check digit of ISO 7064, mod 11,10."""
    product = 10
    for digit in digits[:-1]:
        product = ((product + int(digit)) % 10 or 10) * 2 % 11
    return digits[:-1] + str((11 - product) % 10)


def _belgian(bban: str) -> str:
    return f"{bban[:10]}{int(bban[:10]) % 97 or 97:02}"


def _czech(bban: str) -> str:
    """Czech and Slovak rule: check digits of the account's prefix and of the account."""
    return bban[:4] + _eleven(bban[4:10], _CZECH[4:]) + _eleven(bban[10:], _CZECH)


def _spanish(bban: str) -> str:
    first, second = (-_sum(part, _SPANISH) % 11 for part in (f"00{bban[:8]}", bban[10:]))
    return f"{bban[:8]}{1 if first == 10 else first}{1 if second == 10 else second}{bban[10:]}"


def _french(bban: str) -> str:
    return f"{bban[:21]}{97 - int(bban[:21].translate(_FRENCH)) * 100 % 97:02}"


def _italian(bban: str) -> str:
    """Put the CIN, a letter, in front."""
    even = sum(int(sign, 36) if sign.isdigit() else int(sign, 36) - 10 for sign in bban[2::2])
    total = even + sum(_ITALIAN[sign] for sign in bban[1::2])
    return string.ascii_uppercase[total % 26] + bban[1:]


def _hungarian(bban: str) -> str:
    """Check digits of bank and branch, and of the account."""
    return _ten(bban[:8], _HUNGARIAN) + _ten(bban[8:], _HUNGARIAN)


_RULES: Mapping[str, Callable[[str], str]] = {
    "BE": _belgian,
    "CZ": _czech,
    "EE": lambda bban: bban[:2] + _ten(bban[2:], (7, 1, 3)),
    "ES": _spanish,
    "FI": lambda bban: bban[:13] + checks.luhn(bban[:13]),
    "FR": _french,
    "HR": lambda bban: _mod_11_10(bban[:7]) + _mod_11_10(bban[7:]),
    "HU": _hungarian,
    "IT": _italian,
    "NO": lambda bban: _eleven(bban, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)),
    "PL": lambda bban: _ten(bban[:8], (3, 9, 7, 1)) + bban[8:],
    "PT": lambda bban: f"{bban[:19]}{98 - int(bban[:19]) * 100 % 97:02}",
    "SK": _czech,
}
