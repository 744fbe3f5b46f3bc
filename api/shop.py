"""What is sold now: the gates of all endpoints that can be sold here, and their prices, which may change meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from api.payment.gate import PaymentGate
from api.payment.price_lists import PriceLists
from api.redis_client import RedisLost, RedisRefused
from jobs.price_list import PriceList
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
        self._apply(lists.current)

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
                await self._lists.note(found)  # now as the list of this process
            except (InvalidSetting, RedisLost, RedisRefused) as error:
                log.error("the prices stay those of version %s: %s", self.prices.version, error)
            else:
                log.warning("%d calls are sold, at the prices of version %s", len(self.sold), found.version)

    def _apply(self, prices: PriceList) -> None:
        """Raises InvalidSetting, and changes nothing, when an endpoint cannot be sold at its price or none is left."""
        try:
            self._sell_at(prices)
            if self.gates and not self.sold:
                raise ValueError(
                    "nothing is left to sell: what is named needs a rail, or a node, that the settings do not have"
                )
        except ValueError as error:
            self._sell_at(self.prices)
            raise InvalidSetting(str(error)) from None
        self._lists.current = prices

    def _sell_at(self, prices: PriceList) -> None:
        for gate in self.gates:
            gate.sell_at(prices.prices.get(gate.endpoint.name))
