"""Running a message in the thread that read it."""

from __future__ import annotations

from typing import Any

import dramatiq
from dramatiq.broker import Broker, MessageProxy
from dramatiq.worker import WorkerThread


class StreamMessage(MessageProxy):
    """A message with the id of its stream entry, by which it is acknowledged."""

    def __init__(self, message: dramatiq.Message[Any], entry_id: bytes) -> None:
        super().__init__(message)
        self.message = message
        self.entry_id = entry_id


class Inline(WorkerThread):
    """Dramatiq's own way with a message, middleware and all, in the thread that read it. Never started.

    It stands in for the three things that a worker thread deals with: itself, the consumer thread and the work queue.
    """

    def __init__(self, broker: Broker, queue_name: str) -> None:
        stand_in: Any = self
        super().__init__(broker=broker, consumers={queue_name: stand_in}, work_queue=stand_in, worker_timeout=0)

    def post_process_message(self, message: MessageProxy) -> None:
        """Nothing yet: a whole batch is ended in one write."""

    def task_done(self) -> None:
        """Nothing waits for a queue."""
