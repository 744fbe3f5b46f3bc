"""Why a paid call is refused or fails, where the request itself is not wrong: a closed set.

A cause is the `reason` of the problem that the caller gets, the `cause` in the log, and one sentence. Besides these, a problem
has the reason that an endpoint documents for its 502, or none when its code and its field say all (an invalid body).
"""

import enum


class Cause(enum.Enum):
    """One cause.

    Attributes:
        reason: the word for programs: the name in lower case.
        code: a key of ERROR_KINDS (api/errors.py), or `payment_required` for a 402.
        detail: the sentence for people. No two causes have the same.
        retry_after_s: seconds until the same request with the same payment is worth a try; None when it never is, or when
            that depends on the call.
    """

    # The service cannot run the call now. Nothing is charged.
    NO_WORKER = "unavailable", "No worker serves this call now.", 2
    QUEUE_UNREADABLE = "unavailable", "The queue of this call cannot be read now.", 2
    PORT_UNAVAILABLE = "unavailable", "What this call is run with does not work now.", 2
    UPSTREAM_CLOSED = "upstream_closed", "The system that this call depends on refuses our calls now.", 30
    POOL_FULL = "pool_full", "Too many calls of this kind are waiting.", 1
    POOL_SLOW = "pool_full", "Calls of this kind wait too long now.", 1
    LONG_BODIES = "pool_full", "Too many long bodies are waiting.", 2
    # The payer calls too often. Nothing is charged.
    CALLS_IN_FLIGHT = "rate_limited", "Too many of your calls are being answered.", 1
    CALL_RATE = "rate_limited", "You call this endpoint too often.", None
    # The payment cannot be taken now.
    LEDGER_DISK_FULL = "unavailable", "The disk of the payment ledger is full.", 30
    LEDGER_FULL = "unavailable", "The payment ledger takes no new payment now.", 10
    LEDGER_UNREACHABLE = "unavailable", "The payment ledger cannot be reached. Do not pay again.", 2
    RAIL_DOWN = "unavailable", "No payment on this network can be settled now.", None
    SETTLEMENT_TOO_COSTLY = (
        "unavailable",
        "Settling a payment on this network costs too much of this price now. Other networks may be open.",
        30,
    )
    VERIFICATION_UNANSWERED = "unavailable", "The facilitator does not say whether the payment is valid.", 5
    FACILITATOR_UNREACHABLE = "unavailable", "The facilitator that settles this payment cannot be reached.", 5
    SETTLING_GIVEN_UP = (
        "unavailable",
        "The copy of this call that settled the payment could not reach the facilitator.",
        5,
    )
    # Nobody knows yet whether the payment was settled.
    SETTLEMENT_UNKNOWN = (
        "settlement_unknown",
        "It is not known yet whether the payment went through. Do not pay again.",
        2,
    )
    CLAIMED_BY_ANOTHER = (
        "settlement_unknown",
        "Another request came with this payment first, and its settlement is not decided yet.",
        2,
    )
    CHANNEL_UNREAD = "unavailable", "The channel of this payment cannot be read from its chain now.", 2
    DRIVER_MISSING = "unavailable", "This payment is known, and its call cannot be run now.", 2
    SAME_CALL = "in_progress", "The same call is still being answered.", 2
    # The payment was settled, and its call is not answered.
    SETTLEMENT_UNRECORDED = "unavailable", "The call was paid, and the payment ledger could not record it.", 2
    QUEUE_UNREACHABLE = "unavailable", "The call was paid, and the queue cannot be reached now.", 2
    ANSWER_NOT_STORED = "unavailable", "The call was paid, and the payment ledger did not take its answer.", 1
    ANSWER_LAYOUT = (
        "unavailable",
        "The call was paid, and its answer can be read by another version of this service only.",
        5,
    )
    ANSWER_LATE = "deadline_exceeded", "The answer took too long.", 3
    WORKER_KEY = "internal_error", "The call was paid, and the worker has another key than the API.", 2
    RUN_FAILED = "internal_error", "The call was paid and failed here.", 2
    REFUNDABLE = "internal_error", "This call was paid and could not be answered. The operator can refund it.", None
    REFUNDED = "internal_error", "This call was paid, could not be answered, and was refunded.", None
    UNEXPECTED = "internal_error", "Something unexpected failed. Do not pay again.", 2
    # The operator has taken the call out of what is sold. Nothing is charged.
    NOT_SOLD = "not_found", "This call is not sold here. /openapi.json lists what is.", None
    # The client's own identifier of the call names another payment.
    IDENTIFIER_OF_ANOTHER = "identifier_used", "Take another identifier for another call.", None
    IDENTIFIER_SECRET = "identifier_used", "Repeat the call with its first payment, or take another identifier.", None
    IDENTIFIER_OPEN = "in_progress", "Repeat the call with its first payment.", 2
    # The caller's connection.
    BODY_LATE = "invalid_body", "The body did not arrive in time.", None
    BODY_CUT_OFF = (
        "invalid_body",
        "The connection was closed before the body was complete, or the body has trailers, which are not taken.",
        None,
    )
    BODY_TRAILERS = "invalid_body", "The body has trailers, which are not taken: send it without.", None
    # The answer is a 402, whose body is exactly the challenge: these are in the log only.
    SETTLEMENT_REFUSED = "payment_required", "The facilitator refused to settle the payment.", None
    SETTLEMENT_REFUTED = "payment_required", "The chain shows that the payment was not made.", None
    REFUSED_BEFORE = "payment_required", "The payment was presented before and refused.", None
    VERIFICATION_REFUSED = "payment_required", "The facilitator says that the payment is not valid.", None

    def __init__(self, code: str, detail: str, retry_after_s: int | None) -> None:
        self.reason = self.name.lower()
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s
