"""A Dramatiq broker on Redis Streams: consumers block until there is work, and nothing polls.

Dramatiq's own Redis broker polls an empty queue with a back-off of up to a second, which costs a blocking caller 260 to
470 ms (median, measured on two cores). Here XADD enqueues, XREADGROUP BLOCK wakes one waiting consumer, and one write replies
to the caller and removes the message. Actors, middleware, message format and the `dramatiq` command are Dramatiq's.

There are no delay queues: a job of a waiting caller is never delayed. Delivery is at least once: another consumer claims a
message that its consumer has not renewed for `LEASE_MS`, so a job may run twice; the first result wins (workers/answers.py).
"""

import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import dramatiq
from dramatiq.broker import Broker, Consumer
from dramatiq.errors import QueueJoinTimeout, QueueNotFound
from dramatiq.middleware import Middleware
from dramatiq.worker import Worker

from shared.queue.queue_clock import QueueClock
from shared.queue.streams import FIELD, stream_key
from shared.servers.redis_connection import connect
from workers.queue.consumer import ReplySource, StreamConsumer

INLINE = "inline"
"""Actor option: run the message in the thread that reads the queue. That has twice the throughput of worker threads, for jobs
of less than a millisecond that wait for nothing; a job of 20 ms would delay every other job by 20 ms. All actors of a queue
set it, or none does."""


class StopFetching(Middleware):
    """Stops the consumers of a worker that shuts down: Dramatiq lets them fetch jobs that the worker will not run."""

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        assert isinstance(broker, StreamBroker)
        broker.stop_fetching()


class StreamBroker(Broker):
    """Dramatiq broker on Redis Streams. One per process.

    Args:
        url: the queue Redis.
        middleware: every middleware, in order. Dramatiq's default middleware is not added.
        outbox: where the replies come from; without one, finished messages are only removed.
        batched: queues whose messages are read and acknowledged up to LINGER_S later, for fewer and larger writes.
        unavailable_reason: why no message of a queue can be run now, "" when one can (workers/port_lifecycle.py).

    Attributes:
        clock: of the queue, measured before the first message is read and from then on.
    """

    def __init__(
        self,
        url: str,
        *,
        middleware: list[Middleware],
        outbox: ReplySource | None = None,
        batched: Collection[str] = (),
        unavailable_reason: Callable[[str], str] = lambda queue_name: "",
    ) -> None:
        self._signals: set[str] = set()
        super().__init__(middleware=middleware)
        self.actor_options.add(INLINE)
        self.client = connect(url)
        self.outbox = outbox
        self.clock = QueueClock()
        self._url = url
        self._batched = batched
        self._unavailable_reason = unavailable_reason
        self._consumers: list[StreamConsumer] = []

    def close(self) -> None:
        """Close every connection."""
        self.client.close()
        for consumer in self._consumers:
            consumer.disconnect()

    def stop_fetching(self) -> None:
        """Fetch nothing more, for a worker that shuts down. Fetched messages are run or given back."""
        for consumer in self._consumers:
            consumer.is_stopping = True

    def add_middleware(self, middleware: Middleware, **place: Any) -> None:
        """Add a middleware."""
        super().add_middleware(middleware, **place)
        self._signals |= {
            name for name in dir(Middleware) if getattr(type(middleware), name) is not getattr(Middleware, name)
        }

    def emit_before(self, signal: str, *args: Any, **kwargs: Any) -> None:
        """Tell every middleware, if one handles the signal: calling each of them costs 3 us a message."""
        if f"before_{signal}" in self._signals:
            super().emit_before(signal, *args, **kwargs)

    def emit_after(self, signal: str, *args: Any, **kwargs: Any) -> None:
        """See emit_before."""
        if f"after_{signal}" in self._signals:
            super().emit_after(signal, *args, **kwargs)

    def declare_actor(self, actor: dramatiq.Actor[Any, Any]) -> None:
        """Declare an actor. Raises ValueError when it is inline and others of its queue are not, or the reverse."""
        for other in self.actors.values():
            if other.queue_name == actor.queue_name and _is_inline(other) is not _is_inline(actor):
                raise ValueError(f"{actor.actor_name}: all actors of {actor.queue_name} are inline, or none is")
        super().declare_actor(actor)

    def declare_queue(self, queue_name: str) -> None:
        """Declare a queue. Idempotent; Redis is not asked."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> Consumer:
        """A consumer holding at most `prefetch` unfinished messages. Raises QueueNotFound for an undeclared queue."""
        self._require(queue_name)
        is_inline = any(actor.queue_name == queue_name and _is_inline(actor) for actor in self.actors.values())
        consumer = StreamConsumer(
            self,
            self._url,
            queue_name,
            prefetch=prefetch,
            timeout_ms=timeout,
            is_inline=is_inline,
            is_batched=queue_name in self._batched,
            outbox=self.outbox,
            clock=self.clock,
            unavailable_reason=partial(self._unavailable_reason, queue_name),
        )
        self._consumers.append(consumer)
        return consumer

    def enqueue(self, message: dramatiq.Message[Any], *, delay: int | None = None) -> dramatiq.Message[Any]:
        """Add a message. Raises ValueError for a delay, which this broker does not have, and redis.RedisError."""
        if delay is not None:
            raise ValueError("this broker does not delay messages")
        self._require(message.queue_name)
        self.emit_before("enqueue", message, delay)
        self.client.xadd(stream_key(message.queue_name), {FIELD: message.encode()})
        self.emit_after("enqueue", message, delay)
        return message

    def flush(self, queue_name: str) -> None:
        """Drop all messages of a queue, running ones included."""
        self._require(queue_name)
        self.client.delete(stream_key(queue_name))

    def flush_all(self) -> None:
        """Drop all messages of every declared queue."""
        for queue_name in self.queues:
            self.flush(queue_name)

    def join(self, queue_name: str, *, timeout: int | None = None) -> None:
        """Wait until a queue has neither waiting nor running messages. For tests.

        Raises:
            QueueJoinTimeout: after `timeout` milliseconds.
        """
        self._require(queue_name)
        deadline = None if timeout is None else time.monotonic() + timeout / 1000
        while self.client.xlen(stream_key(queue_name)):
            if deadline is not None and time.monotonic() >= deadline:
                raise QueueJoinTimeout(queue_name)  # type: ignore[no-untyped-call]
            time.sleep(0.01)

    def _require(self, queue_name: str) -> None:
        if queue_name not in self.queues:
            raise QueueNotFound(queue_name)  # type: ignore[no-untyped-call]


def _is_inline(actor: dramatiq.Actor[Any, Any]) -> bool:
    return bool(actor.options.get(INLINE))
