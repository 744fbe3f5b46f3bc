"""What each error code means, for the address that a problem's `type` names: `/errors/<code>`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from api.causes import Cause
from api.errors import ERROR_KINDS, problem_type
from api.payment.headers import UNDECODABLE
from jobs.reasons import REASONS

PATH = "/errors"

_CORRECT = "Correct the request and send it with the same payment: it was not used, unless `charged` is true."
_LATER = "Repeat the request with the same payment after `retryAfterSeconds`. Do not sign a new one."
_AGAIN = "Repeat the request with the same payment, which is never charged twice."
_BEFORE = "Not charged."
_BEFORE_OR_LATE = (
    "Not charged when it shows before the settlement, charged when only the running call can tell: see `charged`."
)


class Explanation(NamedTuple):
    """What a code means to a caller, whether the call was charged, and what to do next."""

    meaning: str
    charged: str
    next: str


EXPLANATIONS: Mapping[str, Explanation] = {
    "invalid_payment": Explanation(
        "The payment header cannot be decoded as base64, UTF-8, JSON or a payment of x402. `reason` says which.",
        _BEFORE,
        "Send the request without a payment for its price, and send the payment in the form that the challenge asks for.",
    ),
    "invalid_json": Explanation("The body is not one JSON object in UTF-8.", _BEFORE, _CORRECT),
    "invalid_body": Explanation(
        "A field has the wrong type or value, or is missing. `field` names it, `detail` says what is expected.",
        _BEFORE_OR_LATE,
        _CORRECT,
    ),
    "unknown_field": Explanation(
        "The body has a field whose name is nearly that of a known one, or no known field at all. Other unknown fields are "
        "ignored, and named in the Warnings header. jwt-verify and webhook-sig-verify refuse every unknown field, because a "
        "check that was meant would not be made.",
        _BEFORE,
        "Take the name in `suggestions`, and send the request with the same payment.",
    ),
    "invalid_schema": Explanation(
        "The JSON Schema in the body is not one, or exceeds a limit. `detail` names the place.", _BEFORE, _CORRECT
    ),
    "remote_ref_not_allowed": Explanation(
        "A `$ref` leads out of the JSON Schema. Nothing is fetched.", _BEFORE, "Put what it refers to into `$defs`."
    ),
    "invalid_key": Explanation("The key in the body is not one of the kinds that the call takes.", _BEFORE, _CORRECT),
    "invalid_url": Explanation(
        "The URL is not one that can be called: another scheme than http and https, a user name, an invalid host.",
        _BEFORE,
        _CORRECT,
    ),
    "invalid_domain": Explanation(
        "The name is not a domain name, or not one that this call can look up.", _BEFORE_OR_LATE, _CORRECT
    ),
    "invalid_address": Explanation("The address is malformed, or its checksum is wrong.", _BEFORE, _CORRECT),
    "not_a_contract": Explanation(
        "There is no contract of the kind that the call needs at the address.",
        "Charged: only the chain could tell.",
        "Ask about another address, with a new payment. The same payment gets this answer again.",
    ),
    "blocked_address": Explanation(
        "The host, or what it resolves or redirects to, is not a public address.", _BEFORE_OR_LATE, _CORRECT
    ),
    "regex_syntax": Explanation("The pattern is not a regular expression of ECMAScript.", _BEFORE, _CORRECT),
    "not_found": Explanation("Nothing is sold at this path.", _BEFORE, "The catalogue lists every path."),
    "method_not_allowed": Explanation(
        "The path takes another method: calls are POST.", _BEFORE, "The Allow header names the methods."
    ),
    "too_large": Explanation("The body is longer than the call takes.", _BEFORE, _CORRECT),
    "unsupported_media_type": Explanation(
        "The body is not declared as JSON, or is compressed.",
        _BEFORE,
        "Send it with `Content-Type: application/json`, and without `Content-Encoding`.",
    ),
    "identifier_used": Explanation(
        "The `payment-identifier` belongs to another request of this payer.",
        "Not charged for this payment.",
        "Take another identifier for another request.",
    ),
    "rate_limited": Explanation(
        "This payer calls this endpoint more often than its rate allows, which is in RateLimit-Policy. Without a payment: this "
        "address sends too many requests.",
        _BEFORE,
        _LATER,
    ),
    "internal_error": Explanation("Something failed here.", "`charged` says whether.", _AGAIN),
    "upstream_failed": Explanation(
        "The system that the call depends on failed, or its final answer is no. `reason` says which.",
        "Charged.",
        "If `retryable` is true, repeat the request with the same payment: it is run again, free. Otherwise this is the "
        "answer, and the same payment gets it again.",
    ),
    "unavailable": Explanation(
        "A part of the service cannot take the call now.",
        "`charged` says whether. While it is unknown, never sign a new payment.",
        _LATER,
    ),
    "upstream_closed": Explanation(
        "The only system that the call depends on refuses our calls for now.", _BEFORE, _LATER
    ),
    "pool_full": Explanation("More calls of this kind wait than can be answered in time.", _BEFORE, _LATER),
    "settlement_unknown": Explanation(
        "The facilitator did not say whether the payment went through, and the chain does not show it yet.",
        "Unknown.",
        _LATER,
    ),
    "in_progress": Explanation(
        "Another copy of the same request is being answered.", "`charged` says what is known.", _LATER
    ),
    "deadline_exceeded": Explanation(
        "The answer was not ready in time.", "Charged.", "Repeat the request with the same payment to collect it, free."
    ),
}
"""One for each key of ERROR_KINDS."""


def document(code: str, base_url: str) -> dict[str, Any]:
    """The explanation of a code, as JSON."""
    kind, explained = ERROR_KINDS[code], EXPLANATIONS[code]
    return {
        "type": problem_type(code, base_url),
        "code": code,
        "status": kind.status,
        "title": kind.title,
        "meaning": explained.meaning,
        "charged": explained.charged,
        "next": explained.next,
        "retryable": kind.retryable,
        "reasons": _reasons(code),
    }


def documents(base_url: str) -> dict[str, Any]:
    """All codes, by status."""
    codes = sorted(ERROR_KINDS, key=lambda code: (ERROR_KINDS[code].status, code))
    return {"errors": [document(code, base_url) for code in codes]}


def _reasons(code: str) -> dict[str, str]:
    """The words that `reason` may have with this code, each with its sentence."""
    if code == "upstream_failed":
        return dict(REASONS)
    if code == "invalid_payment":
        return dict(UNDECODABLE)
    return {cause.reason: cause.detail for cause in Cause if cause.code == code}


class Status(NamedTuple):
    """One row. `charged`: whether the call has been paid for then."""

    status: str
    meaning: str
    charged: str
    next: str


STATUSES = (
    Status("402", "Not paid yet, or the payment was refused.", "no", "Pay what the new challenge asks for."),
    Status(
        "400", "The body is not valid; `field` names the place.", "no", "Correct it. The payment can still be used."
    ),
    Status("409", "The payment identifier belongs to another request.", "no", "Take another identifier."),
    Status("413, 415", "The body is too large, or is not JSON.", "no", "Correct it. The payment can still be used."),
    Status("429", "This payer calls this endpoint too often.", "no", "Wait, then send the same payment."),
    Status(
        "502",
        "Another system failed or said no; `reason` says which.",
        "yes",
        "If `retryable`: repeat with the same payment, free. Otherwise this is the answer.",
    ),
    Status(
        "503", "Full or down, or the settlement is not known yet.", "no, or unknown", "Repeat with the same payment."
    ),
    Status("504", "The answer took too long.", "yes", "Repeat with the same payment to fetch it, free."),
)
"""What this service answers instead of a 200, from the caller's side. Every such body but the 402 has `charged`, and the
few 400s that show only while the call runs say there that they were charged."""
