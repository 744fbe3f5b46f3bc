"""Measures the queue's clock, and notes for operators when this machine's is another."""

import os
import time

from shared.queue import queue_clock
from shared.queue.queue_clock import QueueClock
from shared.servers.redis_connection import RedisConnection


def measure(clock: QueueClock, connection: RedisConnection) -> None:
    """Ask the queue for its time. Raises redis.RedisError."""
    asked_at = time.monotonic()
    seconds, micros = connection.call("TIME")
    clock.measured(asked_at, time.monotonic(), int(seconds) + int(micros) / 1e6)
    offset_s = clock.offset_s
    if abs(offset_s) > queue_clock.MOST_OFFSET_S:
        machine = os.uname().nodename
        noted = queue_clock.note(clock.now_s(), machine, offset_s)
        connection.send(
            (("HSET", queue_clock.NOTES, machine, noted), ("EXPIRE", queue_clock.NOTES, int(queue_clock.STALE_S)))
        )
