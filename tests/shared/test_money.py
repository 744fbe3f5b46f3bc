"""Prices are exact."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.money import ExcessPrecision, Price
from tests.each import each


@each(
    ("text", "decimals", "atomic"),
    [
        ("0.001", 6, 1000),
        ("0.001", 7, 10000),
        ("0.08", 6, 80000),
        ("0.015", 6, 15000),
        ("1", 6, 1_000_000),
        ("12.5", 1, 125),
    ],
)
def test_atomic_units(text: str, decimals: int, atomic: int) -> None:
    """A price is a whole number of atomic units of its asset."""
    assert Price.of(text).atomic(decimals) == atomic


def test_excess_precision_is_an_error() -> None:
    """A price that the asset cannot express is refused, never rounded."""
    with pytest.raises(ExcessPrecision):
        Price.of("0.0000001").atomic(6)


@each("text", ["", "0", "-1", "+1", "1e3", " 1", "1 ", "01", "1_000", ".5", "5.", "NaN", "Infinity", "１"])
def test_anything_but_a_plain_positive_decimal_is_refused(text: str) -> None:
    """Signs, exponents, spaces, separators, other digits, zero and non-numbers are not prices."""
    with pytest.raises(ValueError, match=r"decimal|positive"):
        Price.of(text)


@given(st.integers(1, 10**12 - 1), st.integers(0, 6))
def test_text_round_trips(units: int, places: int) -> None:
    """text() gives back the same price, without trailing zeros."""
    price = Price(Decimal(units).scaleb(-places))
    assert Price.of(price.text()) == price
    assert "." not in price.text() or not price.text().endswith("0")
