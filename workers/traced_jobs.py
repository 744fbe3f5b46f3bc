"""Runs each job in a span of its call's trace (shared/observability/tracing.py)."""

from __future__ import annotations

import threading
from typing import Any

from dramatiq.broker import Broker, MessageProxy
from dramatiq.middleware import Middleware

from shared.observability import tracing


class TracedJobs(Middleware):
    """The trace travels in the message's options, which actors do not see."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Dramatiq's signal, in the thread that runs the job."""
        self._thread.span = tracing.begin_job(message.options)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Dramatiq's signal, in the same thread."""
        if (span := self._thread.span) is not None:
            span.end()
