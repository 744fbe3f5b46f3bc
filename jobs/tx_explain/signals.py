"""Finds what is worth knowing about a transaction."""

from collections.abc import Iterator

from jobs.engines.evm.address import ZERO, short
from jobs.engines.evm.copycat import copycat
from jobs.engines.evm.known_addresses import listings
from jobs.engines.evm.transactions import DEPOSIT
from jobs.engines.evm.unlimited import unlimited_form
from jobs.tx_explain.actions import action_of
from jobs.tx_explain.details import Details
from jobs.tx_explain.events import Transfer
from jobs.tx_explain.response import Signal

_BY_SIGNATURE = (
    *("transferWithAuthorization", "receiveWithAuthorization", "handleOps"),
    *("permitTransferFrom", "permitWitnessTransferFrom"),
)
_MOVED = {"erc20": "ERC-20 tokens moved.", "erc721": "An NFT moved.", "erc1155": "ERC-1155 tokens moved."}


def signals(details: Details) -> list[Signal]:
    """The signals, each code once, in a fixed order."""
    seen: dict[str, Signal] = {}
    for found in (*_outcome(details), *_kind(details), *_moves(details), *_approvals(details), *_calldata(details)):
        seen.setdefault(found.code, found)
    return list(seen.values())


def _outcome(details: Details) -> Iterator[Signal]:
    if details.status == "reverted":
        yield Signal("reverted", "warning", "The transaction was undone; only its fee was paid.")
    if details.status == "pending":
        yield Signal("pending", "info", "The transaction is not in a block yet, and may never be.")


def _kind(details: Details) -> Iterator[Signal]:
    sent = details.transaction
    if sent.to is None:
        yield Signal("contract_creation", "info", "It creates a contract.")
    if sent.type == DEPOSIT:
        yield Signal("deposit", "info", "It comes from Ethereum, by the bridge of the chain, and pays no gas here.")
    if sent.delegates:
        ends = all(each == ZERO for each in sent.delegates)
        message = (
            "Accounts end their delegation." if ends else "Accounts hand their execution to the code of a contract."
        )
        yield Signal("delegation", "info" if ends else "warning", message)
    if sent.blobs:
        yield Signal("blob", "info", "It carries blobs of data, which are paid for apart.")


def _moves(details: Details) -> Iterator[Signal]:
    sent = details.transaction
    done = details.status != "reverted"
    if sent.value and sent.to is not None and done:
        yield Signal("native_transfer", "info", "It carries ether.")
    if sent.to == sent.sender:
        yield Signal("to_self", "info", "Sender and recipient are the same.")
    if not sent.value and not sent.data and sent.to is not None and sent.type != DEPOSIT:
        yield Signal("zero_value", "warning", "It sends nothing.")
    for each in details.transfers:
        yield from _transfer(each)
    got = bool(details.flows.got) or (details.ether_got or 0) > sent.value
    gave = bool(details.flows.given) or sent.value > (details.ether_got or 0)
    action = action_of(details)
    if action and (gave if action.object == "given" else got):
        yield Signal(action.code, "info", action.message)
    elif got and gave:
        yield Signal("swap", "info", "The sender gave something and got something else.")
    yield from _warnings(details)


def _warnings(details: Details) -> Iterator[Signal]:
    """What is often part of a theft."""
    sent = details.transaction
    for giver in details.givers:
        is_signed = bool(details.method and details.method.name in _BY_SIGNATURE)
        yield Signal(
            "pulled_by_other",
            "info" if is_signed else "warning",
            f"Tokens of {short(giver)} were moved by somebody else's transaction, by "
            + ("a signature." if is_signed else "an approval or a signature."),
        )
    tokens = [each.token for each in details.transfers] + [each.token for each in details.approvals]
    for address in dict.fromkeys(tokens):
        found = copycat(details.chain, address, details.token(address).symbol, None)
        if found:
            message = f"The token {short(address)} passes for {found.original.symbol} and is another."
            yield Signal("copycat_token", "warning", message)
    own = [each for each in details.transfers if sent.sender in (each.sender, each.to)]
    parties = [sent.sender, sent.to, *(each.spender for each in details.approvals), *sent.delegates]
    parties += [party for each in own for party in (each.sender, each.to)]
    for party in dict.fromkeys(each for each in parties if each):
        for listing in listings(party):
            if listing.is_attacker:
                kind = listing.kind.replace("_", " ")
                yield Signal("known_malicious", "critical", f"The address {short(party)} is known for {kind}.")


def _transfer(each: Transfer) -> Iterator[Signal]:
    yield Signal(f"{each.standard}_transfer", "info", _MOVED[each.standard])
    if each.sender == ZERO and each.to != ZERO:
        yield Signal("mint", "info", "Tokens were made.")
    if each.to == ZERO and each.sender != ZERO:
        yield Signal("burn", "info", "Tokens were destroyed.")
    if each.sender == each.to:
        yield Signal("to_self", "info", "Sender and recipient are the same.")
    if not each.amount:
        yield Signal(
            "zero_value",
            "warning",
            "A transfer of nothing: anybody can make one in anybody's name, to plant an address that looks like a known one.",
        )


def _approvals(details: Details) -> Iterator[Signal]:
    for each in details.approvals:
        spender = short(each.spender)
        if not each.is_granted:
            yield Signal("approval_revoked", "info", "A right to move tokens was taken back or used up.")
        elif each.amount is not None and unlimited_form(each.amount):
            yield Signal("unlimited_approval", "warning", f"{spender} may take all tokens of this kind, now and later.")
        elif each.standard is None:
            yield Signal("approval_for_all", "warning", f"{spender} may move all NFTs of the collection.")
        else:
            yield Signal("approval", "info", f"{spender} may move tokens.")


def _calldata(details: Details) -> Iterator[Signal]:
    if details.method is None or not details.has_code:
        return
    if details.method.name is None:
        yield Signal("unknown_method", "info", "Nobody published what this calldata means, as far as is known here.")
    if details.method.trailing:
        yield Signal(
            "trailing_calldata", "info", f"{details.method.trailing} bytes follow the arguments, often a referral mark."
        )
