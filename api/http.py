"""HTTP answers of paid calls, written straight to ASGI: a typed Litestar route costs 40 us more per call (measured)."""

import random
import re
from dataclasses import dataclass

from litestar.types import Scope, Send

from api.errors import Problem

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

HeaderPairs = tuple[tuple[bytes, bytes], ...]

# Browsers may call from any origin: there are no cookies and no accounts, the payment is the only authority.
CORS: HeaderPairs = (
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, WWW-Authenticate, Retry-After, RateLimit, "
        b"RateLimit-Policy, Warnings, X-Request-Id",
    ),
)
ALLOW = (b"allow", b"POST, OPTIONS")
"""Of a paid call, and of the MCP server. A GET of a call is a 402 at most."""
PREFLIGHT: HeaderPairs = (
    (b"access-control-allow-methods", b"GET, HEAD, POST, OPTIONS"),
    # Official clients send Access-Control-Expose-Headers, which is a response header, on their requests. The last six are added
    # by HTTP clients and tracers to every request of a page; none of them means anything here.
    (
        b"access-control-allow-headers",
        b"Content-Type, PAYMENT-SIGNATURE, X-PAYMENT, X-Request-Id, Access-Control-Expose-Headers, Authorization, "
        b"Idempotency-Key, traceparent, tracestate, baggage, sentry-trace",
    ),
    (b"access-control-max-age", b"600"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. Header names are lower case."""

    status: int
    headers: HeaderPairs
    body: bytes

    def with_headers(self, headers: HeaderPairs) -> "Answer":
        """The same response with more headers."""
        return Answer(self.status, self.headers + headers, self.body)


def request_id(scope: Scope) -> str:
    """The caller's X-Request-Id when it is short and plain, or a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value.decode("ascii")
    return f"{random.getrandbits(128):032x}"  # unique is enough


def as_text(headers: HeaderPairs) -> dict[str, str]:
    """Headers as Litestar's own responses take them."""
    return {name.decode(): value.decode() for name, value in headers}


def problem_answer(problem: Problem, *, instance: str, request_id: str, base_url: str) -> Answer:
    """A failure as a response."""
    headers: HeaderPairs = ((b"content-type", b"application/problem+json"), *problem.headers)
    if problem.retry_after_s is not None:
        headers += ((b"retry-after", str(problem.retry_after_s).encode()),)
    return Answer(
        problem.kind.status, headers, problem.body(instance=instance, request_id=request_id, base_url=base_url)
    )


async def respond(send: Send, answer: Answer, *, request_id: str, head: bool = False) -> None:
    """Send a response. Nothing paid or priced is ever cached (SAFETY: a CDN that caches a paid answer gives it away)."""
    headers = [
        *answer.headers,
        *CORS,
        (b"cache-control", b"no-store, private"),
        (b"x-request-id", request_id.encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    if answer.status != 204:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else answer.body, "more_body": False})
