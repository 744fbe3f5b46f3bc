"""Buys calls within caps: each call is checked against the pins and reserved in the journal before it is signed."""

import contextlib
import time
from collections.abc import Callable
from decimal import Decimal

import anyio

from coinslot.answer import Answer
from coinslot.async_exchange import AsyncExchange
from coinslot.buyer import ignore
from coinslot.configuration import Configuration
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError, JournalUnusable, PriceAboveList, Unreachable
from coinslot.listed_prices import ListedPrices
from coinslot.payment import SignedPayment
from coinslot.progress import Progress
from coinslot.purchase import Purchases
from coinslot.shop_pins import ShopPins
from coinslot.spending_caps import Caps
from coinslot.spending_journal import Ended, Left
from coinslot.wallet import Choice
from shared.money import Price
from shared.x402.networks import Rail


class CappedBuyer:
    """Buys calls of one server within caps. Any number of tasks may use it at the same time.

    Args:
        found: wallet, server and folder. Its `max_price` is not used: the caps have one.
        timeout_s: longest wait for one HTTP answer.
    """

    def __init__(self, found: Configuration, caps: Caps, *, timeout_s: float) -> None:
        self.caps = caps
        self.found = found
        self._journal = found.payments.journal
        self._exchange = AsyncExchange(found.base_url, timeout_s=timeout_s)
        self._listed = ListedPrices(self._exchange, found.base_url)

    async def call(
        self,
        endpoint: str,
        body: object,
        *,
        shown: Price | None = None,
        on_progress: Callable[[Progress], None] = ignore,
    ) -> Answer:
        """Buy one call. Its file is left for the caller to remove, with `answer.saved.remove()`.

        Args:
            shown: the price that the call was listed at when it was chosen. A list that changed since, or that was taken down,
                raises it no more than a challenge does.

        Raises:
            CoinslotError: what Buyer.call raises; CapReached, OfferDrifted, JournalUnusable, PriceAboveList.
        """
        signed: list[SignedPayment] = []
        reserved, is_saved = "", False

        def reserve(choice: Choice) -> None:
            nonlocal reserved, is_saved
            signed.clear()  # of a voucher that the server has corrected: its reservation has ended
            is_saved = False
            pins = self.pins(choice.signer.rail)
            pins.check(endpoint, choice.offer, choice.price)
            reserved = self._journal.reserve(endpoint, choice.price, self.caps, now=int(time.time()))
            pins.record(endpoint, choice.offer, choice.price)

        async def check_price(name: str, price: Price) -> None:
            if shown is not None and price > shown:
                raise PriceAboveList.of(name, price, f"listed it at {shown.text()}")
            await self._listed.check(name, price)

        def reservation() -> str:
            nonlocal is_saved
            is_saved = True
            return reserved

        purchases = Purchases(
            base_url=self.found.base_url,
            wallet=self.found.wallet,
            exchange=self._exchange,
            max_price=None,
            retry_policy=RetryPolicy(),
            payments=self.found.payments,
            on_signed=signed.append,
            on_progress=on_progress,
            check_price=check_price,
            reserve=reserve,
            reservation=reservation,
        )
        try:
            answer = await purchases.call(endpoint, body, keep=True)
        except CoinslotError as error:
            await self._end(reserved, _ended(error, was_sent=bool(signed)))
            raise
        except BaseException:  # cancelled: without a file, nothing else would give the reservation back
            if not is_saved:
                await self._end(reserved, "unsent")
            raise
        await self._end(reserved, "paid")
        return answer

    def pins(self, rail: Rail) -> ShopPins:
        """What the server asked for on a rail at its first use."""
        return ShopPins(self.found.payments.path, self.found.base_url, str(rail))

    async def left(self, endpoint: str | None = None) -> Left:
        """What is left of the caps. Raises JournalUnusable."""
        return await anyio.to_thread.run_sync(
            lambda: self._journal.left(self.caps, endpoint=endpoint, now=int(time.time()))
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._exchange.aclose()

    async def _end(self, reservation: str, state: Ended | None) -> None:
        if reservation and state:
            # When the line cannot be written, the reservation stays, which is the safe side.
            with anyio.CancelScope(shield=True), contextlib.suppress(JournalUnusable):
                await anyio.to_thread.run_sync(lambda: self._journal.end(reservation, state, now=int(time.time())))


def _ended(error: CoinslotError, *, was_sent: bool) -> Ended | None:
    """What became of the reservation of a call that failed; None while it is not known."""
    if error.charged is True:
        return "paid"
    if error.charged == "unknown" or error.worth_keeping:  # its file stays, and `coinslot resume` may have it charged
        return None
    return "refused" if was_sent and not isinstance(error, Unreachable) else "unsent"


def headroom(caps: Caps, left: Left) -> Decimal:
    """Most that the next call may cost, in dollars."""
    return min(one for one in (caps.per_call, left.today, left.total, left.endpoint) if one is not None)
