"""The settler's lumens: how many are there, and what a settlement costs."""

from __future__ import annotations

import logging
import time

from facilitator.rails.stellar.node import BASE_FEE, STROOPS, StellarNode

log = logging.getLogger(__name__)

READ_EVERY_S = 15.0
READ_SOON_S = 2.0
"""As long as there is too little: so that settling goes on by itself once there is more."""


class StellarPurse:
    """What one account has, and the price of a place in a ledger, read now and then beside the settlements.

    Args:
        low: stroops below which the log warns.
        most_for_fee: stroops that one settlement may cost.
    """

    def __init__(self, node: StellarNode, account: str, *, low: int, most_for_fee: int) -> None:
        self._node = node
        self._account = account
        self._low = low
        self._most_for_fee = most_for_fee
        self._stroops = 0
        self._price = BASE_FEE
        self._read_again_at = 0.0
        self._was_low = False

    @property
    def balance(self) -> str:
        """What may be spent, as it was read last."""
        return f"{max(0, self._stroops) // STROOPS}.{max(0, self._stroops) % STROOPS:07d} XLM"

    @property
    def unavailable_reason(self) -> str:
        """Why no settlement can be paid for; empty when one can."""
        if self._stroops >= self._most_for_fee:
            return ""
        return (
            f"the settler account {self._account} has {self.balance} to spend: not enough for the fee of a settlement"
        )

    @property
    def is_due(self) -> bool:
        """Whether it is time to read it again."""
        return time.monotonic() >= self._read_again_at

    async def read(self) -> None:
        """Read balance and price. Raises what is in NODE_ERRORS."""
        self._read_again_at = time.monotonic() + READ_SOON_S  # should it fail
        held = (await self._node.accounts([self._account])).get(self._account)
        self._stroops = held.stroops if held else 0
        self._price = await self._node.inclusion_fee()
        is_low = self._stroops < self._low
        if is_low and not self._was_low:
            log.warning("the settler account %s is down to %s", self._account, self.balance)
        self._was_low = is_low
        self._read_again_at = time.monotonic() + (READ_SOON_S if self.unavailable_reason else READ_EVERY_S)

    def inclusion_fee(self, resource_fee: int) -> int:
        """Stroops for each of the two that a fee bump counts, within what a settlement may cost.

        At the least it is the network's own minimum: a call at the bound itself costs two of these more.
        """
        room = (self._most_for_fee - resource_fee) // 2
        return max(BASE_FEE, min(self._price, room))
