"""The settler account's ETH."""

from __future__ import annotations

from facilitator.balance import BalanceMonitor, Unit
from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm.node import number_of
from facilitator.rails.evm.prices import Prices
from shared.nodes.json_rpc import Call

READ_EVERY_S = 60.0
READ_SOON_S = 5.0
SETTLEMENT_GAS = 100_000
"""The gas that one settlement may take."""
ETH = Unit("ETH", 18)


def balance_monitor(node: JsonRpcNode, address: str, prices: Prices, low: int) -> BalanceMonitor:
    """Watches the balance of the account that pays for gas, and with it the price of gas and of data on L1.

    Args:
        low: wei below which the log warns.
    """

    async def read() -> int:
        await prices.now()
        balance, fee = await node.ask_all([Call("eth_getBalance", (address, "latest")), prices.l1_fee.question])
        prices.l1_fee.take(fee)
        return number_of(balance)

    return BalanceMonitor(
        f"the settler account {address}",
        ETH,
        shortage=": not enough for the gas of a settlement",
        read=read,
        needed=lambda: SETTLEMENT_GAS * prices.last.bid().max_fee + prices.l1_fee.wei,
        low=low,
        read_every_s=READ_EVERY_S,
        read_soon_s=READ_SOON_S,
    )
