"""Running messages in the thread that read them, and how many are read at once."""

from __future__ import annotations

from typing import Any

import dramatiq
from dramatiq.broker import Broker, MessageProxy
from dramatiq.worker import WorkerThread

from shared.scheduling import BatchScheduling

BATCH = 16
"""Messages that are read at once, and ended in one write. Of 64 in flight the API then answers some while the others are run:
6 % more of them than with one batch of 64 (measured), which would be cheaper and leave each in turn idle."""
LARGEST_BATCH = 32
"""While as many as BATCH were there BACKLOG_AFTER times in a row: this thread is what the others wait for then, and larger
batches are cheaper. A quarter more jobs a second for a caller that is never the slower one (measured, 64 in flight)."""
BACKLOG_AFTER = 4


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


class Batches:
    """Of one queue.

    Attributes:
        size: how many messages to read at once.
    """

    def __init__(self) -> None:
        self.size = BATCH
        self._full = 0
        self._largest = 0
        self._batch_scheduling = BatchScheduling(many=BATCH // 2, few=BATCH // 4)

    def size_after(self, read: int) -> int:
        """The size of the next, when so many were read."""
        self._largest = max(self._largest, read)
        self._full = self._full + 1 if read >= BATCH else 0
        self.size = LARGEST_BATCH if self._full >= BACKLOG_AFTER else BATCH
        return self.size

    def adjust_scheduling(self) -> None:
        """Judge by the largest since this was last done."""
        self._batch_scheduling.look(self._largest)
        self._largest = 0
