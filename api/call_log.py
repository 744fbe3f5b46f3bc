"""The one log line of a paid call: of one that was refused or failed, and, where that is wished, of one that was answered."""

import logging
import time
from dataclasses import dataclass, field
from typing import Literal, Protocol

from api.causes import Cause
from api.errors import Charged, Problem
from shared.endpoint import Fault
from shared.observability.logs import Event
from shared.observability.status import Result
from shared.observability.tracing import ActiveSpan

log = logging.getLogger(__name__)


class Watch(Protocol):
    """Notices that a caller hangs up (api/undelivered.py)."""

    async def end(self, *, is_final: bool) -> None: ...


@dataclass(slots=True)
class CallLog:
    """What the line says of one request. Never a header, a body or a value of either.

    Attributes:
        request_id: the caller's own when it is short and plain (api/http.py).
        is_paid: whether the request carries a payment. One that does not leaves no line.
        payment_id, job_id, rail: "" until there is one.
        cause: why it was not answered; of a closed set.
        span: of the call's trace; None where calls are not traced.
        fault: whose it is that a charged call is not answered (shared/endpoint.py). Otherwise "". Not in the line.
        deposit: the settlement of a deposit into a channel, as JSON, once it was made. Not in the line.
        receipt: the settlement as JSON, once it is known that the call was charged. Not in the line.
        ignored: fields of the body that the endpoint does not know. Not in the line: they are the caller's words.
        is_first: whether this request made the payment known, so that it is the first one of its call. Not in the line.
        watch: notices that the caller hangs up. Not in the line.
        is_failed: whether the call is charged and will never be answered. Not in the line.
        result: how the call ended, for /status; None of what is not counted there. Not in the line.
        began: monotonic seconds.
    """

    request_id: str
    endpoint: str
    is_paid: bool = False
    payment_id: str = ""
    job_id: str = ""
    rail: str = ""
    cause: str = ""
    fault: Fault | Literal[""] = ""
    span: ActiveSpan | None = None
    receipt: bytes = b""
    deposit: bytes = b""
    ignored: tuple[str, ...] = ()
    is_first: bool = False
    watch: Watch | None = None
    is_failed: bool = False
    result: Result | None = None
    began: float = field(default_factory=time.monotonic)

    def answered(self) -> None:
        """The answer is a 200."""
        took_ms = round((time.monotonic() - self.began) * 1000, 1)
        ids = {"request": self.request_id, "payment": self.payment_id, "job": self.job_id or None}
        log.info(Event("paid call answered", **ids, endpoint=self.endpoint, ms=took_ms))

    def failed(self, problem: Problem) -> None:
        """The answer is a problem. With a traceback when the failure was not foreseen."""
        cause, failure = problem.reason or problem.code, problem.failure
        if problem.cause is not None:
            cause = problem.cause.reason
        self.cause = cause
        self.is_failed = problem.charged is True and not problem.retry_same_payment
        error = None if failure is None else str(failure)
        if problem.cause is Cause.PORT_UNAVAILABLE:
            error = problem.reason
        if problem.cause in (Cause.UNEXPECTED, Cause.RUN_FAILED):
            self._write(logging.ERROR, problem.code, cause, problem.charged, trace=failure)
        else:
            self._write(logging.WARNING, problem.code, cause, problem.charged, error)

    def refused(self, error: str, cause: Cause) -> None:
        """The answer is a 402 after the facilitator or the chain said no.

        Args:
            error: as it stands in the challenge.
        """
        self.cause = cause.reason
        self._write(logging.WARNING, error, cause.reason, False)

    def _write(
        self,
        level: int,
        code: str,
        cause: str,
        charged: Charged,
        error: str | None = None,
        trace: Exception | None = None,
    ) -> None:
        if not self.is_paid:
            return
        log.log(
            level,
            Event(
                "paid call not answered",
                request=self.request_id,
                payment=self.payment_id or None,
                job=self.job_id or None,
                endpoint=self.endpoint,
                code=code,
                cause=cause,
                charged=charged,
                **({} if error is None else {"error": error}),
            ),
            exc_info=trace,
        )
