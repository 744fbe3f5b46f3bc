"""The errors that a call can end with.

    CoinslotError
    ├── InvalidCall              2  the name, the body or an option cannot be used; nothing was sent
    │   └── PaymentInUse            another process waits for the answer to this payment
    ├── WalletUnusable           2  there is no key, or its file has the wrong form; nothing was sent
    ├── NothingPaid              3  the buyer's side decided not to pay
    │   ├── ChallengeRefused        the 402 is not one that we may sign for
    │   ├── NoPayableOffer          the wallet can pay none of its offers
    │   ├── PriceTooHigh            it costs more than the buyer allowed
    │   ├── PriceAboveList          it costs more than the server's own list says
    │   ├── PaymentNotSaved         the payment could not be saved, so it was not sent
    │   ├── CapReached              it costs more than is left of one of the buyer's caps
    │   ├── OfferDrifted            it is not the network, asset, recipient or price of the first use
    │   ├── JournalUnusable         what was reserved under the caps cannot be read or written
    │   ├── ChannelUnusable         the file of a channel cannot be read or written
    │   └── DepositUnderWay         another process makes a deposit now
    ├── PaymentRejected          4  a 402 after paying; only a channel's voucher is corrected, once
    ├── CallFailed               5  another status than 200 and 402, or a lost answer
    │   ├── UnknownCall             404
    │   ├── RateLimited             429
    │   ├── UnreadableAnswer        200, but not JSON
    │   └── OutcomeUnknown          paid, then no answer came: repeat the same payment, never a new one
    └── Unreachable              6  no connection, or a broken one; no payment was sent

The number is the exit code of the command.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from coinslot.payment import SignedPayment
    from shared.money import Price
    from shared.x402.wire import Challenge, Settlement

Charged = bool | Literal["unknown"]
"""Whether money was spent. "unknown": this side cannot know it yet."""


class CoinslotError(Exception):
    """Base of all errors.

    Args:
        detail: a sentence that says what happened. It may quote the server, never a key.
        hint: a sentence that says what to do next.
        charged: whether this call spent money.
        repeatable: whether sending the same payment again is useful. It is never charged twice.
        payment: the signed payment, if there is one.
        status: of the HTTP answer that caused the error, if there was one.
        retry_after_s: how long the server asks to wait.
        problem: the server's problem document, unchanged.
        receipt: of the settlement, if the server sent one.

    Attributes:
        saved: the file of the payment, when it is worth sending again and was saved.
    """

    code: ClassVar[str] = "error"
    """Of a class that names none: its own name, as in `payment_in_use`."""
    exit_code: ClassVar[int] = 1
    _next_step: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if "code" not in vars(cls):
            cls.code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(
        self,
        detail: str,
        *,
        hint: str = "",
        charged: Charged = False,
        repeatable: bool = False,
        payment: SignedPayment | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_s: float | None = None,
        problem: dict[str, Any] | None = None,
        receipt: Settlement | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.charged = charged
        self.repeatable = repeatable
        self.payment = payment
        self.status = status
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        self.problem = problem
        self.receipt = receipt
        self.saved: Path | None = None

    @property
    def transaction(self) -> str:
        """Of the settlement; empty when the server named none."""
        return self.receipt.transaction if self.receipt else ""

    @property
    def next_step(self) -> str:
        """What a person does next, when there is no better hint."""
        return self._next_step

    @property
    def sentences(self) -> str:
        """What happened and what to do, in one text."""
        return f"{self.detail}. {self.hint}".strip()

    @property
    def worth_keeping(self) -> bool:
        """Whether the payment should be kept: sending it again can bring the answer, or show that nothing was charged."""
        return self.payment is not None and (self.charged == "unknown" or self.repeatable)


class InvalidCall(CoinslotError):
    """The name, the body or an option of the call is wrong. Nothing was sent."""

    exit_code = 2


class PaymentInUse(InvalidCall):
    """Another process waits for the answer to this payment."""


class WalletUnusable(CoinslotError):
    """There is no wallet, or its key file has the wrong form. Nothing was sent."""

    exit_code = 2


class NothingPaid(CoinslotError):
    """This side decided not to pay. Nothing was signed."""

    code = "refused"
    exit_code = 3


class ChallengeRefused(NothingPaid):
    """The 402 is malformed, contradicts itself, or is for another resource."""

    _next_step = "Look at the challenge with --show-challenge, and report it to the server's operator."


class NoPayableOffer(NothingPaid):
    """The wallet can pay none of the offers; the detail says why, offer by offer."""

    _next_step = "Choose another --rail: --show-challenge shows the offers."


class PriceTooHigh(NothingPaid):
    """The cheapest payable offer costs more than the buyer allowed.

    Args:
        price: of the offer.
        max_price: the limit, in the same unit.
    """

    def __init__(self, price: Price, max_price: Decimal) -> None:
        super().__init__(
            f"the call costs {price.text()}, more than the {format(max_price, 'f')} that was allowed",
            hint=f"Allow it with --max-price {price.text()}.",
        )
        self.price = price
        self.max_price = max_price


class PriceAboveList(NothingPaid):
    """The challenge asks for more than the server's own list (listed_prices.py)."""

    code = "price_above_list"
    _next_step = "The server may be changing its prices: see `coinslot catalogue`, and call again."

    @classmethod
    def of(cls, name: str, price: Price, listed: str) -> PriceAboveList:
        """Of a call.

        Args:
            listed: what the server says elsewhere.
        """
        return cls(f"the server asks for {price.text()} dollars for {name}, and {listed}: nothing is signed")


