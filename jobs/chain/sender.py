"""Who sends a call that nobody sends, and what with.

Nodes differ in what they ask of a sender without funds: some lend it what it lacks, some refuse, some ignore the value. Ours
has one rule, whatever the node says: gas is free, and the value must be there. It is checked against the balance at the same
block.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from jobs.evm.address import ZERO, checksummed
from jobs.ports.chains import Reverted

Rule = Literal["gas_free_value_from_balance"]


class Sender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`address`: `from`, or the zero address. `rule`: gas costs nothing, and the value must be in its balance."""

    address: str
    is_default: bool
    balance_wei: str
    rule: Rule


def sender_of(given: str | None, balance: int) -> Sender:
    """What an answer says of it."""
    return Sender(
        address=checksummed(given or ZERO),
        is_default=given is None,
        balance_wei=str(balance),
        rule="gas_free_value_from_balance",
    )


def by_the_rule(outcome: Any, value: int, balance: int) -> Any:
    """The node's outcome, unless the sender does not have the value."""
    return Reverted(b"", "insufficient_funds") if value > balance else outcome
