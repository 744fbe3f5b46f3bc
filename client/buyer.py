"""Buys a call: requests the price, pays and returns the answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from decimal import Decimal
from types import TracebackType

import msgspec

from client import payment as payments
from client.address import call_url, checked_base
from client.answer import Answer
from client.challenge import Quote
from client.delivery import RetryPolicy, deliver
from client.errors import InvalidCall
from client.exchange import Exchange
from client.payment import SignedPayment
from client.request_challenge import request_challenge
from client.wallet import Wallet


class Buyer:
    """Buys calls of one server. A context manager. Two threads must not use it at the same time.

    Args:
        base_url: the server's address, as its challenges name it.
        wallet: the accounts that pay.
        max_price: most that one call may cost, in dollars. None: no limit.
        timeout_s: longest wait for one HTTP answer. The API answers within 28 s.
        retry_policy: how long a payment without an answer is sent again.
        on_signed: receives every payment before it is sent, so that the caller can save it.

    Raises:
        InvalidCall: the address has the wrong form.
    """

    def __init__(
        self,
        base_url: str,
        wallet: Wallet,
        *,
        max_price: Decimal | None,
        timeout_s: float = 35.0,
        retry_policy: RetryPolicy | None = None,
        on_signed: Callable[[SignedPayment], None] | None = None,
    ) -> None:
        self._base_url = checked_base(base_url)
        self._wallet = wallet
        self._max_price = max_price
        self._retry_policy = retry_policy or RetryPolicy()
        self._on_signed = on_signed
        self._exchange = Exchange(self._base_url, timeout_s=timeout_s)

    def call(self, name: str, body: object = None) -> Answer:
        """Buy one call. It signs one payment at most, for the challenge that it has requested.

        Args:
            name: ``echo``, ``chain/chain-id``.
            body: bytes are sent as they are, None sends no body, everything else is sent as JSON.

        Raises:
            CoinslotError: every branch of the tree in client/errors.py but WalletUnusable.
        """
        url, content, request_id = call_url(self._base_url, name), _content(body), uuid.uuid4().hex
        quote = request_challenge(self._exchange, url, content, request_id=request_id)
        if isinstance(quote, Answer):
            return quote
        payment = self._pay(quote, url, content)
        if self._on_signed is not None:
            self._on_signed(payment)
        return deliver(self._exchange, payment, request_id=request_id, retry_policy=self._retry_policy)

    def resume(self, payment: SignedPayment) -> Answer:
        """Send a payment with an unknown outcome again. Raises what `deliver` raises."""
        return deliver(
            self._exchange, payment, request_id=uuid.uuid4().hex, retry_policy=self._retry_policy, in_doubt=True
        )

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()

    def __enter__(self) -> Buyer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _pay(self, quote: Quote, url: str, content: bytes | None) -> SignedPayment:
        """Check everything, then sign. Raises NothingPaid."""
        quote.check_resource(url)
        choice = self._wallet.choose(quote.challenge.accepts, max_price=self._max_price)
        header = payments.encode(
            choice.offer,
            choice.signer.sign(choice.offer, now=int(time.time())),
            resource=quote.document["resource"],
            extensions=quote.document.get("extensions", {}),
        )
        return SignedPayment(
            url=url, body=content, header=header, offer=choice.offer, price=choice.price, asset=choice.signer.asset
        )


def _content(body: object) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InvalidCall("the body cannot be written as JSON") from None
