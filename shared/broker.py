"""A Dramatiq broker on Redis Streams: consumers block until there is work, and nothing polls.

Dramatiq's own Redis broker polls an empty queue with a back-off of up to a second, which costs a blocking caller 260 to
470 ms (median, measured on two cores). Here XADD enqueues, XREADGROUP BLOCK wakes one waiting consumer, and XACK with XDEL
ends a job. Everything else is stock: actors, middleware, message format, the `dramatiq` command.

There are no delay queues: a job of a waiting caller is never put off. At-least-once: entries that their consumer has not
renewed for `LEASE_MS` are claimed by another, so a job may run twice; the first result wins (shared/answers.py).
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable
from typing import Any

import dramatiq
import redis
from dramatiq.broker import Broker, Consumer, MessageProxy
from dramatiq.errors import QueueJoinTimeout, QueueNotFound
from dramatiq.middleware import Middleware
from dramatiq.worker import Worker
from redis.exceptions import RedisError, ResponseError

from shared.connections import connect
from shared.streams import FIELD, GROUP, LEASE_MS, stream_key

_RENEW_S = 1.0
_RECONNECT_S = 0.1
LONGEST_BLOCK_MS = 5_000


class StopFetching(Middleware):
    """Dramatiq keeps the consumers of a worker that finishes its jobs: they would take jobs that it will not run."""

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        assert isinstance(broker, StreamBroker)
        broker.stop_fetching()


class StreamMessage(MessageProxy):
    """A message with the id of its stream entry, by which it is acknowledged."""

    def __init__(self, message: dramatiq.Message[Any], entry_id: bytes) -> None:
        super().__init__(message)
        self.entry_id = entry_id


class StreamBroker(Broker):
    """Dramatiq broker on Redis Streams. One per process.

    Args:
        url: the queue Redis.
        middleware: every middleware, in order: none is added behind the reader's back.
    """

    def __init__(self, url: str, *, middleware: list[Middleware]) -> None:
        super().__init__(middleware=middleware)
        self.client = connect(url)
        self._blocking = connect(url, longest_block_s=LONGEST_BLOCK_MS / 1000)
        self._consumers: list[StreamConsumer] = []

    def close(self) -> None:
        """Close every connection."""
        self.client.close()
        self._blocking.close()

    def stop_fetching(self) -> None:
        """For a worker that shuts down: what it has fetched is run or given back, and nothing more is fetched."""
        for consumer in self._consumers:
            consumer.is_stopping = True

    def declare_queue(self, queue_name: str) -> None:
        """Declare a queue. Idempotent; Redis is not asked."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> Consumer:
        """A consumer holding at most `prefetch` unfinished messages. Raises QueueNotFound for an undeclared queue."""
        self._require(queue_name)
        consumer = StreamConsumer(self.client, self._blocking, queue_name, prefetch=prefetch, timeout_ms=timeout)
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


