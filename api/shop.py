"""What is sold now: the gates of all endpoints that can be sold here, and their prices, which may change meanwhile."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from api.payment.gate import PaymentGate
from api.payment.price_lists import PriceLists
from api.redis_client import RedisLost, RedisRefused
from jobs.price_list import PRICES_FILE, SELL, PriceList
from shared.settings.service import InvalidSetting

log = logging.getLogger(__name__)


class Shop:
    """The gates and their prices.

    Args:
        gates: at their prices of now, if they are sold.
        lists: of this installation.
        read: reads the price list of the settings anew. Raises InvalidSetting.
    """

    def __init__(self, gates: Sequence[PaymentGate], lists: PriceLists, read: Callable[[], PriceList]) -> None:
        self.gates = gates
        self._lists = lists
        self._read = read
        self._reloading = asyncio.Lock()
        self._sell_at(lists.current)

    @property
    def sold(self) -> list[PaymentGate]:
        """The gates of what is sold now."""
        return [gate for gate in self.gates if gate.is_sold]

    @property
    def prices(self) -> PriceList:
        """The prices of now."""
        return self._lists.current

    async def reload(self) -> None:
        """Read the price list again, and sell at it from now on. When it is wrong, or the ledger does not answer, nothing
        changes. The log says what was done."""
        async with self._reloading:
            try:
                found = await asyncio.to_thread(self._read)
                await self._lists.note(found)  # before anybody is offered it: every process takes payments at it
                self._apply(found)
            except (InvalidSetting, RedisLost, RedisRefused) as error:
                log.error("the prices stay those of version %s: %s", self.prices.version, error)
                return
            log.warning("%d calls are sold, at the prices of version %s", len(self.sold), found.version)
            with contextlib.suppress(RedisLost, RedisRefused):
                await self._lists.note(found)  # now as the list of this process

    def _apply(self, prices: PriceList) -> None:
        """Raises InvalidSetting, and changes nothing."""
        try:
            self._sell_at(prices)
        except InvalidSetting:
            self._sell_at(self.prices)
            raise
        self._lists.current = prices

    def _sell_at(self, prices: PriceList) -> None:
        """Raises InvalidSetting when an endpoint cannot be sold at its price, or none is left."""
        try:
            for gate in self.gates:
                gate.sell_at(prices.prices.get(gate.endpoint.name))
        except ValueError as error:
            raise InvalidSetting(str(error)) from None
        if self.gates and not self.sold:
            raise InvalidSetting(f"nothing is left to sell: what {SELL} and {PRICES_FILE} leave needs a rail or a node")
