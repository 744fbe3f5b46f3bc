"""What a job answers. A worker turns a handler's return or its exception into an Outcome; the API turns that into HTTP.

    JobFailure                 a handler could not answer the question
    ├── InvalidInput           400: wrong in a way that only the world could tell (everything else is refused unpaid)
    │   └── BlockedAddress     400: it leads to an address that is not public
    ├── UpstreamFailed         502: another system failed; `reason` is one that the endpoint documents
    └── DeadlineExceeded       504: the job was stopped, or would have started, after its deadline

    Unstoppable                the work was too much and goes on in a thread that nothing stops: ends the child process it is in

A *negative answer* is not a failure: "this pattern timed out" or "this domain does not exist" is an Ok.
"""

from __future__ import annotations

import msgspec


class JobFailure(Exception):
    """Base of what a handler may raise on purpose. The text may be shown to the caller: never put a secret in it."""

    code = "internal_error"
    retryable = False

    def __init__(self, detail: str, *, reason: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason


class InvalidInput(JobFailure):
    """The request turned out to be invalid while it ran."""

    code = "invalid_body"


class BlockedAddress(InvalidInput):
    """A name, a redirect or a referral leads to an address that is not connected to."""

    code = "blocked_address"


class UpstreamFailed(JobFailure):
    """Another system failed. Repeating the same payment runs the job again, free."""

    code = "upstream_failed"
    retryable = True


class DeadlineExceeded(JobFailure):
    """The deadline passed. Repeating the same payment collects the answer, or runs the job again, free."""

    code = "deadline_exceeded"
    retryable = True


class Unstoppable(BaseException):
    """The work was too much, and only the end of the process ends it. For handlers that run in a child.

    Not an Exception, so that nothing on its way takes it for one.
    """


class Ok(msgspec.Struct, frozen=True, tag="ok", array_like=True):
    """An answer: the response body as UTF-8 JSON, encoded once in the worker."""

    body: bytes


class Failed(msgspec.Struct, frozen=True, tag="failed", array_like=True):
    """No answer.

    Args:
        code: a key of the API's failure table (`api/errors.py`).
        detail: a sentence for the caller.
        reason: the endpoint's documented reason, when there is one.
        retryable: whether the same payment may run the job again.
    """

    code: str
    detail: str
    reason: str | None = None
    retryable: bool = False


Outcome = Ok | Failed

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Outcome] = msgspec.msgpack.Decoder(Outcome)


def encode(outcome: Outcome) -> bytes:
    """The stored and wired form: MessagePack."""
    return _encoder.encode(outcome)


def decode(raw: bytes) -> Outcome:
    """Raises msgspec.DecodeError when `raw` is not an encoded outcome."""
    return _decoder.decode(raw)


def failed(failure: JobFailure) -> Failed:
    """The outcome of a failure that a handler raised."""
    # A text with a lone surrogate, say out of an upstream's page, could not be encoded.
    detail = failure.detail.encode("utf-8", "replace").decode()
    return Failed(code=failure.code, detail=detail, reason=failure.reason, retryable=failure.retryable)