class StreamConsumer(Consumer):
    """Iterates over the messages of one queue; None whenever `timeout_ms` passed without one.

    The consumer thread iterates while worker threads acknowledge, so what they share is behind one condition. A lost
    connection is waited out here: Dramatiq would stop the consumer for three seconds.
    """

    def __init__(
        self, client: redis.Redis, blocking: redis.Redis, queue_name: str, *, prefetch: int, timeout_ms: int
    ) -> None:
        self.is_stopping = False
        self._client = client
        self._blocking = blocking
        self._stream = stream_key(queue_name)
        self._prefetch = prefetch
        self._timeout_ms = min(timeout_ms, LONGEST_BLOCK_MS)
        self._name = uuid.uuid4().hex
        self._fetched: deque[StreamMessage] = deque()
        self._held: set[bytes] = set()
        self._room = threading.Condition()
        self._renewed_at = 0.0

    def __next__(self) -> StreamMessage | None:
        """The next message, or None."""
        if self._fetched and not self.is_stopping:
            return self._fetched.popleft()
        try:
            if time.monotonic() - self._renewed_at >= _RENEW_S:
                self._renew_and_take_over()
            if self.is_stopping:
                self._give_back()
                time.sleep(self._timeout_ms / 1000)
            elif not self._fetched:
                self._read()
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._create_group()
        except RedisError:
            time.sleep(_RECONNECT_S)
        return self._fetched.popleft() if self._fetched and not self.is_stopping else None

    def ack(self, message: MessageProxy) -> None:
        """The message is done: remove it."""
        assert isinstance(message, StreamMessage)
        try:
            with self._client.pipeline(transaction=False) as pipe:
                pipe.xack(self._stream, GROUP, message.entry_id)
                pipe.xdel(self._stream, message.entry_id)
                pipe.execute()
        except RedisError:
            # The entry stays pending and is claimed again later: the job runs twice and its first result wins.
            pass
        finally:
            self._release(message)

    def nack(self, message: MessageProxy) -> None:
        """Drop a message that failed. There is no dead-letter queue: the failure is the caller's answer already."""
        self.ack(message)

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Give messages that were fetched and not started to another consumer, at once."""
        for message in messages:
            assert isinstance(message, StreamMessage)
            try:
                with self._client.pipeline(transaction=True) as pipe:
                    pipe.xadd(self._stream, {FIELD: message._message.encode()})
                    pipe.xack(self._stream, GROUP, message.entry_id)
                    pipe.xdel(self._stream, message.entry_id)
                    pipe.execute()
            except RedisError:
                pass  # it stays pending, and is claimed by another when its lease has run out
            finally:
                self._release(message)

    def close(self) -> None:
        """Give back what was fetched and leave the group. Entries still running are claimed by others after the lease."""
        try:
            self._give_back()
            if not self._held:
                self._client.xgroup_delconsumer(self._stream, GROUP, self._name)
        except RedisError:
            pass

    def _give_back(self) -> None:
        while self._fetched:
            self.requeue((self._fetched.popleft(),))

    def _read(self) -> None:
        room = self._wait_for_room()
        if not room:
            return
        answer: Any = self._blocking.xreadgroup(
            GROUP, self._name, {self._stream: ">"}, count=room, block=max(1, self._timeout_ms)
        )
        for _, entries in answer:
            self._take(entries)

    def _wait_for_room(self) -> int:
        with self._room:
            if len(self._held) >= self._prefetch:
                self._room.wait(min(self._timeout_ms / 1000, _RENEW_S))
            return self._prefetch - len(self._held)

    def _renew_and_take_over(self) -> None:
        """Keep the lease on what runs here, and claim what a dead consumer left."""
        with self._room:
            held: list[Any] = list(self._held)
            room = self._prefetch - len(held)
        if held:
            self._client.xclaim(self._stream, GROUP, self._name, 0, held, idle=0, justid=True)
        if room > 0 and not self.is_stopping:
            answer: Any = self._client.xautoclaim(self._stream, GROUP, self._name, LEASE_MS, count=room)
            self._take(answer[1])
        self._renewed_at = time.monotonic()

    def _take(self, entries: Iterable[tuple[bytes, dict[bytes, bytes]]]) -> None:
        for entry_id, fields in entries:
            try:
                message = dramatiq.Message.decode(fields[FIELD.encode()])
            except Exception:
                # Not a message of ours: it would fail for every consumer, for ever.
                self._client.xack(self._stream, GROUP, entry_id)
                self._client.xdel(self._stream, entry_id)
                continue
            with self._room:
                if entry_id in self._held:
                    continue
                self._held.add(entry_id)
            self._fetched.append(StreamMessage(message, entry_id))

    def _release(self, message: StreamMessage) -> None:
        with self._room:
            self._held.discard(message.entry_id)
            self._room.notify()

    def _create_group(self) -> None:
        try:
            # From the start of the stream: jobs may have been added before any worker was there.
            self._client.xgroup_create(self._stream, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
