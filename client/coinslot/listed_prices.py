"""The prices that a server lists, in its OpenAPI document or else in its catalogue. A challenge may not ask for more."""

import math
import time
from collections.abc import Callable, Mapping

import msgspec

from coinslot import bazaar, free_document
from coinslot.errors import CallFailed, PriceAboveList
from coinslot.exchange import Exchange
from shared.call_path import split
from shared.money import Price

REFRESH_S = 300.0
"""How long a list counts."""


class _Amount(msgspec.Struct, frozen=True):
    amount: str


class _Payment(msgspec.Struct, frozen=True):
    price: _Amount


class _Operation(msgspec.Struct, frozen=True):
    payment: _Payment | None = msgspec.field(default=None, name="x-payment-info")


class _Path(msgspec.Struct, frozen=True):
    post: _Operation | None = None


class _Document(msgspec.Struct, frozen=True):
    paths: dict[str, _Path]


class ListedPrices:
    """What one server lists, read when it is needed.

    Args:
        on_unlisted: is called when the server lists no price for a call, so that only the caller's limit holds.
    """

    def __init__(self, exchange: Exchange, base_url: str, on_unlisted: Callable[[], None] = lambda: None) -> None:
        self._exchange = exchange
        self._base_url = base_url
        self._on_unlisted = on_unlisted
        self._prices: Mapping[str, Price] = {}
        self._read_at = -math.inf

    async def check(self, name: str, price: Price) -> None:
        """Compare what a challenge asks for with the list, which is read again before a price is refused.

        Raises:
            PriceAboveList: the challenge asks for more.
            CallFailed, Unreachable: the server may have a list, which cannot be read now.
        """
        listed = self._prices.get(name)
        if time.monotonic() - self._read_at > REFRESH_S or listed is None or price > listed:
            # A price counts until another one is listed: a list that is taken down raises none.
            self._prices, self._read_at = {**self._prices, **await self._read()}, time.monotonic()
            listed = self._prices.get(name)
        if listed is None:
            self._on_unlisted()
        elif price > listed:
            raise PriceAboveList.of(name, price, f"lists it at {listed.text()}")

    async def _read(self) -> Mapping[str, Price]:
        """By the names of the calls; empty when the server has no document with prices."""
        try:
            prices = await free_document.fetch(
                self._exchange, self._base_url, "/openapi.json", _prices, kind="an OpenAPI document of paid calls"
            )
            if prices:
                return prices
        except CallFailed as failed:
            if failed.status != 404:
                raise
        try:
            items = await bazaar.fetch(self._exchange, self._base_url)
        except CallFailed as failed:
            if failed.status != 404:
                raise
            return {}
        return {item.name: max(item.prices.values()) for item in items if item.prices}


def _prices(content: bytes) -> dict[str, Price]:
    """Of an OpenAPI document, by the names of the calls. Raises TypeError, msgspec.MsgspecError: it has another form."""
    try:
        return {
            name: Price.of(one.post.payment.price.amount)
            for path, one in msgspec.json.decode(content, type=_Document).paths.items()
            if (name := split(path)[1]) and one.post and one.post.payment
        }
    except ValueError as error:
        raise TypeError(str(error)) from None
