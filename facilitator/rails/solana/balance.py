"""The fee payer's SOL."""

from __future__ import annotations

from facilitator.balance import BalanceMonitor, Unit
from facilitator.rails.solana.node import SolanaNode
from shared.x402.solana_layout import MAX_PRIORITY_FEE

READ_EVERY_S = 15.0
READ_SOON_S = 2.0
SETTLEMENT_LAMPORTS = 2 * 5_000 + MAX_PRIORITY_FEE
"""The most that one settlement may cost: two signatures, and the highest priority fee that a payment may ask for."""
RENT_EXEMPT_LAMPORTS = 890_880
"""The network refuses a transaction that leaves its fee payer with less."""
SOL = Unit("SOL", 9)


def balance_monitor(node: SolanaNode, address: str, low: int) -> BalanceMonitor:
    """Watches the balance of the fee payer.

    Args:
        low: lamports below which the log warns.
    """
    return BalanceMonitor(
        f"the fee payer {address}",
        SOL,
        shortage=": not enough for the fee of a settlement",
        read=lambda: node.balance(address),
        needed=lambda: RENT_EXEMPT_LAMPORTS + SETTLEMENT_LAMPORTS,
        low=low,
        read_every_s=READ_EVERY_S,
        read_soon_s=READ_SOON_S,
    )
