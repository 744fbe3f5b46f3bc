"""Says what a transaction did, or was meant to do, as a verb and the rest of the sentence."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from jobs.engines.evm.address import ZERO, short
from jobs.engines.evm.known_tokens import WRAPPED_ETHER
from jobs.engines.evm.transactions import DEPOSIT
from jobs.engines.evm.unlimited import unlimited_form
from jobs.tx_explain.actions import Action, action_of
from jobs.tx_explain.details import Details, rounded_ether
from jobs.tx_explain.events import Approval
from jobs.tx_explain.flows import Flow

PAST = {
    "add": "Added",
    "allow": "Allowed",
    "borrow": "Borrowed",
    "burn": "Burned",
    "call": "Called",
    "claim": "Claimed",
    "create": "Created",
    "credit": "Credited",
    "delegate": "Delegated",
    "deposit": "Deposited",
    "mint": "Minted",
    "move": "Moved",
    "receive": "Received",
    "remove": "Removed",
    "repay": "Repaid",
    "run": "Ran",
    "send": "Sent",
    "stake": "Staked",
    "swap": "Swapped",
    "take": "Took",
    "unstake": "Unstaked",
    "unwrap": "Unwrapped",
    "withdraw": "Withdrew",
    "wrap": "Wrapped",
}
_LISTED = 3


class Phrase(NamedTuple):
    """``send``, ``25 USDC to 0x1234…cdef``."""

    verb: str
    rest: str

    @property
    def past(self) -> str:
        """``Sent 25 USDC to 0x1234…cdef``."""
        return f"{PAST[self.verb]} {self.rest}"

    @property
    def infinitive(self) -> str:
        """``send 25 USDC to 0x1234…cdef``."""
        return f"{self.verb} {self.rest}"


def happened(details: Details) -> Phrase:
    """What a transaction that succeeded did."""
    if details.transaction.type == DEPOSIT:
        return _deposit(details)
    if details.transaction.to is None:
        created = details.receipt.created if details.receipt else None
        return Phrase("create", f"the contract {short(created)}" if created else "a contract")
    return _of_flows(details) or _of_approvals(details) or _of_others(details) or intended(details)


def intended(details: Details) -> Phrase:
    """What a transaction was meant to do. Nothing else is known of one that is pending or was reverted."""
    sent = details.transaction
    if sent.to is None:
        return Phrase("create", "a contract")
    to = "itself" if sent.to == sent.sender else details.party(sent.to)
    if details.method is None or not details.has_code:
        message = f" with {len(sent.data)} bytes of data" if sent.data else ""
        return Phrase("send", (f"{rounded_ether(sent.value)} ETH" if sent.value else "nothing") + f" to {to}{message}")
    return _of_standard(details) or _of_call(details, to)


def _of_call(details: Details, to: str) -> Phrase:
    assert details.method is not None
    name = f"{details.method.name}()" if details.method.name else f"the unknown function {details.method.selector}"
    value = details.transaction.value
    return Phrase("call", f"{name} of {to}" + (f" with {rounded_ether(value)} ETH" if value else ""))


def _of_standard(details: Details) -> Phrase | None:
    """Calls of a token, which need no log to be understood."""
    assert details.method is not None
    token = details.transaction.to or ZERO
    match details.method.signature, details.method.values:
        case "transfer(address,uint256)", (str(to), int(amount)):
            return Phrase("send", f"{details.quantity('erc20', token, amount, None)} to {details.party(to)}")
        case "transferFrom(address,address,uint256)", (str(sender), str(to), int(amount)):
            moved = details.quantity("erc20", token, amount, None)
            if details.token(token).decimals is None:
                moved = f"#{amount} of {details.label(token)}"
            return Phrase("move", f"{moved} from {details.party(sender)} to {details.party(to)}")
        case "approve(address,uint256)", (str(spender), int(amount)):
            return _allowance(details, token, spender, amount)
        case _:
            return None


def _of_flows(details: Details) -> Phrase | None:
    """What the sender gave and got."""
    given, got = details.flows.given, details.flows.got
    value = details.transaction.value
    if not given and not got and not details.ether_got:
        return None
    wrapped = _of_wrapping(details)
    if wrapped:
        return wrapped
    spent, gained = value - (details.ether_got or 0), (details.ether_got or 0) - value
    paid = [*([f"{rounded_ether(spent)} ETH"] if spent > 0 else []), *_quantities(details, given)]
    taken = [*([f"{rounded_ether(gained)} ETH"] if gained > 0 else []), *_quantities(details, got)]
    action = action_of(details)
    if action and (paid if action.object == "given" else taken):
        return _of_action(details, action, paid, taken)
    if taken:
        is_minted = bool(got) and gained <= 0 and all(flow.others == (ZERO,) for flow in got)
        if is_minted and (not paid or all(flow.asset[1] is not None for flow in got)):
            return Phrase("mint", _joined(taken) + (f" for {_joined(paid)}" if paid else ""))
        if paid:
            return Phrase("swap", f"{_joined(paid)} for {_joined(taken)}")
        givers = _others(got) or [details.transaction.to or ZERO]
        return Phrase("receive", f"{_joined(taken)} from {_joined(_parties(details, givers))}")
    others = _others(given)
    if others == [ZERO] and not value:
        return Phrase("burn", _joined(paid))
    unwrapped = _unwrapped_on_the_way(details)
    if unwrapped:
        return Phrase("swap", f"{_joined(paid)} for about {rounded_ether(unwrapped)} ETH")
    # What was burned beside ether went to nobody, but the ether went to the contract.
    recipients = [other for other in others if other != ZERO] or [details.transaction.to or ZERO]
    return Phrase("send", f"{_joined(paid)} to {_joined(_parties(details, recipients))}")


def _of_action(details: Details, action: Action, paid: list[str], taken: list[str]) -> Phrase:
    given_first = action.object == "given"
    moved, back = (paid, taken) if given_first else (taken, paid)
    rest = f"{_joined(moved)} {action.to} {details.party(details.transaction.to or ZERO)}"
    if back:
        rest += f" and got {_joined(back)}" if given_first else f" for {_joined(back)}"
    return Phrase(action.verb, rest)


def _of_wrapping(details: Details) -> Phrase | None:
    wrapped = WRAPPED_ETHER[details.chain]
    given, got = details.flows.given, details.flows.got
    if (
        not given
        and [flow.asset[0] for flow in got] == [wrapped]
        and got[0].others == (ZERO,)
        and details.transaction.value
    ):
        return Phrase("wrap", f"{rounded_ether(details.transaction.value)} ETH into WETH")
    if not got and [flow.asset[0] for flow in given] == [wrapped] and given[0].others == (ZERO,):
        return Phrase("unwrap", f"{rounded_ether(given[0].amount)} WETH into ETH")
    return None


def _unwrapped_on_the_way(details: Details) -> int:
    """Ether that somebody else took out of WETH for a function that says that it pays ether: no log shows who got it."""
    name = details.method.name if details.method and details.method.name else ""
    if not name.startswith(("swapExactTokensForETH", "swapTokensForExactETH")):
        return 0
    wrapped = WRAPPED_ETHER[details.chain]
    return sum(each.amount for each in details.transfers if each.token == wrapped and each.to == ZERO)


def _of_approvals(details: Details) -> Phrase | None:
    own = [each for each in details.approvals if each.owner == details.transaction.sender]
    if not own:
        return None
    last = _approval(details, own[-1])
    others = len({(each.token, each.token_id, each.spender, each.through) for each in own}) - 1
    if not others:
        return last
    return Phrase(last.verb, f"{last.rest}, and changed {others} other right{'s' if others > 1 else ''}")


def _approval(details: Details, each: Approval) -> Phrase:
    if each.amount is not None:
        allowance = _allowance(details, each.token, each.spender, each.amount)
        until = (
            f" until {datetime.fromtimestamp(each.expires, UTC):%Y-%m-%d}" if each.expires and each.is_granted else ""
        )
        return Phrase(allowance.verb, allowance.rest + (f" through Permit2{until}" if each.through else ""))
    what = f"all tokens of {details.label(each.token)}"
    if each.token_id is not None:
        what = details.quantity("erc721", each.token, 1, each.token_id)
    if not each.is_granted:
        # ERC-721 takes an approval back by approving the zero address.
        owner = "" if each.spender == ZERO else f" from {details.party(each.spender)}"
        return Phrase("take", f"back the right to move {what}{owner}")
    return Phrase("allow", f"{details.party(each.spender)} to move {what}")


def _allowance(details: Details, token: str, spender: str, amount: int) -> Phrase:
    if not amount:
        return Phrase("take", f"back the allowance of {details.party(spender)} for {details.label(token)}")
    limit = (
        f"any amount of {details.label(token)}"
        if unlimited_form(amount)
        else details.quantity("erc20", token, amount, None)
    )
    return Phrase("allow", f"{details.party(spender)} to spend {limit}")


def _of_others(details: Details) -> Phrase | None:
    """Tokens that moved between others: on somebody's authorization, or by an allowance."""
    moved = [each for each in details.transfers if each.amount]
    if not moved:
        return None
    first = moved[0]
    what = _joined(details.quantity(each.standard, each.token, each.amount, each.token_id) for each in moved)
    if {(each.sender, each.to) for each in moved} != {(first.sender, first.to)}:
        return Phrase("move", f"{what} between others")
    if first.sender == first.to == details.transaction.sender:
        return Phrase("send", f"{what} to itself")
    if first.sender == ZERO:
        return Phrase("mint", f"{what} to {details.party(first.to)}")
    if first.to == ZERO:
        return Phrase("burn", f"{what} of {details.party(first.sender)}")
    return Phrase("move", f"{what} from {details.party(first.sender)} to {details.party(first.to)}")


