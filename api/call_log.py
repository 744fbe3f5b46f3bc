"""The one log line of a paid call that was refused or failed."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from api.causes import Cause
from api.errors import Charged, Problem

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CallLog:
    """What the line says of one request. Never a header, a body or a value of either.

    Attributes:
        request_id: the caller's own when it is short and plain (api/http.py).
        is_paid: whether the request carries a payment. One that does not leaves no line.
        payment_id, job_id: "" until there is one.
    """

    request_id: str
    endpoint: str
    is_paid: bool = False
    payment_id: str = ""
    job_id: str = ""

    def failed(self, problem: Problem) -> None:
        """The answer is a problem. With a traceback when the failure was not foreseen."""
        cause, failure = problem.reason or problem.code, problem.failure
        if problem.cause is not None:
            cause = problem.cause.reason
        error = "" if failure is None else f" error={failure}"
        if problem.cause is Cause.PORT_UNAVAILABLE:
            error = f" error={problem.reason}"
        if problem.cause in (Cause.UNEXPECTED, Cause.RUN_FAILED):
            self._write(logging.ERROR, problem.code, cause, problem.charged, trace=failure)
        else:
            self._write(logging.WARNING, problem.code, cause, problem.charged, error)

    def refused(self, error: str, cause: Cause) -> None:
        """The answer is a 402 after the facilitator or the chain said no.

        Args:
            error: as it stands in the challenge.
        """
        self._write(logging.WARNING, error, cause.reason, False)

    def _write(
        self, level: int, code: str, cause: str, charged: Charged, error: str = "", trace: Exception | None = None
    ) -> None:
        if not self.is_paid:
            return
        log.log(
            level,
            "paid call not answered: request=%s payment=%s job=%s endpoint=%s code=%s cause=%s charged=%s%s",
            *(self.request_id, self.payment_id or "-", self.job_id or "-", self.endpoint),
            *(code, cause, str(charged).lower(), error),
            exc_info=trace,
        )
