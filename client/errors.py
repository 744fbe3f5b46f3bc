"""Everything that a call can end with instead of an answer.

    CoinslotError
    ├── InvalidCall              2  the name, the body or an option cannot be used; nothing was sent
    ├── WalletUnusable           2  there is no key, or its file has the wrong form; nothing was sent
    ├── NothingPaid              3  not paid, by decision of this side
    │   ├── ChallengeRefused        the 402 is not one that we may sign for
    │   ├── NoPayableOffer          nothing in it is an offer that the wallet can pay
    │   └── PriceTooHigh            it costs more than the buyer allowed
    ├── PaymentRejected          4  a second 402, after paying; no second payment is ever signed
    ├── CallFailed               5  another status than 200 and 402, or a lost answer
    │   ├── UnknownCall             404
    │   ├── RateLimited             429
    │   ├── UnreadableAnswer        200, but not JSON
    │   └── OutcomeUnknown          paid, then no answer came: repeat the same payment, never a new one
    └── Unreachable              6  no connection, or none that held; no payment was sent

The number is the exit code of the command.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from client.payment import SignedPayment
    from shared.money import Price

Charged = bool | Literal["unknown"]
"""Whether money was spent. "unknown" while nobody on this side can tell."""


class CoinslotError(Exception):
    """Base of all.

    Args:
        detail: a sentence that says what happened. It may quote the server, never a key.
        hint: a sentence that says what to do next.
        charged: whether this call spent money.
        repeatable: whether the same payment is worth sending again; it is never charged twice.
        payment: what was signed, once something was.
        status: of the HTTP answer that decided, when there was one.
        retry_after_s: how long the server asked to wait.
        problem: the server's problem document, as it came.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

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

    @property
    def worth_keeping(self) -> bool:
        """Whether the payment should be kept, because sending it again can still bring the answer or the truth."""
        return self.payment is not None and (self.charged == "unknown" or self.repeatable)


class InvalidCall(CoinslotError):
    """The call cannot be made as it was given. Nothing was sent."""

    code = "invalid_call"
    exit_code = 2


class WalletUnusable(CoinslotError):
    """There is no wallet to pay from, or what should hold its key has the wrong form. Nothing was sent."""

    code = "wallet_unusable"
    exit_code = 2


class NothingPaid(CoinslotError):
    """This side decided not to pay. Nothing was signed."""

    code = "refused"
    exit_code = 3


class ChallengeRefused(NothingPaid):
    """The 402 is malformed, contradicts itself, or is for another resource."""

    code = "challenge_refused"


class NoPayableOffer(NothingPaid):
    """The wallet can pay none of the offers; the detail says why, offer by offer."""

    code = "no_payable_offer"


class PriceTooHigh(NothingPaid):
    """The cheapest payable offer costs more than the buyer allowed.

    Args:
        price: what is asked.
        max_price: what was allowed, in the same unit.
    """

    code = "price_too_high"

    def __init__(self, price: Price, max_price: Decimal) -> None:
        super().__init__(
            f"the call costs {price.text()}, more than the {format(max_price, 'f')} that was allowed",
            hint=f"Allow it with --max-price {price.text()}.",
        )
        self.price = price
        self.max_price = max_price


class PaymentRejected(CoinslotError):
    """The server answered the payment with another 402.

    Args:
        reason: the server's reason, e.g. ``invalid_exact_evm_insufficient_balance``.
    """

    code = "payment_rejected"
    exit_code = 4

    def __init__(self, detail: str, *, reason: str, **rest: Any) -> None:
        super().__init__(detail, **rest)
        self.reason = reason


class CallFailed(CoinslotError):
    """The server answered with a failure, or its answer was lost; `charged` says whether it was paid for."""

    code = "call_failed"
    exit_code = 5


class UnknownCall(CallFailed):
    """The server sells nothing by this name."""

    code = "unknown_call"


class RateLimited(CallFailed):
    """Too many calls; wait `retry_after_s`. Not charged."""

    code = "rate_limited"


class UnreadableAnswer(CallFailed):
    """A 200 whose body is not JSON. `raw` is what came.

    Args:
        raw: the body.
    """

    code = "unreadable_answer"

    def __init__(self, detail: str, *, raw: bytes, **rest: Any) -> None:
        super().__init__(detail, **rest)
        self.raw = raw


class OutcomeUnknown(CallFailed):
    """The payment was sent and no answer came back. Send the same `payment` again (Buyer.resume), never a new one."""

    code = "outcome_unknown"


class Unreachable(CoinslotError):
    """No connection came about. No payment was sent."""

    code = "unreachable"
    exit_code = 6

    @property
    def worth_keeping(self) -> bool:
        """Never: what was signed did not leave, so the next call may sign anew."""
        return False
