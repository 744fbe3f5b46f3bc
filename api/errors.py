"""The only table from failure to HTTP status. Every error but the 402 is application/problem+json (RFC 9457).

A 402 body is exactly the challenge, so 402 is not in the table: see api/payment/gate.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from api.causes import Cause

Charged = bool | str
"""True, False, or "unknown" while nobody knows whether a settlement went through."""


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """What a failure code means over HTTP.

    Attributes:
        retryable: whether the same request may succeed later.
    """

    status: int
    title: str
    retryable: bool = False


ERROR_KINDS: Mapping[str, ErrorKind] = {
    "invalid_payment": ErrorKind(400, "The payment header cannot be decoded"),
    "invalid_json": ErrorKind(400, "The body is not JSON"),
    "invalid_body": ErrorKind(400, "The body is not valid"),
    "unknown_field": ErrorKind(400, "The body has a field that is not known"),
    "invalid_schema": ErrorKind(400, "The JSON Schema is not valid"),
    "remote_ref_not_allowed": ErrorKind(400, "The JSON Schema refers to another document"),
    "invalid_key": ErrorKind(400, "The key cannot be used"),
    "invalid_url": ErrorKind(400, "The URL cannot be called"),
    "invalid_domain": ErrorKind(400, "The name is not a domain name"),
    "invalid_address": ErrorKind(400, "The address is not valid"),
    "not_a_contract": ErrorKind(400, "There is no contract of this kind at the address"),
    "blocked_address": ErrorKind(400, "The address is not public"),
    "regex_syntax": ErrorKind(400, "The pattern is not a regular expression"),
    "not_found": ErrorKind(404, "There is nothing here"),
    "method_not_allowed": ErrorKind(405, "This method is not allowed here"),
    "too_large": ErrorKind(413, "The body is too large"),
    "unsupported_media_type": ErrorKind(415, "The body must be application/json, not compressed"),
    "identifier_used": ErrorKind(409, "The payment identifier belongs to another request"),
    "rate_limited": ErrorKind(429, "Too many calls of this endpoint by this payer", retryable=True),
    "internal_error": ErrorKind(500, "Something went wrong here", retryable=True),
    "upstream_failed": ErrorKind(502, "Another system failed", retryable=True),
    "unavailable": ErrorKind(503, "Not available now", retryable=True),
    "upstream_closed": ErrorKind(503, "Another system turns us away for now", retryable=True),
    "pool_full": ErrorKind(503, "Too many calls of this kind are waiting", retryable=True),
    "settlement_unknown": ErrorKind(503, "It is not known yet whether the payment went through", retryable=True),
    "in_progress": ErrorKind(503, "The same call is still being answered", retryable=True),
    "deadline_exceeded": ErrorKind(504, "The answer took too long", retryable=True),
}


@dataclass(eq=False, kw_only=True)  # not frozen: Python itself sets attributes of an exception on its way
class Problem(Exception):
    """A failure on its way to the caller.

    Attributes:
        code: a key of ERROR_KINDS.
        detail: a sentence for the caller; never a secret, never a value out of a body.
        charged: whether the payment of this request was settled.
        retry_same_payment: the caller may repeat the request with the same payment header, which is not charged again.
        retry_after_s: seconds, for the Retry-After header.
        reason: of the cause, or the one that an endpoint documents.
        cause: None when the code and the field say all.
        failure: what happened, for the log only.
    """

    code: str
    detail: str
    charged: Charged = False
    retryable: bool | None = None
    retry_same_payment: bool = False
    retry_after_s: int | None = None
    reason: str | None = None
    field: str | None = None
    details: tuple[Mapping[str, Any], ...] = ()
    headers: tuple[tuple[bytes, bytes], ...] = ()
    cause: Cause | None = None
    failure: Exception | None = None

    @property
    def kind(self) -> ErrorKind:
        """The row of ERROR_KINDS."""
        return ERROR_KINDS[self.code]

    def body(self, *, instance: str, request_id: str, base_url: str = "") -> bytes:
        """The problem+json document.

        Args:
            base_url: public address of the API, for `type`, which is an address on this server without it.
        """
        kind = self.kind
        return msgspec.json.encode(
            {
                "type": problem_type(self.code, base_url),
                "title": kind.title,
                "status": kind.status,
                "detail": self.detail,
                "instance": instance,
                "ok": False,
                "error": self.code,
                "code": self.code,
                "reason": self.reason,
                "field": self.field,
                "details": list(self.details),
                "requestId": request_id,
                "retryable": kind.retryable if self.retryable is None else self.retryable,
                "retryAfterSeconds": self.retry_after_s,
                "charged": self.charged,
                "retryWithSamePayment": self.retry_same_payment,
            }
        )


def problem_type(code: str, base_url: str) -> str:
    """The address of the page that explains a code."""
    return f"{base_url}/errors/{code}"


def problem_of(
    cause: Cause,
    *,
    charged: Charged = False,
    failure: Exception | None = None,
    retry_after_s: int | None = None,
    reason: str | None = None,
) -> Problem:
    """The problem of a cause. The same request with the same payment gets over it, unless the cause never passes.

    Args:
        failure: what happened, for the log.
        retry_after_s: where it depends on the call.
        reason: a narrower word than the cause's own.
    """
    after_s = cause.retry_after_s if retry_after_s is None else retry_after_s
    return Problem(
        code=cause.code,
        detail=cause.detail,
        charged=charged,
        retry_same_payment=after_s is not None,
        retry_after_s=after_s,
        reason=reason or cause.reason,
        cause=cause,
        failure=failure,
    )
