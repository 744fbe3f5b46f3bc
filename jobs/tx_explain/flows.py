"""What an account has more and less of after a transaction: transfers to and from it, summed by token."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.tx_explain.events import Transfer

Asset = tuple[str, int | None]
"""A token's address, and an id if it has ids."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What one account gave or got of one asset.

    Attributes:
        amount: always positive.
        others: who got it, or whom it came from, in their order.
    """

    asset: Asset
    amount: int
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flows:
    """What left an account and what came to it. An asset that did both is in one of them, with the difference."""

    given: tuple[Flow, ...]
    got: tuple[Flow, ...]


def flows_of(account: str, transfers: Iterable[Transfer]) -> Flows:
    """The flows of an account. Transfers to itself change nothing."""
    sums: dict[Asset, int] = {}
    others: dict[tuple[Asset, bool], dict[str, None]] = {}
    for each in transfers:
        if each.sender == each.to or account not in (each.sender, each.to) or not each.amount:
            continue
        asset = (each.token, each.token_id)
        leaves = each.sender == account
        sums[asset] = sums.get(asset, 0) + (-each.amount if leaves else each.amount)
        others.setdefault((asset, leaves), {})[each.to if leaves else each.sender] = None
    return Flows(
        given=tuple(Flow(asset, -net, tuple(others[asset, True])) for asset, net in sums.items() if net < 0),
        got=tuple(Flow(asset, net, tuple(others[asset, False])) for asset, net in sums.items() if net > 0),
    )
