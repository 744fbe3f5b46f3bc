"""What a called function is for, by its usual names: who gives tokens and gets others has not always swapped them."""

from __future__ import annotations

import re
from typing import NamedTuple

from jobs.tx_explain.details import Details


class Action(NamedTuple):
    """What a function does.

    Attributes:
        code: of the signal.
        verb: of the sentence, with what is its object: `given` or `got`.
        to: what joins the object to the contract.
        message: of the signal.
    """

    code: str
    verb: str
    object: str
    to: str
    message: str


_ACTIONS = (
    (
        r"addLiquidity|add_liquidity|increaseLiquidity|joinPool|zapIn",
        Action("add_liquidity", "add", "given", "as liquidity to", "Tokens were added to a pool as liquidity."),
    ),
    (
        r"removeLiquidity|remove_liquidity|decreaseLiquidity|exitPool|zapOut",
        Action("remove_liquidity", "remove", "got", "of liquidity from", "Liquidity was taken out of a pool."),
    ),
    (r"stake(?![a-z])|submit$", Action("stake", "stake", "given", "in", "Tokens were staked.")),
    (r"unstake|exit$", Action("unstake", "unstake", "got", "from", "Staked tokens were taken back.")),
    (
        r"deposit(?!V3|ForBurn|Transaction|To$|ERC20|Erc20|Native)|supply",
        Action("vault_deposit", "deposit", "given", "in", "Tokens were deposited."),
    ),
    (r"withdraw|redeem", Action("vault_withdrawal", "withdraw", "got", "from", "Deposited tokens were taken back.")),
    (r"borrow", Action("borrow", "borrow", "got", "from", "Tokens were borrowed.")),
    (r"repay", Action("repay", "repay", "given", "to", "A loan was paid back.")),
    (r"claim|getReward|harvest", Action("claim", "claim", "got", "from", "Tokens were claimed.")),
)


def action_of(details: Details) -> Action | None:
    """The action of the called function; None when its name does not say."""
    name = details.method.name if details.method and details.has_code else None
    found = (action for pattern, action in _ACTIONS if name and re.match(pattern, name))
    return next(found, None)
