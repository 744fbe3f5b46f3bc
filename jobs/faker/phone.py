"""faker.phone. Nobody answers: every number is of a range that a regulator keeps for fiction or, where none does, of one that
no number has been given out from."""

from jobs.faker import checks
from jobs.faker.lists import LISTS
from jobs.faker.locales import LOCALES
from jobs.faker.source import Source

_RANGES = {locale: LISTS[f"phone.{locale}"] for locale in LOCALES if locale != "en_US"}
# Not N11: those are service numbers.
_AREA_CODES = tuple(str(code) for code in range(200, 1000) if code % 100 != 11)


def number(source: Source) -> str:
    """In the locale's notation: of a range kept for fiction in en_US, en_GB, de_DE and fr_FR, otherwise of an unused one.

    Those of the United States are 555-0100 to 555-0199 in any area code, in one of the common notations, every other one with
    an extension of 3 to 5 digits.
    """
    if source.locale in _RANGES:
        return source.fill(source.pick(_RANGES[source.locale]))
    area = source.pick(_AREA_CODES)
    line = f"01{source.digits(2)}"
    text = source.pick((f"{area}-555-{line}", f"{area}.555.{line}", f"({area}) 555-{line}", f"1-{area}-555-{line}"))
    return f"{text} x{source.digits(source.integer(3, 5))}" if source.chance(0.5) else text


def imei(source: Source) -> str:
    """``14-254367-260633-0``; the last digit is a Luhn digit."""
    digits = source.digits(14)
    return f"{digits[:2]}-{digits[2:8]}-{digits[8:]}-{checks.luhn(digits)}"
