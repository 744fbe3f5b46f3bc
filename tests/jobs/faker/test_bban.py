"""National check digits against the examples of the SWIFT IBAN registry."""

import pytest

from jobs.faker import bban, checks
from tests.each import each


@each(
    ("iban", "places"),
    [
        ("BE68539007547034", (10, 11)),
        ("CZ6508000000192000145399", (9, 19)),
        ("EE382200221020145685", (15,)),
        ("ES9121000418450200051332", (8, 9)),
        ("FI2112345600000785", (13,)),
        ("FR1420041010050500013M02606", (21, 22)),
        ("HR1210010051863000160", (6, 16)),
        ("HU42117730161111101800000000", (7, 23)),
        ("IT60X0542811101000000123456", (0,)),
        ("NO9386011117947", (10,)),
        ("PL61109010140000071219812874", (7,)),
        ("PT50000201231234567890154", (19, 20)),
        ("SK3112000000198742637541", (9, 19)),
        ("DE89370400440532013000", ()),
    ],
)
def test_examples(iban: str, places: tuple[int, ...]) -> None:
    """Whatever stands in the places of the check digits, they become the example's."""
    country, national = iban[:2], iban[4:]
    other = "".join("7" if place in places else sign for place, sign in enumerate(national))

    assert bban.checked(country, national) == national
    assert bban.checked(country, other) == national
    assert country + checks.iban(country, national) + national == iban


@pytest.mark.parametrize(
    ("digits", "expected"),
    [("12345678909", "12345678903"), ("91312798826", "91312798838"), ("10000000090", "10000000006")],
)
def test_a_check_digit_of_ten(digits: str, expected: str) -> None:
    """A Norwegian account whose check digit would be 10 does not exist: then the digit before it is another one."""
    weighted = sum(
        int(digit) * weight for digit, weight in zip(expected, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1), strict=True)
    )

    assert bban.checked("NO", digits) == expected
    assert weighted % 11 == 0
