"""What settlements cost us now, as the API's /readyz says it, in sentences."""

from typing import Any, NamedTuple

from shared.settings.service import PREFIX, Settings

_MOST_NAMES = 3


class SettlementCost(NamedTuple):
    """Of one rail.

    Attributes:
        cost, least_price: of a settlement, and what a call has to cost so that it is worth that, in whole tokens.
        too_cheap: the endpoints that cost less.
    """

    rail: str
    cost: str
    least_price: str
    too_cheap: tuple[str, ...]


def settlement_costs(answer: dict[str, Any]) -> list[SettlementCost]:
    """What /readyz has: of the rails whose facilitator says what a settlement costs it."""
    found = answer.get("settlements", {})
    return [
        SettlementCost(rail, of_rail["cost"], of_rail["leastPrice"], tuple(of_rail["tooCheap"]))
        for rail, of_rail in found.items()
    ]


def sentence(one: SettlementCost, settings: Settings, *, is_short: bool = False) -> str:
    """What it costs, and which calls are not worth that.

    Args:
        is_short: names the first endpoints only.
    """
    said = f"a settlement costs {one.cost} USDC"
    if not one.too_cheap:
        return said
    shown = one.too_cheap[:_MOST_NAMES] if is_short else one.too_cheap
    names = ", ".join(shown)
    if more := len(one.too_cheap) - len(shown):
        names += f" and {more} more"
    share = settings.max_cost_share
    if settings.cost_share is None:
        return f"{said}, and {PREFIX}MAX_COST_SHARE is off: these cost less, {names}"
    return f"{said}: not offered at less than {one.least_price} ({PREFIX}MAX_COST_SHARE is {share}): {names}"
