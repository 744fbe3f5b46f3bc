"""What is offered for gas: enough for the next blocks, and enough more for a node to take it in place of another."""

from hypothesis import given
from hypothesis import strategies as st

from facilitator.rails.evm.transaction import Bid, Quote

WEI = st.integers(min_value=0, max_value=10**15)


@given(WEI, WEI)
def test_an_offer_outlasts_a_doubled_base_fee(base_fee: int, tip: int) -> None:
    """Twice the base fee and the tip, so it meets the quote and what six full blocks make of it."""
    bid = Quote(base_fee, tip).bid()

    assert bid == Bid(2 * base_fee + tip, tip)
    assert Quote(base_fee, tip).meets(bid)
    assert Quote(2 * base_fee, tip).meets(bid)
    assert not Quote(2 * base_fee + 1, tip).meets(bid)


@given(WEI, WEI, WEI, WEI)
def test_a_replacement_offers_an_eighth_more_and_today_s_price(base_fee: int, tip: int, max_fee: int, old: int) -> None:
    """Both parts by 12.5% and by a wei, and never less than a fresh offer; the tip stays within the whole."""
    replaced = Bid(max(max_fee, old), old)

    bid = Quote(base_fee, tip).bid(over=replaced)

    for now, then in ((bid.max_fee, replaced.max_fee), (bid.tip, replaced.tip)):
        assert now > then
        assert now * 8 >= then * 9
    assert bid.tip >= tip
    assert bid.max_fee >= 2 * base_fee + bid.tip
