"""Runs messages in the thread that read them, and decides how many are read together."""

from typing import Any

import dramatiq
from dramatiq.broker import Broker, MessageProxy
from dramatiq.worker import WorkerThread

from shared.process.scheduling import BatchScheduling

BATCH = 16
"""Messages that are read together and acknowledged in one write. With 64 calls in flight the API answers some while others run,
which gives 6 % more calls a second than one batch of 64 (measured): then the API and the worker would wait for each other."""
LARGEST_BATCH = 32
"""Batch size after BACKLOG_AFTER full batches in a row. This thread is the bottleneck then, and larger batches are cheaper: a
quarter more jobs a second (measured, 64 in flight, with a fast caller)."""
BACKLOG_AFTER = 4


class StreamMessage(MessageProxy):
    """A message with the id of its stream entry, by which it is acknowledged."""

    def __init__(self, message: dramatiq.Message[Any], entry_id: bytes) -> None:
        super().__init__(message)
        self.message = message
        self.entry_id = entry_id


class Inline(WorkerThread):
    """Processes a message as Dramatiq does, with all middleware, in the thread that read it. This thread is never started.

    One object replaces the three that Dramatiq uses: the worker thread, the consumer thread and the work queue.
    """

    def __init__(self, broker: Broker, queue_name: str) -> None:
        stand_in: Any = self
        super().__init__(broker=broker, consumers={queue_name: stand_in}, work_queue=stand_in, worker_timeout=0)

    def post_process_message(self, message: MessageProxy) -> None:
        """Do nothing yet: a whole batch is acknowledged in one write."""

    def task_done(self) -> None:
        """Do nothing: there is no work queue."""


class Batches:
    """The batch size of one queue.

    Attributes:
        size: how many messages to read together.
    """

    def __init__(self) -> None:
        self.size = BATCH
        self._full = 0
        self._largest = 0
        self._batch_scheduling = BatchScheduling(many=BATCH // 2, few=BATCH // 4)

    def size_after(self, read: int) -> int:
        """The size of the next batch, after one with so many messages."""
        self._largest = max(self._largest, read)
        self._full = self._full + 1 if read >= BATCH else 0
        self.size = LARGEST_BATCH if self._full >= BACKLOG_AFTER else BATCH
        return self.size

    def adjust_scheduling(self) -> None:
        """Adjust the scheduling to the largest batch since the last call."""
        self._batch_scheduling.adjust(self._largest)
        self._largest = 0
