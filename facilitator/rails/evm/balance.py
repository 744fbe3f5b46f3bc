"""The settler's ETH: how much is there, and whether it pays for one more settlement."""

from __future__ import annotations

import logging
import time
from typing import Any

from web3 import AsyncWeb3

from facilitator.rails.evm.prices import CannotSend, Prices

log = logging.getLogger(__name__)

READ_EVERY_S = 60.0
READ_SOON_S = 5.0
"""After a settlement, and as long as there is too little: so that settling goes on by itself once there is more."""
SETTLEMENT_GAS = 100_000
"""What one settlement may take, for saying whether another can be paid."""
_ETHER = 10**18


class BalanceMonitor:
    """The balance of one account, read now and then beside the settlements, never for one.

    Args:
        low: wei below which the log warns.
    """

    def __init__(self, web3: AsyncWeb3[Any], address: str, prices: Prices, low: int) -> None:
        self._web3 = web3
        self._address = address
        self._prices = prices
        self._low = low
        self._balance = 0
        self._read_again_at = 0.0
        self._level = 2

    @property
    def balance_eth(self) -> str:
        """As it was read last, to the last wei."""
        return f"{self._balance // _ETHER}.{self._balance % _ETHER:018d}"

    @property
    def unavailable_reason(self) -> str:
        """Why no settlement can be paid for; empty when one can."""
        price = self._prices.last.bid().max_fee
        if self._balance >= SETTLEMENT_GAS * price:
            return ""
        return f"the settler account {self._address} has {self.balance_eth} ETH: not enough for the gas of a settlement"

    @property
    def is_due(self) -> bool:
        """Whether it is time to read it again."""
        return time.monotonic() >= self._read_again_at

    async def read(self) -> None:
        """Read balance and price. Raises Web3Exception and what the connection raises."""
        self._read_again_at = time.monotonic() + READ_SOON_S  # should it fail
        await self._prices.now()
        self._balance = int(await self._web3.eth.get_balance(self._web3.to_checksum_address(self._address)))
        self._tell()
        is_well = not self.unavailable_reason and not self._prices.unavailable_reason
        self._read_again_at = time.monotonic() + (READ_EVERY_S if is_well else READ_SOON_S)

    def has_changed(self) -> None:
        """Something was paid for: read it again soon."""
        self._read_again_at = min(self._read_again_at, time.monotonic() + READ_SOON_S)

    def require(self, wei: int) -> None:
        """Raises CannotSend when there is less than that."""
        if self._balance < wei:
            self.has_changed()
            raise CannotSend(
                self.unavailable_reason
                or f"the settler account {self._address} has no ETH left for another transaction"
            )

    def _tell(self) -> None:
        """Once each time the balance crosses a mark."""
        level = 0 if self.unavailable_reason else 1 if self._balance < self._low else 2
        if level < self._level:
            if level == 0:
                log.error("nothing is settled: %s", self.unavailable_reason)
            else:
                log.warning("the settler account %s is down to %s ETH", self._address, self.balance_eth)
        elif level > self._level:
            log.warning("the settler account %s has %s ETH again", self._address, self.balance_eth)
        self._level = level
