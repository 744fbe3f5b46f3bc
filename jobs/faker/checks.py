"""Computes check digits. Each function takes the number without its check digit."""

_VIN_VALUES = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", map(int, "123456781234579234567890123456789"), strict=True),
)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def luhn(digits: str) -> str:
    """The Luhn digit (ISO/IEC 7812): payment cards, IMEI."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def gtin(digits: str) -> str:
    """The GS1 digit, weights 3 and 1 from the right: ISBN-13, UPC-A."""
    total = sum(int(digit) * (3 if position % 2 == 0 else 1) for position, digit in enumerate(reversed(digits)))
    return str(-total % 10)


def iban(country: str, bban: str) -> str:
    """The two check digits of an IBAN (ISO 7064, mod 97-10)."""
    number = "".join(str(int(sign, 36)) for sign in bban + country + "00")
    return f"{98 - int(number) % 97:02}"


def vin(text: str) -> str:
    """The check character of the seventeen characters in `text` (49 CFR 565.15). The ninth character is ignored."""
    total = sum(_VIN_VALUES[sign] * weight for sign, weight in zip(text, _VIN_WEIGHTS, strict=True))
    return "0123456789X"[total % 11]