class PaymentNotSaved(NothingPaid):
    """The payment could not be saved, so it was not sent: after a crash nobody could have fetched its answer."""


class CapReached(NothingPaid):
    """The call costs more than is left of a cap (spending_caps.py). The detail says how much is left."""

    _next_step = "Only the owner's configuration changes the caps."


class OfferDrifted(NothingPaid):
    """The offer is not what was pinned at the first use of the server (shop_pins.py)."""


class JournalUnusable(NothingPaid):
    """The journal of reservations (spending_journal.py) is damaged, was replaced, or cannot be written."""


class ChannelUnusable(NothingPaid):
    """What was signed for channels (channel_store.py) cannot be read or written."""


class DepositUnderWay(NothingPaid):
    """Another process makes a deposit, after which this call may need none."""


class PaymentRejected(CoinslotError):
    """The server answered the payment with another 402.

    Args:
        reason: the server's reason, e.g. ``invalid_exact_evm_insufficient_balance``.
        challenge: that of the 402, when it can be read: with the state of a channel, it tells what to sign.
    """

    exit_code = 4
    _next_step = "Check the account with `coinslot wallet`, and call again."

    def __init__(self, detail: str, *, reason: str, challenge: Challenge | None = None, **rest: Any) -> None:
        super().__init__(detail, **rest)
        self.reason = reason
        self.challenge = challenge


class CallFailed(CoinslotError):
    """The server answered with a failure, or its answer was lost. `charged` says whether the call was charged."""

    exit_code = 5

    @property
    def is_final(self) -> bool:
        """Whether the same call would fail again, as far as the server says: in its document, or by the status."""
        retryable = (self.problem or {}).get("retryable")
        if isinstance(retryable, bool):
            return not retryable
        return self.status is not None and self.status < 500 and self.status != 429

    @property
    def next_step(self) -> str:
        """Calling again is for what may pass."""
        ask = "ask the server's operator" + (" with the request's id" if self.request_id else "")
        if self.is_final:
            return f"{ask.capitalize()}."
        when = f"Wait {self.retry_after_s:g} s and call again" if self.retry_after_s else "Call again later"
        return f"{when}, or {ask}."


class UnknownCall(CallFailed):
    """The server has no call of this name."""


class RateLimited(CallFailed):
    """Too many calls; wait `retry_after_s`. Not charged."""


class UnreadableAnswer(CallFailed):
    """An answer with status 200 whose body is not JSON.

    Args:
        raw: the body as it was sent.
    """

    def __init__(self, detail: str, *, raw: bytes, **rest: Any) -> None:
        super().__init__(detail, **rest)
        self.raw = raw


class OutcomeUnknown(CallFailed):
    """The payment was sent and there is no answer. Send the same `payment` again (Buyer.resume), never a new one."""


class Unreachable(CoinslotError):
    """The server could not be reached. No payment was sent."""

    exit_code = 6
    _next_step = "Check the server's address (--url) and the network, and call again."

    @property
    def worth_keeping(self) -> bool:
        """Never: the signed payment was not sent, so the next call may sign a new one."""
        return False
