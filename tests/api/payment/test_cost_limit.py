"""Which prices are worth their settlement while its cost moves."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.payment import cost_limit
from api.payment.cost_limit import LOWERED_AT, CostLimit
from shared.x402.settlement_cost import least_price

HALF = Fraction(1, 2)
PRICE = "1000"


@given(st.lists(st.integers(0, 2_000), min_size=1))
def test_what_costs_too_much_is_never_allowed_and_comes_back_with_a_margin(costs: list[int]) -> None:
    """Whatever the cost does. What was refused is allowed again only when it has fallen by more than the margin."""
    limit = CostLimit(HALF)
    for cost in costs:
        before, was_allowed = limit.least, limit.allows(PRICE)
        limit.note(cost)
        if limit.allows(PRICE):
            assert 2 * cost <= int(PRICE)
            assert was_allowed or 2 * cost <= LOWERED_AT * before


def test_an_offer_at_the_threshold_does_not_come_and_go() -> None:
    """Costs that move by less than a fifth change nothing after the first rise."""
    limit = CostLimit(HALF)
    assert limit.note(501)
    assert not any(limit.note(cost) for cost in (499, 501, 420, 500))
    assert not limit.allows(PRICE)
    assert limit.note(400)
    assert limit.allows(PRICE)


def test_without_a_share_everything_is_allowed_and_the_cost_is_known() -> None:
    """Who does not limit it still sees which prices are below their cost."""
    limit = CostLimit(None)
    limit.note(1001)
    assert limit.allows(PRICE)
    assert not limit.is_worth(PRICE)


def test_what_a_facilitator_does_not_repeat_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at once. Prices that are no whole numbers, on networks whose facilitator says nothing, are worth it."""
    limit = CostLimit(HALF)
    assert limit.allows("0.001")
    limit.note(10_000)
    assert not limit.note(None)
    assert limit.least == least_price(10_000, HALF)
    monkeypatch.setattr(cost_limit, "KNOWN_S", 0.0)
    assert limit.note(None)
    assert (limit.cost, limit.allows("0.001")) == (None, True)


def test_amounts_in_whole_tokens_are_compared_too() -> None:
    """On the XRP Ledger offers have them. Whatever a facilitator says there, the other offers go on."""
    limit = CostLimit(HALF)
    assert limit.note(5)
    assert not limit.allows("0.001")
    assert limit.allows("10")
