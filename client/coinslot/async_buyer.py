"""Buyer for asyncio and trio: the same steps, over an exchange that does not block."""

from collections.abc import Callable
from decimal import Decimal
from typing import Literal

from coinslot import bazaar
from coinslot.address import checked_base
from coinslot.answer import Answer
from coinslot.async_exchange import AsyncExchange
from coinslot.bazaar import Item
from coinslot.buyer import TIMEOUT_S, ignore, payment_folder
from coinslot.delivery import RetryPolicy
from coinslot.listed_prices import ListedPrices
from coinslot.payment import SignedPayment
from coinslot.payment_folder import PaymentFolder, SavedPayment
from coinslot.progress import Progress
from coinslot.purchase import Purchases, trust
from coinslot.wallet import Wallet


class AsyncBuyer:
    """Buyer for asyncio and trio, with the same arguments. Any number of tasks may use it at the same time.

    Signers that ask a node, and the disk, are waited for in threads.
    """

    def __init__(
        self,
        base_url: str,
        wallet: Wallet,
        *,
        max_price: Decimal | None,
        timeout_s: float = TIMEOUT_S,
        retry_policy: RetryPolicy | None = None,
        payments: PaymentFolder | Literal["user"] | None = "user",
        on_signed: Callable[[SignedPayment], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_unlisted: Callable[[], None] | None = None,
    ) -> None:
        self._base_url = base_url = checked_base(base_url)
        self._exchange = AsyncExchange(base_url, timeout_s=timeout_s)
        self._purchases = Purchases(
            base_url=base_url,
            wallet=wallet,
            exchange=self._exchange,
            max_price=max_price,
            retry_policy=retry_policy or RetryPolicy(),
            payments=payment_folder(payments),
            on_signed=on_signed or ignore,
            on_progress=on_progress or ignore,
            check_price=ListedPrices(self._exchange, base_url, on_unlisted).check if on_unlisted else trust,
        )

    async def call(self, name: str, body: object = None, *, keep: bool = False) -> Answer:
        """As Buyer.call."""
        return await self._purchases.call(name, body, keep=keep)

    async def resume(self, payment: SignedPayment | SavedPayment, *, keep: bool = False) -> Answer:
        """As Buyer.resume."""
        return await self._purchases.resume(payment, keep=keep)

    async def catalogue(self) -> tuple[Item, ...]:
        """As Buyer.catalogue."""
        return await bazaar.fetch(self._exchange, self._base_url)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._exchange.aclose()

    async def __aenter__(self) -> "AsyncBuyer":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