def _deposit(details: Details) -> Phrase:
    sent = details.transaction
    if sent.is_system or (not sent.mint and not sent.value and sent.sender.startswith("0xdeaddeaddeaddead")):
        return Phrase("run", "a transaction of the protocol itself, which tells the chain about Ethereum's blocks")
    to = details.party(sent.to) if sent.to else "a new contract"
    if sent.mint or sent.value:
        return Phrase("credit", f"{rounded_ether(sent.mint or sent.value)} ETH, deposited on Ethereum, to {to}")
    return Phrase("run", f"a message that was sent on Ethereum to {to}")


def _quantities(details: Details, flows: Iterable[Flow]) -> list[str]:
    standards = {(each.token, each.token_id): each.standard for each in details.transfers}
    return [details.quantity(standards[flow.asset], flow.asset[0], flow.amount, flow.asset[1]) for flow in flows]


def _others(flows: Iterable[Flow]) -> list[str]:
    return list(dict.fromkeys(other for flow in flows for other in flow.others))


def _parties(details: Details, addresses: Iterable[str]) -> Iterator[str]:
    return map(details.party, addresses)


def _joined(parts: Iterable[str]) -> str:
    """``a, b and c``; what is over three is counted."""
    shown = list(parts)
    if len(shown) > _LISTED + 1:
        shown = [*shown[:_LISTED], f"{len(shown) - _LISTED} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
