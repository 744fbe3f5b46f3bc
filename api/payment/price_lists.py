"""The price lists of this installation: the one that this process sells at, and those of all its API processes in the last day.

A payment that was signed at a former price is taken while it can be valid. The ledger has the lists, so that this holds after a
restart, and in every process and on every machine: each process notes its list every few seconds.
"""

import os
import socket
from collections.abc import Mapping

import msgspec

from api.payment import transitions
from api.payment.periodic_task import PeriodicTask
from api.redis_client import Commands, Script
from jobs.price_list import PriceList
from shared.ledger.keys import PRICE_LISTS, SELLERS
from shared.money import Price
from shared.x402.exact import MAX_TIMEOUT_SECONDS

EVERY_S = 20.0
MARGIN_S = 10.0
"""For the way of a payment from its payer to us."""
HONOURED_MS = int(1000 * (MAX_TIMEOUT_SECONDS + EVERY_S + MARGIN_S))
"""How long a list is honoured after a process noted it last: while a payment may be valid that its offers were signed for."""


class PriceLists(PeriodicTask):
    """The lists.

    Args:
        redis: the ledger.

    Attributes:
        current: what this process sells at.
    """

    def __init__(self, redis: Commands, current: PriceList) -> None:
        super().__init__("price-lists", every_s=EVERY_S, at_once=1)
        self.current = current
        self._process = f"{socket.gethostname()}:{os.getpid()}"
        self._script = Script(redis, transitions.PRICE_LISTS, is_repeatable=True)
        self._lists: dict[str, int] = {}

    async def run_once(self) -> int:
        """Note the current list. Raises RedisLost and RedisRefused."""
        await self.note(self.current)
        return 0

    async def note(self, prices: PriceList) -> None:
        """Note that this process sells at a list, or is about to. Raises RedisLost and RedisRefused."""
        await self._exchange(prices.text)

    async def honoured(self, name: str) -> tuple[Price, ...]:
        """What an endpoint costs, or cost until a moment ago, in any process. Raises RedisLost and RedisRefused."""
        await self._exchange("")
        return self._prices(name, HONOURED_MS)

    def known(self, name: str) -> tuple[Price, ...]:
        """What an endpoint cost in the last day, as this process has last read it."""
        return self._prices(name, transitions.PRICES_KEPT_MS)

    async def _exchange(self, noted: str) -> None:
        seller = f"{self._process} {self.current.version}"
        found = await self._script(lists=PRICE_LISTS, sellers=SELLERS, list=noted, seller=seller)
        self._lists = dict(zip(map(bytes.decode, found[::2]), found[1::2], strict=True))

    def _prices(self, name: str, within_ms: int) -> tuple[Price, ...]:
        lists: list[Mapping[str, str]] = [
            msgspec.json.decode(text) for text, ms in self._lists.items() if ms <= within_ms
        ]
        texts = dict.fromkeys(prices[name] for prices in lists if name in prices)
        return tuple(map(Price.of, texts))
