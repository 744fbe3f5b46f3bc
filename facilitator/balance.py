"""Watches the account that pays for settlements: what it has, and whether that pays for one more."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from facilitator.settling import CannotSend

log = logging.getLogger(__name__)

READ_EVERY_S, READ_SOON_S = 15.0, 2.0
"""The intervals where a reading costs one request."""
_EMPTY, _LOW, _ENOUGH = range(3)


@dataclass(frozen=True, slots=True)
class Unit:
    """A network's own currency. Amounts are whole numbers of its smallest unit."""

    symbol: str
    decimals: int

    def text(self, amount: int) -> str:
        """An amount in whole units, to the last digit: ``0.250000000000000000 ETH``. A negative one is shown as 0."""
        whole, rest = divmod(max(0, amount), 10**self.decimals)
        return f"{whole}.{rest:0{self.decimals}d} {self.symbol}"


ETH, SOL, XLM = Unit("ETH", 18), Unit("SOL", 9), Unit("XLM", 7)


class BalanceMonitor:
    """Reads one balance at intervals, beside the settlements and never for one of them.

    The log has an error when the balance no longer pays for a settlement, a warning when it falls below `low`, and a warning
    when it rises again.

    Args:
        account: the account in words: ``the settler account 0x…``.
        shortage: how `unavailable_reason` continues after the balance.
        read: asks the node for the balance.
        needed: what one settlement may cost now.
        low: the balance below which the log warns.
        read_every_s: the interval while all is well.
        read_soon_s: the interval while the balance is too small or the node does not answer. It is short, so that settling
            continues by itself.
    """

    def __init__(
        self,
        account: str,
        unit: Unit,
        *,
        shortage: str,
        read: Callable[[], Awaitable[int]],
        needed: Callable[[], int],
        low: int,
        read_every_s: float,
        read_soon_s: float,
    ) -> None:
        self._account = account
        self._unit = unit
        self._shortage = shortage
        self._read = read
        self._needed = needed
        self._low = low
        self._read_every_s = read_every_s
        self._read_soon_s = read_soon_s
        self._balance = 0
        self._read_again_at = 0.0
        self._level = _ENOUGH

    @property
    def balance(self) -> str:
        """The balance that was read last, with its unit."""
        return self._unit.text(self._balance)

    @property
    def amount(self) -> int:
        """The same in the smallest unit."""
        return self._balance

    @property
    def unavailable_reason(self) -> str:
        """Why no settlement can be paid for; empty when one can."""
        if self._balance >= self._needed():
            return ""
        return f"{self._account} has {self.balance}{self._shortage}"

    @property
    def is_due(self) -> bool:
        """Whether it is time to read the balance again."""
        return time.monotonic() >= self._read_again_at

    async def read(self) -> None:
        """Read the balance. Raises what the node raises."""
        self._read_again_at = time.monotonic() + self._read_soon_s  # in case the node raises
        self._balance = await self._read()
        self._log_level()
        interval = self._read_soon_s if self.unavailable_reason else self._read_every_s
        self._read_again_at = time.monotonic() + interval

    def read_soon(self) -> None:
        """Shorten the time to the next reading: the balance may have changed."""
        self._read_again_at = min(self._read_again_at, time.monotonic() + self._read_soon_s)

    def require(self, amount: int) -> None:
        """Raises CannotSend when the balance is smaller."""
        if self._balance < amount:
            self.read_soon()
            raise CannotSend(
                self.unavailable_reason or f"{self._account} has no {self._unit.symbol} left for another transaction"
            )

    def _log_level(self) -> None:
        """Write one line each time the balance crosses a mark."""
        reason = self.unavailable_reason
        level = _EMPTY if reason else _LOW if self._balance < self._low else _ENOUGH
        if level < self._level:
            if level == _EMPTY:
                log.error("nothing is settled: %s", reason)
            else:
                log.warning("%s is down to %s", self._account, self.balance)
        elif level > self._level:
            log.warning("%s has %s again", self._account, self.balance)
        self._level = level
