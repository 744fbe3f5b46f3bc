"""Reads a failure from an answer: from its problem document (RFC 9457), or from its status without one."""

import math
import re
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from coinslot.errors import CallFailed, Charged, RateLimited, UnknownCall
from coinslot.exchange import Reply
from coinslot.payment import SignedPayment
from coinslot.receipt import receipt_of, shows_charge

# A proxy sends these when the server behind it broke the connection: the request may have been served.
_GATEWAY_STATUSES = (502, 503, 504)
MAX_DETAIL_CHARS = 500


def _where(said: dict[str, Any], detail: str) -> str:
    """A text that names the wrong field and similar accepted names, unless the detail does."""
    field = _text(said.get("field"))
    if not field:
        return ""
    details = said.get("details")
    first = details[0] if isinstance(details, list) and details and isinstance(details[0], dict) else {}
    suggestions = first.get("suggestions")
    names = [name for name in suggestions if isinstance(name, str)][:5] if isinstance(suggestions, list) else []
    parts = [] if _names(detail, field) else [f"field {field}"]
    if names and not any(_names(detail, name) for name in names):
        parts.append(f"did you mean {', '.join(names)}?")
    return f" ({'; '.join(parts)})"[:MAX_DETAIL_CHARS] if parts else ""


def _names(detail: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", detail) is not None


def failure(
    reply: Reply, *, url: str, request_id: str, payment: SignedPayment | None, now: float, in_doubt: bool = False
) -> CallFailed:
    """The error for an answer with another status than 200 and 402.

    Args:
        request_id: the id that we sent. An id that the server names is preferred.
        payment: the payment that was sent. Without one nothing can have been charged.
        now: Unix seconds, for a Retry-After that is a date.
        in_doubt: an earlier attempt of this payment may have been charged, whatever this answer says.
    """
    document = _document(reply)
    said = document or {}
    detail = _text(said.get("detail")) or _text(said.get("title")) or f"the server answered {reply.status}"
    charged = _charged(reply, document, payment, in_doubt=in_doubt)
    repeatable = payment is not None and (
        said.get("retryWithSamePayment") is True
        if document is not None
        # This answer does not come from the server that knows the payment.
        else reply.status in _GATEWAY_STATUSES
    )
    if where := _where(said, detail):
        detail = detail.removesuffix(".") + where
    receipt = receipt_of(reply)
    kind, hint = CallFailed, ""
    if reply.status == 404:
        kind, detail = UnknownCall, f"nothing is sold at {url}"
    elif reply.status == 429:
        kind = RateLimited
    elif 300 <= reply.status < 400:
        detail = f"the server answered {reply.status}, a redirect, and redirects are never followed"
        hint = "Use the server's own address (--url)."
    elif reply.status in (400, 413, 415) and charged is False:
        hint = "Correct the body: the server's /openapi.json has its fields."
    return kind(
        detail,
        hint=hint,
        charged=charged,
        repeatable=repeatable and reply.status >= 500,
        payment=payment,
        status=reply.status,
        request_id=request_id_of(reply) or _text(said.get("requestId")) or request_id,
        retry_after_s=_retry_after_s(reply, said, now),
        problem=document,
        receipt=receipt if payment is not None else None,
    )


def request_id_of(reply: Reply) -> str | None:
    """The id under which the server knows the request."""
    return reply.headers.get("x-request-id", "")[:128] or None


def _charged(
    reply: Reply, document: dict[str, Any] | None, payment: SignedPayment | None, *, in_doubt: bool
) -> Charged:
    if payment is None:
        return False
    if shows_charge(receipt_of(reply), payment.offer):
        return True
    # 429 comes before the settlement, from our server and from every proxy.
    said = document.get("charged") if document is not None else False if reply.status == 429 else None
    if said is True:
        return True
    return False if said is False and not in_doubt else "unknown"


def _document(reply: Reply) -> dict[str, Any] | None:
    """The body as a problem document; None for a proxy's page or another JSON."""
    try:
        document = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return document if isinstance(document, dict) and "charged" in document else None


def _text(value: object) -> str | None:
    return value[:MAX_DETAIL_CHARS] if isinstance(value, str) and value else None


def _retry_after_s(reply: Reply, said: dict[str, Any], now: float) -> float | None:
    """Seconds to wait: from the header (a number or a date), or else from the document."""
    header = reply.headers.get("retry-after", "").strip()
    if header.isascii() and header.isdigit():
        return float(header[:9])
    try:
        return max(0.0, math.ceil(parsedate_to_datetime(header).timestamp() - now))
    except (ValueError, TypeError, OverflowError):
        pass
    seconds = said.get("retryAfterSeconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e9 else None
