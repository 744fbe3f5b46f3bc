"""The check of the settlements' chaos finds what is untrue."""

from typing import Any

from tests.chaos.settling import Bought, violations
from tests.facilitator.bench import Payer, an_address

SETTLED, OTHER = {"success": True, "transaction": "0x01"}, {"success": True, "transaction": "0x02"}
REFUSED = {"success": False, "transaction": "", "errorReason": "insufficient_funds"}
PENDING = {"success": False, "transaction": "0x01", "errorReason": "settlement_pending"}
CALL = Payer().call(an_address())


def judged(*answers: Any, paid: bool = True, amount: int = 0) -> list[str]:
    bought = Bought(CALL, list(answers))
    to, value = bought.wanted
    return violations([bought], {bought.use: (to, amount or value, "0x01")} if paid else {})


def test_what_the_chain_shows_may_be_answered() -> None:
    """Success with its transaction, doubt before it, and a refusal of what was not paid."""
    assert judged(SETTLED) == judged(None, PENDING, SETTLED, SETTLED) == []
    assert judged(PENDING, REFUSED, paid=False) == []


def test_anything_else_is_found() -> None:
    """Success without the payment, of another amount, by another transaction; a refusal of what was paid; and no end."""
    assert judged(SETTLED, paid=False)
    assert judged(SETTLED, amount=1)
    assert judged(OTHER)
    assert judged(REFUSED)
    assert judged(PENDING)
