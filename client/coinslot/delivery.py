"""Sends the paid request, and sends the same bytes again until there is an answer or the time is over. It never signs.

| result                                                         | reaction                                         |
|----------------------------------------------------------------|--------------------------------------------------|
| 200                                                            | the answer                                       |
| 402                                                            | PaymentRejected. Nothing else is sent from here  |
| 5xx with `retryWithSamePayment`                                | wait (Retry-After), send the same again          |
| 502, 503, 504 without a problem document: from a proxy         | as if the connection had broken                  |
| no answer: refused, broken, timed out                          | wait, send the same again                        |
| anything else                                                  | CallFailed                                       |

An attempt without a definite answer may have been charged. A later refusal is then no proof that it was not:
`charged` is "unknown", and the payment should be kept. A 402 long after the payment has expired is a proof: no chain takes it
any more, and the server, which keeps answers for a day, has none for it. A voucher of a channel never expires: when the server
does not know it any more, it was not taken if it is young, and else it counts as charged.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from coinslot import challenge
from coinslot.answer import Answer, answer_of
from coinslot.errors import (
    CallFailed,
    Charged,
    CoinslotError,
    OutcomeUnknown,
    PaymentRejected,
    Unreachable,
)
from coinslot.exchange import ConnectionLost, Exchange, Reply
from coinslot.payment import HEADER, SignedPayment
from coinslot.problem import MAX_DETAIL_CHARS, failure, request_id_of
from coinslot.progress import Progress, Waiting
from coinslot.receipt import receipt_of, shows_charge
from shared.x402.evm_channel import SCHEME as CHANNEL

SETTLED_LATE_S = 600
"""How long after its expiry the server may report that a payment was settled: it looks at refused payments once more."""
ANSWERS_KEPT_S = 24 * 3600
"""How long the server keeps an answer."""
VOUCHERS_KEPT_S = 600
"""How long it keeps that to a voucher."""

_UNPAID = re.compile(r"((payment|(x-payment|payment-signature) header is)[ _]required[.]?)?", re.IGNORECASE)
"""What servers state in the 402 of a request without a payment, or nothing. In reply to a payment it refuses none: the server
has lost sight of a payment that it may have settled."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long the same payment is sent again.

    Attributes:
        budget_s: no attempt starts later than this after the first. An authorization is valid for 60 s by default.
        first_pause_s, longest_pause_s: the pause between attempts, which doubles, when the server names no time.
        clock, sleep: replaced in tests; `AsyncBuyer` waits without `sleep`.
    """

    budget_s: float = 30.0
    first_pause_s: float = 0.5
    longest_pause_s: float = 4.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


async def deliver(
    exchange: Exchange,
    payment: SignedPayment,
    *,
    request_id: str,
    retry_policy: RetryPolicy,
    on_progress: Callable[[Progress], None],
    in_doubt: bool = False,
) -> Answer:
    """Send the payment until there is an answer.

    Args:
        on_progress: receives each pause.
        in_doubt: the payment was sent before, and that attempt may have been charged.

    Raises:
        PaymentRejected: the server answered 402.
        UnreadableAnswer: the server answered 200 without JSON.
        OutcomeUnknown: the call may have been charged, and there is no answer.
        CallFailed: the server answered with another failure.
        Unreachable: no attempt reached the server, so nothing was charged.
    """
    started, pause, was_sent = retry_policy.clock(), retry_policy.first_pause_s, in_doubt
    while True:
        try:
            return await _attempt(exchange, payment, request_id=request_id, in_doubt=in_doubt, was_sent=was_sent)
        except CoinslotError as error:
            wait = max(pause, error.retry_after_s or 0.0)
            if not error.repeatable or retry_policy.clock() - started + wait > retry_policy.budget_s:
                raise
            in_doubt = in_doubt or error.charged is not False
            was_sent = was_sent or not isinstance(error, Unreachable)
            on_progress(Waiting(payment, wait, error.detail, error.transaction))
        await exchange.pause(wait)
        pause = min(pause * 2, retry_policy.longest_pause_s)


async def _attempt(
    exchange: Exchange, payment: SignedPayment, *, request_id: str, in_doubt: bool, was_sent: bool
) -> Answer:
    try:
        headers = {HEADER: payment.header, "x-request-id": request_id}
        reply = await exchange.send("POST", payment.url, payment.body, headers)
    except ConnectionLost as lost:
        raise _lost(lost, payment, request_id=request_id, was_sent=was_sent or lost.sent) from None
    if reply.status == 200:
        return answer_of(reply, payment=payment, request_id=request_id)
    if reply.status == 402:
        raise _rejected(reply, payment, request_id=request_id, in_doubt=in_doubt)
    raise failure(reply, url=payment.url, request_id=request_id, payment=payment, now=time.time(), in_doubt=in_doubt)


def _lost(lost: ConnectionLost, payment: SignedPayment, *, request_id: str, was_sent: bool) -> CallFailed | Unreachable:
    if was_sent:
        return OutcomeUnknown(
            f"the payment was sent, but {lost}",
            charged="unknown",
            repeatable=True,
            payment=payment,
            request_id=request_id,
        )
    return Unreachable(f"{payment.url}: {lost}", repeatable=True, payment=payment)


def _rejected(reply: Reply, payment: SignedPayment, *, request_id: str, in_doubt: bool) -> PaymentRejected:
    """A 402 that refuses the payment means "not charged", unless its receipt or an earlier attempt says otherwise."""
    receipt, answered = receipt_of(reply), challenge.of(reply)
    stated = answered.error[:MAX_DETAIL_CHARS] if answered else ""
    reason = (receipt.error_reason if receipt else None) or stated or "no reason given"
    age_s = time.time() - payment.signed_at
    charged: Charged
    if payment.offer.scheme == CHANNEL:
        is_forgotten = reason.endswith("cumulative_amount_mismatch")
        is_doubtful = in_doubt and not (is_forgotten and age_s < VOUCHERS_KEPT_S)
        charged = shows_charge(receipt, payment.offer) or (is_doubtful and (is_forgotten or "unknown"))
    else:
        pending = receipt is not None and (receipt.success or bool(receipt.transaction))
        is_ignored = receipt is None and _UNPAID.fullmatch(stated) is not None
        is_over = SETTLED_LATE_S < age_s - payment.offer.max_timeout_seconds < ANSWERS_KEPT_S
        charged = "unknown" if ((in_doubt or is_ignored) and not is_over) or pending else False
    hint = ""
    if "valid_before" in reason or "valid_after" in reason:
        hint = "Check this computer's clock."
    elif "insufficient" in reason:
        hint = "The wallet needs more of the asset."
    return PaymentRejected(
        f"the server refused the payment: {reason}",
        reason=reason,
        hint=hint,
        charged=charged,
        payment=payment,
        status=reply.status,
        receipt=receipt,
        challenge=answered,
        request_id=request_id_of(reply) or request_id,
    )
