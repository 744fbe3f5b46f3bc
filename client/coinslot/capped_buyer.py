"""Buys calls within caps: each call is checked against the pins and reserved in the journal before it is signed."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import anyio

from coinslot.answer import Answer
from coinslot.async_exchange import AsyncExchange
from coinslot.buyer import ignore
from coinslot.configuration import Configuration
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError, JournalUnusable, Unreachable
from coinslot.payment import SignedPayment
from coinslot.progress import Progress
from coinslot.purchase import Purchases
from coinslot.shop_pins import ShopPins
from coinslot.signer import Signer
from coinslot.spending_caps import Caps
from coinslot.spending_journal import Ended, Left, SpendingJournal
from coinslot.wallet import Wallet
from shared.money import Price
from shared.x402.networks import Rail
from shared.x402.wire import Offer


class CappedSigner:
    """Signs for one call, after its price is reserved.

    Attributes:
        reservation: its id in the journal, from the moment that it counts.
    """

    def __init__(self, signer: Signer, endpoint: str, *, caps: Caps, journal: SpendingJournal, pins: ShopPins) -> None:
        self._signer = signer
        self._endpoint = endpoint
        self._caps = caps
        self._journal = journal
        self._pins = pins
        self.reservation: str | None = None

    @property
    def rail(self) -> Rail:
        """As Signer says."""
        return self._signer.rail

    @property
    def network(self) -> str:
        """As Signer says."""
        return self._signer.network

    @property
    def asset(self) -> str:
        """As Signer says."""
        return self._signer.asset

    @property
    def address(self) -> str:
        """As Signer says."""
        return self._signer.address

    def quote(self, offer: Offer) -> Price:
        """As Signer says."""
        return self._signer.quote(offer)

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """As Signer says. Raises CapReached, OfferDrifted, JournalUnusable: then nothing is signed."""
        price = self._signer.quote(offer)
        self._pins.check(self._endpoint, offer, price)
        self.reservation = self._journal.reserve(self._endpoint, price, self._caps, now=now)
        self._pins.record(self._endpoint, offer, price)
        try:
            return self._signer.sign(offer, now=now)
        except CoinslotError:  # of a channel: nothing is signed
            self._journal.end(self.reservation, "unsent", now=now)
            self.reservation = None
            raise


class CappedBuyer:
    """Buys calls of one server within caps. Any number of tasks may use it at the same time.

    Args:
        found: wallet, server and folder. Its `max_price` is not used: the caps have one.
        timeout_s: longest wait for one HTTP answer.
    """

    def __init__(self, found: Configuration, caps: Caps, *, timeout_s: float) -> None:
        self.caps = caps
        self.found = found
        self.pins = ShopPins(found.payments.path, found.base_url, str(found.signer.rail))
        self._journal = found.payments.journal
        self._exchange = AsyncExchange(found.base_url, timeout_s=timeout_s)

    async def call(self, endpoint: str, body: object, *, on_progress: Callable[[Progress], None] = ignore) -> Answer:
        """Buy one call. Its file is left for the caller to remove, with `answer.saved.remove()`.

        Raises:
            CoinslotError: what Buyer.call raises; CapReached, OfferDrifted, JournalUnusable.
        """
        signed: list[SignedPayment] = []
        is_saved = False
        signer = CappedSigner(self.found.signer, endpoint, caps=self.caps, journal=self._journal, pins=self.pins)

        def reservation() -> str:  # asked for when the payment's file is written
            nonlocal is_saved
            is_saved = True
            return signer.reservation or ""

        purchases = Purchases(
            base_url=self.found.base_url,
            wallet=Wallet((signer,)),
            exchange=self._exchange,
            max_price=None,
            retry_policy=RetryPolicy(),
            payments=self.found.payments,
            on_signed=signed.append,
            on_progress=on_progress,
            reservation=reservation,
        )
        try:
            answer = await purchases.call(endpoint, body, keep=True)
        except CoinslotError as error:
            await self._end(signer.reservation, _ended(error, was_sent=bool(signed)))
            raise
        except BaseException:  # cancelled: without a file, nothing else would give the reservation back
            if not is_saved:
                await self._end(signer.reservation, "unsent")
            raise
        await self._end(signer.reservation, "paid")
        return answer

    async def left(self, endpoint: str | None = None) -> Left:
        """What is left of the caps. Raises JournalUnusable."""
        return await anyio.to_thread.run_sync(
            lambda: self._journal.left(self.caps, endpoint=endpoint, now=int(time.time()))
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._exchange.aclose()

    async def _end(self, reservation: str | None, state: Ended | None) -> None:
        """A line that cannot be written leaves the reservation, which is the safe side."""
        if reservation is None or state is None:
            return
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(lambda: self._journal.end(reservation, state, now=int(time.time())))
            except JournalUnusable:
                return


def _ended(error: CoinslotError, *, was_sent: bool) -> Ended | None:
    """What became of the reservation of a call that failed; None while it is not known."""
    if error.charged is True:
        return "paid"
    if error.charged == "unknown" or error.worth_keeping:  # its file stays, and `coinslot resume` may have it charged
        return None
    return "refused" if was_sent and not isinstance(error, Unreachable) else "unsent"


def headroom(caps: Caps, left: Left) -> Decimal:
    """Most that the next call may cost, in dollars."""
    amounts = [caps.per_call, left.today, left.total, *([] if left.endpoint is None else [left.endpoint])]
    return min(amounts)
