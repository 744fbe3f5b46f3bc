"""What a called function is for, by its usual names: who gives tokens and gets others has not always swapped them."""

import re
from typing import NamedTuple

from jobs.engines.evm.address import ZERO
from jobs.engines.evm.known_tokens import WRAPPED_ETHER
from jobs.engines.evm.selectors import topic
from jobs.engines.evm.transactions import Log
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


_ADD = Action("add_liquidity", "add", "given", "as liquidity to", "Tokens were added to a pool as liquidity.")
_REMOVE = Action("remove_liquidity", "remove", "got", "of liquidity from", "Liquidity was taken out of a pool.")
_DEPOSIT = Action("vault_deposit", "deposit", "given", "in", "Tokens were deposited.")
_WITHDRAW = Action("vault_withdrawal", "withdraw", "got", "from", "Deposited tokens were taken back.")
_WRAP = Action("wrap", "wrap", "given", "in", "Tokens were wrapped.")
_UNWRAP = Action("unwrap", "unwrap", "got", "from", "Tokens were unwrapped.")
_OF_WETH = {"deposit": _WRAP, "withdraw": _UNWRAP._replace(object="given")}
"""WETH's own functions. The ether that is got leaves no log."""
_ACTIONS = (
    (r"addLiquidity|add_liquidity|increaseLiquidity|joinPool|zapIn", _ADD),
    (r"removeLiquidity|remove_liquidity|decreaseLiquidity|exitPool|zapOut", _REMOVE),
    (r"stake(?![a-z])|submit$|enter$|enterStaking", Action("stake", "stake", "given", "in", "Tokens were staked.")),
    (
        r"unstake|exit$|leave$|leaveStaking",
        Action("unstake", "unstake", "got", "from", "Staked tokens were taken back."),
    ),
    (r"deposit(?!V3|ForBurn|Transaction|To$|ERC20|Erc20|Native)|supply", _DEPOSIT),
    (r"withdraw|redeem", _WITHDRAW),
    (r"wrap(?![a-zA-Z])", _WRAP),
    (r"unwrap(?![a-zA-Z])", _UNWRAP),
    (r"borrow", Action("borrow", "borrow", "got", "from", "Tokens were borrowed.")),
    (r"repay", Action("repay", "repay", "given", "to", "A loan was paid back.")),
    (r"claim|getReward|harvest", Action("claim", "claim", "got", "from", "Tokens were claimed.")),
)


_EVENTS = {
    (topic("IncreaseLiquidity(uint256,uint128,uint256,uint256)"), 2): _ADD,
    (topic("DecreaseLiquidity(uint256,uint128,uint256,uint256)"), 2): _REMOVE,
    (topic("Mint(address,uint256,uint256)"), 2): _ADD,
    (topic("Burn(address,uint256,uint256,address)"), 3): _REMOVE,
    (topic("Mint(address,uint256,uint256)"), 1): _DEPOSIT,
    (topic("Redeem(address,uint256,uint256)"), 1): _WITHDRAW,
    (topic("Deposit(address,address,uint256,uint256)"), 3): _DEPOSIT,
    (topic("Withdraw(address,address,address,uint256,uint256)"), 4): _WITHDRAW,
}
"""Events, with the number of their topics: of Uniswap v3 positions, Uniswap v2 pairs, Compound's tokens and ERC-4626 vaults."""
_SWAPS = re.compile(r"swap|exact|exchange|sell|buy|unoswap|transformERC20", re.IGNORECASE)


def action_of(details: Details) -> Action | None:
    """The action of the called function; None when neither its name nor the events of a share's token say."""
    name = details.method.name if details.method and details.has_code else None
    named = action_named(name)
    if details.transaction.to == WRAPPED_ETHER[details.chain]:
        return _OF_WETH.get(name or "", named)
    if named or (name and _SWAPS.search(name)):
        return named
    logs = details.receipt.logs if details.receipt else ()
    return next((action for log in logs if (action := _of_event(details, log)) is not None), None)


def action_named(name: str | None) -> Action | None:
    """The action of a function by its name alone."""
    return next((action for pattern, action in _ACTIONS if name and re.match(pattern, name)), None)


def _of_event(details: Details, log: Log) -> Action | None:
    """The action of an event of a token that the sender got new or gave up, or of the contract that was called."""
    action = _EVENTS.get((log.topics[0], len(log.topics))) if log.topics else None
    if action is None or log.address == details.transaction.to:
        return action
    flows = details.flows.got if action.object == "given" else details.flows.given
    shares = {flow.asset[0] for flow in flows if action.object == "got" or flow.others == (ZERO,)}
    return action if log.address in shares else None
