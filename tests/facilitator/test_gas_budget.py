"""Groups that are lost make groups smaller, and in the long run they burn a fixed part of what payments cost."""

import itertools
import random

from facilitator.rails.evm.gas_budget import PAID_GAS, SHARE, GasBudget, group_gas

MOST = 50
LONE = 86_000


def lose(budget: GasBudget) -> None:
    budget.count(group_gas(budget.most), members=budget.most, paid=0)


def test_groups_become_smaller_until_payments_are_settled_one_by_one_and_larger_again() -> None:
    """Each lost group halves them about; every payment that is made brings them back."""
    budget = GasBudget(MOST)
    sizes = [budget.most]
    while budget.most > 1:
        lose(budget)
        sizes.append(budget.most)
    assert sizes[0] == MOST
    assert all(later <= earlier / 2 for earlier, later in itertools.pairwise(sizes))
    for _ in range(1_000):
        budget.count(LONE, members=1, paid=1)
    assert budget.most == MOST


def test_what_groups_burn_is_bounded_by_what_payments_cost() -> None:
    """Whatever is lost when, if payments are settled one by one as soon as the budget says so."""
    chance = random.Random(0)
    for losing in (0.01, 0.2, 0.99):
        budget = GasBudget(MOST)
        for _ in range(3_000):
            if budget.most > 1 and chance.random() < losing:
                lose(budget)
            else:
                budget.count(PAID_GAS * budget.most, members=budget.most, paid=budget.most)
            assert budget.burnt <= 2 * group_gas(MOST) + budget.paid / SHARE


def test_what_the_last_member_burns_is_counted_too() -> None:
    """The others are paid then. A group in which all are paid burns nothing, whatever it took."""
    budget = GasBudget(MOST)
    budget.count(141_000, members=2, paid=2)
    assert (budget.paid, budget.burnt) == (141_000, 0)
    budget.count(group_gas(MOST), members=MOST, paid=MOST - 1)
    assert budget.burnt == group_gas(MOST) - (MOST - 1) * PAID_GAS
    assert budget.most < MOST


def test_a_payment_that_fails_by_itself_is_no_reason_for_smaller_groups() -> None:
    """It is counted all the same."""
    budget = GasBudget(MOST)
    for _ in range(100):
        budget.count(500_000, members=1, paid=0)
    assert (budget.burnt, budget.most) == (50_000_000, MOST)
