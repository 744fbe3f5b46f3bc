"""What the operator reads of the cost of settlements. Beside a running service: tests/e2e/test_costs.py."""

from typing import Any

import pytest

from ops.settlement_costs import sentence, settlement_costs
from shared.settings.service import Settings

CHEAP = ["echo", "ssl-info", "faker", "dns", "rss"]


@pytest.mark.parametrize(
    ("share", "too_cheap", "said"),
    [
        ("50%", [], "a settlement costs 0.002 USDC"),
        (
            "50%",
            CHEAP,
            "a settlement costs 0.002 USDC: not offered at less than 0.004 (COINSLOT_MAX_COST_SHARE is 50%): "
            "echo, ssl-info, faker and 2 more",
        ),
        (
            "off",
            CHEAP[:1],
            "a settlement costs 0.002 USDC, and COINSLOT_MAX_COST_SHARE is off: these cost less, echo",
        ),
    ],
)
def test_a_sentence_says_what_it_costs_and_what_is_not_worth_it(share: str, too_cheap: list[str], said: str) -> None:
    """Short for a terminal, and in full."""
    answer: dict[str, Any] = {"settlements": {"base": {"cost": "0.002", "leastPrice": "0.004", "tooCheap": too_cheap}}}
    (of_base,) = settlement_costs(answer)
    settings = Settings(max_cost_share=share)
    assert sentence(of_base, settings, is_short=True) == said
    assert all(name in sentence(of_base, settings) for name in too_cheap)


def test_an_api_that_does_not_say_it_has_no_costs() -> None:
    """One of an earlier version."""
    assert settlement_costs({"ok": True}) == []
