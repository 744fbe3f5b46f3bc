"""What a worker does with a message that only a worker of another version can run: it leaves it to others, and fetches nothing
for a while, so that one of them gets it. Where there is none, the pool is not sold meanwhile."""

import logging
import time
from typing import Any

import dramatiq
from dramatiq.broker import Broker

from shared.queue.message import wrong_layout
from shared.queue.queue_clock import QueueClock
from shared.queue.streams import FIELD, OUTDATED_MS

log = logging.getLogger(__name__)


class Outdated:
    """Whether one consumer has met such a message lately.

    Args:
        broker: knows the actors of this version.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._until = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether nothing is to be fetched now."""
        return time.monotonic() < self._until

    def why(self, message: dramatiq.Message[Any]) -> str:
        """Why only another version can run a message; empty when this one can, or when none can."""
        if not isinstance(message.kwargs.get("deadline_ms"), int):  # it is none of ours
            return ""
        if message.actor_name not in self._broker.actors:
            return f"this version does not know {message.actor_name}"
        return wrong_layout(message.options)

    def commands(
        self, stream: str, message: dramatiq.Message[Any], content: bytes, why: str, clock: QueueClock
    ) -> list[tuple[Any, ...]]:
        """The commands that leave a message to others. It is added anew, so that its deliveries here do not count. After its
        deadline there are none: nobody waits for it, and the payment remains in the ledger.

        Args:
            content: of the message as it came.
        """
        log.error("message %s is left to other workers: %s", message.message_id, why)
        self._until = time.monotonic() + OUTDATED_MS / 1000
        is_late = message.kwargs["deadline_ms"] < clock.now_s() * 1000
        return [] if is_late else [("XADD", stream, "*", FIELD, content)]
