"""The settler account's lumens."""

from __future__ import annotations

from facilitator.balance import BalanceMonitor, Unit
from facilitator.rails.stellar.node import StellarNode

READ_EVERY_S = 15.0
READ_SOON_S = 2.0
XLM = Unit("XLM", 7)


def balance_monitor(node: StellarNode, account: str, *, low: int, most_for_fee: int) -> BalanceMonitor:
    """Watches what the settler account may spend.

    Args:
        low: stroops below which the log warns.
        most_for_fee: stroops that one settlement may cost.
    """

    async def read() -> int:
        held = (await node.accounts([account])).get(account)
        return held.stroops if held else 0

    return BalanceMonitor(
        f"the settler account {account}",
        XLM,
        shortage=" to spend: not enough for the fee of a settlement",
        read=read,
        needed=lambda: most_for_fee,
        low=low,
        read_every_s=READ_EVERY_S,
        read_soon_s=READ_SOON_S,
    )
