"""The sender of a call that is not a transaction.

Nodes treat a sender without funds differently: some lend it the value, some refuse, some ignore the value. Here one rule
applies, whatever the node says: gas is free, and the sender's balance at the same block must cover the value.
"""

from typing import Annotated, Any, Literal

import msgspec

from jobs.engines.evm.address import ZERO, checksummed
from jobs.fields import doc
from jobs.ports.chains import Reverted

Rule = Literal["gas_free_value_from_balance"]


class Sender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who sent the call, and its ether."""

    address: Annotated[str, doc("`from` of the request, or the zero address.")]
    is_default: Annotated[bool, doc("Whether the request named no sender.")]
    balance_wei: Annotated[str, doc("The sender's ether, in wei.")]
    rule: Annotated[Rule, doc("How the sender was judged: gas is free, and `value` must be in its balance.")]


def sender_of(given: str | None, balance: int) -> Sender:
    """The sender as an answer shows it."""
    return Sender(
        address=checksummed(given or ZERO),
        is_default=given is None,
        balance_wei=str(balance),
        rule="gas_free_value_from_balance",
    )


def by_the_rule(outcome: Any, value: int, balance: int) -> Any:
    """The node's outcome, unless the sender does not have the value."""
    return Reverted(b"", "insufficient_funds") if value > balance else outcome
