"""The one rule by which API and facilitator judge whether a price is worth its settlement."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from shared.x402.settlement_cost import least_price


@given(st.integers(0, 10**12), st.integers(1, 999))
def test_the_least_price_is_the_first_that_is_worth_it(cost: int, percent: int) -> None:
    """Of it the cost is no more than the share; of one unit less it is more."""
    share = Fraction(percent, 100)
    least = least_price(cost, share)
    assert cost <= share * least
    assert least == 0 or cost > share * (least - 1)
