"""faker.phone. Nobody answers: every number is of a range that a regulator keeps for fiction."""

from __future__ import annotations

from jobs.faker import checks
from jobs.faker.source import Source, listed

# Ofcom, Telephone numbers for drama; Bundesnetzagentur, Rufnummern für Medienproduktionen; Arcep, decision 2018-0881, 2.5.12.
_RANGES = {
    "en_GB": listed("""
        0113 496 0###, 0114 496 0###, 0115 496 0###, 0116 496 0###, 0117 496 0###, 0118 496 0###, 0121 496 0###,
        0131 496 0###, 0141 496 0###, 0151 496 0###, 0161 496 0###, 020 7946 0###, 0191 498 0###, 028 9649 6###,
        029 2018 0###, 01632 960###, 07700 900###, 0808 157 0###, 0909 879 0###, 03069 990###
    """),
    "de_DE": listed("030 23125 ###, 040 66969 ###, 069 90009 ###, 0221 4710 ###, 089 99998 ###, 0171 39200 ##"),
    "fr_FR": listed("""
        01 99 00 ## ##, 02 61 91 ## ##, 03 53 01 ## ##, 04 65 71 ## ##, 05 36 49 ## ##, 06 39 98 ## ##
    """),
}
# Not N11: those are service numbers.
_AREA_CODES = tuple(str(code) for code in range(200, 1000) if code % 100 != 11)


def number(source: Source) -> str:
    """A national number of a range kept for fiction in en_GB, de_DE and fr_FR, otherwise one of the United States.

    The latter are 555-0100 to 555-0199 in any area code, in one of the common notations, every other one with an extension of 3
    to 5 digits.
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
