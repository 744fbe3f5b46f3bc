"""The fee payer's SOL: how much is there, whether it pays for one more settlement, and whether the node still answers."""

from __future__ import annotations

import logging
import time

from facilitator.rails.solana.node import SolanaNode
from shared.x402.solana_layout import MAX_PRIORITY_FEE

log = logging.getLogger(__name__)

READ_EVERY_S = 15.0
READ_SOON_S = 2.0
"""As long as there is too little, or the node does not answer: so that settling goes on by itself."""
SILENT_AFTER_S = 30.0
SETTLEMENT_LAMPORTS = 2 * 5_000 + MAX_PRIORITY_FEE
"""What one settlement may take: two signatures, and the highest priority fee that a payment may ask for."""
RENT_EXEMPT_LAMPORTS = 890_880
"""The network refuses a transaction that leaves its fee payer with less."""
_LAMPORTS = 10**9


class SolanaPurse:
    """The balance of one account, read now and then beside the settlements, never for one.

    Args:
        low: lamports below which the log warns.
    """

    def __init__(self, node: SolanaNode, address: str, low: int) -> None:
        self._node = node
        self._address = address
        self._low = low
        self._lamports = 0
        self._read_again_at = 0.0
        self._level = 2

    @property
    def balance_sol(self) -> str:
        """As it was read last, to the last lamport."""
        return f"{self._lamports // _LAMPORTS}.{self._lamports % _LAMPORTS:09d}"

    @property
    def unavailable_reason(self) -> str:
        """Why no settlement can be paid for, or sent; empty when one can."""
        if self._lamports < RENT_EXEMPT_LAMPORTS + SETTLEMENT_LAMPORTS:
            return f"the fee payer {self._address} has {self.balance_sol} SOL: not enough for the fee of a settlement"
        if self._node.silent_s > SILENT_AFTER_S:
            return f"its node has not answered for {self._node.silent_s:.0f} s"
        return ""

    @property
    def is_due(self) -> bool:
        """Whether it is time to read it again."""
        return time.monotonic() >= self._read_again_at

    async def read(self) -> None:
        """Read the balance. Raises what is in NODE_ERRORS."""
        self._read_again_at = time.monotonic() + READ_SOON_S  # should it fail
        self._lamports = await self._node.balance(self._address)
        self._tell()
        self._read_again_at = time.monotonic() + (READ_SOON_S if self.unavailable_reason else READ_EVERY_S)

    def is_doubtful(self) -> None:
        """The chain would not take the fee from it: read it again at once."""
        self._read_again_at = 0.0

    def _tell(self) -> None:
        """Once each time that it falls below a line, or is above it again."""
        level = 0 if self.unavailable_reason else 1 if self._lamports < self._low else 2
        if level < self._level:
            if level == 0:
                log.error("nothing is settled: %s", self.unavailable_reason)
            else:
                log.warning("the fee payer %s is down to %s SOL", self._address, self.balance_sol)
        elif level > self._level:
            log.warning("the fee payer %s has %s SOL again", self._address, self.balance_sol)
        self._level = level
