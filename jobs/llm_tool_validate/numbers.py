"""Reads the number in a text exactly, or not at all."""

import math
import re

MAX_DIGITS = 308
"""Limit of an integer. A longer one is beyond the range of a double, and half of all JSON readers would read Infinity."""
MAX_WRITTEN_OUT = 40
"""Limit of an integer whose text has an exponent or a fraction. `1e307` has five characters, but 308 digits."""
_MAX_CHARACTERS = 400

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,6}))?")

Exact = tuple[str, str, int]
"""Sign, digits without zeros at either end, and the power of ten of the last digit."""


def integer(text: str) -> int | None:
    """The integer whose JSON text this is, or None: `12`, `-0`, `12.0` and `2e10`, but not `1.5`, `007` or `+1`."""
    exact = _exact(text)
    if exact is None:
        return None
    sign, digits, power = exact
    is_plain = text.lstrip("-").isdecimal()
    if power < 0 or len(digits) + power > (MAX_DIGITS if is_plain else MAX_WRITTEN_OUT):
        return None
    return int(sign + digits + "0" * power)


def number(text: str) -> int | float | None:
    """The number whose JSON text this is, or None when neither an integer nor a double has exactly its digits."""
    exact = _exact(text)
    if exact is None:
        return None
    if text.lstrip("-").isdecimal():
        return integer(text)
    value = float(text)
    return value if math.isfinite(value) and _exact(repr(value)) == exact else integer(text)


def _exact(text: str) -> Exact | None:
    found = _NUMBER.fullmatch(text) if len(text) <= _MAX_CHARACTERS else None
    if found is None:
        return None
    sign, whole, fraction, exponent = found.groups(default="")
    digits = (whole + fraction).rstrip("0")
    power = int(exponent or "0") - len(fraction) + len(whole + fraction) - len(digits)
    digits = digits.lstrip("0")
    return (sign, digits, power) if digits else ("", "0", 0)
