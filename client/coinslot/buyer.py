"""Buys calls: requests the price, pays and returns the answer. purchase.py has the steps, async_buyer.py does not block."""

import os
from collections.abc import Callable
from decimal import Decimal
from typing import Literal

from coinslot import bazaar
from coinslot.address import checked_base
from coinslot.answer import Answer
from coinslot.bazaar import Item
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.delivery import RetryPolicy
from coinslot.listed_prices import ListedPrices
from coinslot.payment import SignedPayment
from coinslot.payment_folder import PaymentFolder, SavedPayment
from coinslot.progress import Progress
from coinslot.purchase import Purchases, trust
from coinslot.state_folder import state_folder
from coinslot.wallet import Wallet

TIMEOUT_S = 35.0
"""Longest wait for one HTTP answer. The API answers within 28 s."""


class Buyer:
    """Buys calls of one server. A context manager. Two threads must not use it at the same time.

    Args:
        base_url: the server's address, as its challenges name it.
        wallet: the accounts that pay.
        max_price: most that one call may cost, in dollars. None: no limit.
        timeout_s: longest wait for one HTTP answer.
        retry_policy: how long a payment without an answer is sent again.
        payments: where payments are saved before they are sent, and what was spent is logged. "user": the folder that the
            `coinslot` command uses, too. None: nowhere, so a payment is lost with the process.
        on_signed: receives every payment before it is sent.
        on_progress: receives the price before it is paid, and every wait.
        on_unlisted: where it is given, the server's list is read, and a challenge that asks for more is refused. It is called
            when the server lists no price for a call, so that only `max_price` holds.

    Raises:
        InvalidCall: the address has the wrong form.
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
        policy = retry_policy or RetryPolicy()
        self._base_url = base_url = checked_base(base_url)
        self._exchange = BlockingExchange(base_url, timeout_s=timeout_s, sleep=policy.sleep)
        self._purchases = Purchases(
            base_url=base_url,
            wallet=wallet,
            exchange=self._exchange,
            max_price=max_price,
            retry_policy=policy,
            payments=payment_folder(payments),
            on_signed=on_signed or ignore,
            on_progress=on_progress or ignore,
            check_price=ListedPrices(self._exchange, base_url, on_unlisted).check if on_unlisted else trust,
        )

    def call(self, name: str, body: object = None, *, keep: bool = False) -> Answer:
        """Buy one call. It signs one payment at most, for the challenge that it has requested.

        Out of a channel it signs a second voucher when the server proves that the first one started too low.

        Args:
            name: ``echo``, ``chain/chain-id``.
            body: bytes are sent as they are, None sends no body, everything else is sent as JSON.
            keep: leave the saved payment on the disk until the caller removes it with `answer.saved.remove()`.

        Raises:
            CoinslotError: every branch of the tree in errors.py but WalletUnusable.
        """
        return completed(self._purchases.call(name, body, keep=keep))

    def resume(self, payment: SignedPayment | SavedPayment, *, keep: bool = False) -> Answer:
        """Send a payment with an unknown outcome again.

        Args:
            payment: of an error, or what payment_folder.claim returns for a file. It must be one of this server.
            keep: as in `call`.

        Raises:
            CoinslotError: PaymentRejected or CallFailed.
        """
        return completed(self._purchases.resume(payment, keep=keep))

    def catalogue(self) -> tuple[Item, ...]:
        """The calls that the server sells, in its order. Raises CallFailed, Unreachable."""
        return completed(bazaar.fetch(self._exchange, self._base_url))

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()

    def __enter__(self) -> "Buyer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def payment_folder(payments: PaymentFolder | Literal["user"] | None) -> PaymentFolder | None:
    """The folder that a buyer's argument means."""
    return PaymentFolder(state_folder(os.environ)) if payments == "user" else payments


def ignore(_: object) -> None:
    """Nobody wants to know."""
