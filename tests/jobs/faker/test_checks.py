"""Check digits against published examples."""

import pytest

from jobs.faker import checks
from tests.each import each


@each(
    ("digits", "digit"),
    [("7992739871", "3"), ("49015420323751", "8"), ("411111111111111", "1"), ("37828224631000", "5")],
)
def test_luhn(digits: str, digit: str) -> None:
    """The Luhn digit of well-known test numbers."""
    assert checks.luhn(digits) == digit


@each(("digits", "digit"), [("978030640615", "7"), ("978316148410", "0"), ("03600029145", "2"), ("01234567890", "5")])
def test_gtin(digits: str, digit: str) -> None:
    """The GS1 digit of ISBN-13 and UPC-A examples."""
    assert checks.gtin(digits) == digit


@pytest.mark.parametrize(
    ("country", "bban", "digits"),
    [("GB", "WEST12345698765432", "82"), ("DE", "370400440532013000", "89"), ("NO", "86011117947", "93")],
)
def test_iban(country: str, bban: str, digits: str) -> None:
    """The check digits of the IBAN registry's examples."""
    assert checks.iban(country, bban) == digits


@pytest.mark.parametrize("vin", ["1M8GDM9AXKP042788", "11111111111111111", "5GZCZ43D13S812715"])
def test_vin(vin: str) -> None:
    """The check sign of published vehicle numbers, X among them; the sign in its place counts for nothing."""
    assert checks.vin(vin) == vin[8]
    assert checks.vin(f"{vin[:8]}7{vin[9:]}") == vin[8]
