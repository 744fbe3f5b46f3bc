"""faker.vehicle."""

import string

from jobs.faker import checks
from jobs.faker.color import human
from jobs.faker.source import Source, gives, one_of

_VIN_SIGNS = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
_VIN_YEARS = str.maketrans("UZ0", "VY1")
"""No model year is written with the first three (49 CFR 565.15)."""

color = human
manufacturer = one_of("vehicle.manufacturer")
model = one_of("vehicle.model")
vehicle = gives(
    "Manufacturer and model, drawn apart: ``Mini Mustang`` happens.",
    lambda source: f"{manufacturer(source)} {model(source)}",
)


def vin(source: Source) -> str:
    """Seventeen signs without I, O and Q; the ninth is a valid check sign, the tenth a year's, the last five are digits."""
    text = source.chars(_VIN_SIGNS, 12) + source.digits(5)
    text = text[:9] + text[9].translate(_VIN_YEARS) + text[10:]
    return text[:8] + checks.vin(text) + text[9:]


vrm = gives(
    "A British registration: two letters, two digits, three letters.",
    lambda source: source.chars(string.ascii_uppercase, 2) + source.digits(2) + source.chars(string.ascii_uppercase, 3),
)
