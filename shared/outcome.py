"""The results of a job. A worker converts a handler's return value or exception to an Outcome, and the API converts it to HTTP.

    JobFailure                 the handler could not answer
    ├── InvalidInput           400: the request is invalid, which only the job could find out (else it is refused unpaid)
    │   └── BlockedAddress     400: it leads to an address that is not public
    ├── UpstreamFailed         502: another system failed, or its last word is no; the endpoint documents every `reason`
    ├── Unavailable            503: something of ours that the job needs does not work
    ├── DeadlineExceeded       504: the job was stopped, or would have started, after its deadline
    └── Forbidden              500: the job did what no calculation does, and is not run again

    Unstoppable                the work continues in a thread that nothing can stop, so the child process must end

A *negative answer* is not a failure: "this pattern timed out" or "this domain does not exist" is an Ok.
"""

import msgspec

from shared.layouts import ANSWERS

UNAVAILABLE = "unavailable"
"""The code of a run that something of ours was in the way of."""


class JobFailure(Exception):
    """The base of exceptions that a handler raises on purpose. A caller may see the text: never put a secret in it."""

    code = "internal_error"
    retryable = False

    def __init__(self, detail: str, *, reason: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason


class InvalidInput(JobFailure):
    """The request was found invalid while the job ran."""

    code = "invalid_body"


class BlockedAddress(InvalidInput):
    """A name, a redirect or a referral leads to an address that may not be connected to."""

    code = "blocked_address"


class UpstreamFailed(JobFailure):
    """Another system failed. Repeating the same payment runs the job again, free of charge, unless the failure is final.

    Args:
        is_final: the other system worked, and its answer about what the caller asked for is no: a video without captions,
            a host without an address. This is stored as the answer. Never for a system that we chose ourselves and that
            does not work.
    """

    code = "upstream_failed"

    def __init__(self, detail: str, *, reason: str | None = None, is_final: bool = False) -> None:
        super().__init__(detail, reason=reason)
        self.retryable = not is_final

    def passing(self) -> "UpstreamFailed":
        """The same failure of a system that we chose ourselves: what it says of itself is never the caller's answer."""
        return UpstreamFailed(self.detail, reason=self.reason)


class Unavailable(JobFailure):
    """Something of ours that the job needs does not work now. Repeating the same payment runs the job again, free of charge."""

    code = UNAVAILABLE
    retryable = True


class DeadlineExceeded(JobFailure):
    """The deadline passed. Repeating the same payment returns the stored answer, or runs the job again, free of charge."""

    code = "deadline_exceeded"
    retryable = True


class Forbidden(JobFailure):
    """The child process of the job was killed for a system call. What took it over once would do it again."""


SERVICE_CODES = frozenset({JobFailure.code, UpstreamFailed.code, DeadlineExceeded.code, UNAVAILABLE})
"""Codes of failures that are 5xx. Any other one is an InvalidInput's."""


class Unstoppable(BaseException):
    """The work continues, and only the end of the process stops it. For handlers that run in a child process.

    It is not an Exception, so that no handler of Exceptions catches it.
    """


class Ok(msgspec.Struct, frozen=True, tag="ok", array_like=True):
    """An answer: the response body as UTF-8 JSON, encoded once in the worker."""

    body: bytes
    layout: int = ANSWERS.unnumbered


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
    layout: int = ANSWERS.unnumbered


Outcome = Ok | Failed
NOT_STORED = Failed(UNAVAILABLE, "The answer was not stored.", reason="answer_not_stored", retryable=True)
"""Of a job whose result the ledger did not take: nobody may get it, for a repeated request could get another one."""

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Outcome] = msgspec.msgpack.Decoder(Outcome)


def encode(outcome: Outcome) -> bytes:
    """Encode an outcome as MessagePack, for storing and sending."""
    return _encoder.encode(outcome)


def decode(raw: bytes) -> Outcome:
    """Decode an outcome. Raises msgspec.DecodeError when `raw` is not an encoded outcome."""
    return _decoder.decode(raw)


def failed(failure: JobFailure) -> Failed:
    """The outcome of a failure that a handler raised."""
    # A lone surrogate, for example from another system's page, could not be encoded.
    detail = failure.detail.encode("utf-8", "replace").decode()
    return Failed(code=failure.code, detail=detail, reason=failure.reason, retryable=failure.retryable)
