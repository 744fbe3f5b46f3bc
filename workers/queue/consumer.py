"""The consumer of one queue. It reads messages, renews the leases on those that run, claims those of dead consumers, and sends
the replies of finished messages with their acknowledgements, many in one write."""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import dramatiq
import msgspec
from dramatiq.broker import Broker, Consumer, MessageProxy
from redis.exceptions import RedisError, ResponseError

from shared.failpoints import reach
from shared.queue.queue_clock import QueueClock
from shared.queue.replies import LIST_TTL_S
from shared.queue.streams import FIELD, GROUP, LEASE_MS, MAX_DELIVERIES, OUTDATED, RENEW_MS, consumer_name, stream_key
from shared.servers.redis_connection import RedisConnection
from workers.queue.availability import AvailabilityReport
from workers.queue.clock import measure
from workers.queue.inline import LARGEST_BATCH, Batches, Inline, StreamMessage
from workers.queue.outdated import Outdated

log = logging.getLogger(__name__)

LINGER_S = 0.01
"""How long a batched queue waits for more jobs to end before it acknowledges them, and before it reads as many new ones."""
STAGGER_S = 0.002
"""Seconds between the starts of jobs of a batched queue that were read together."""
FORGET_MS = 10 * 60 * 1000
"""The name of a consumer that was silent for that long is removed from the group."""
_RECONNECT_S = 0.1
_ACK_TRIES = 30
_FIELD = FIELD.encode()


Entry = tuple[bytes, dict[bytes, bytes]]


class ReplySource(Protocol):
    """Where the replies of finished messages come from (workers/queue/outbox.py)."""

    def take(self, messages: Sequence[dramatiq.Message[Any]]) -> Sequence[tuple[str, bytes]]:
        """The replies to these messages, as list keys and values. They are pushed in the write that removes the messages.

        A message may have no result: it was given up after `MAX_DELIVERIES`, or no actor knows it.
        """


class StreamConsumer(Consumer):
    """Iterates over the messages of one queue. It gives None when none came for a while, or when they were run inline.

    One thread iterates while worker threads acknowledge: one condition guards the state that they share. A lost connection is
    repaired here, because Dramatiq would stop the consumer for three seconds.

    Args:
        prefetch: unfinished messages that it holds at most.
        timeout_ms: milliseconds after which it gives None.
        is_inline: messages are run in the thread that iterates.
        is_batched: messages are read and acknowledged up to LINGER_S later, for fewer and larger writes.
        unavailable_reason: why no message can be run now, "" when one can. Then nothing is fetched, and the reason is
            reported (workers/queue/availability.py).
        clock: of the queue, which this consumer measures.
    """

    def __init__(
        self,
        broker: Broker,
        url: str,
        queue_name: str,
        *,
        prefetch: int,
        timeout_ms: int,
        is_inline: bool,
        is_batched: bool,
        outbox: ReplySource | None,
        clock: QueueClock,
        unavailable_reason: Callable[[], str],
    ) -> None:
        self.is_stopping = False
        self._broker = broker
        self._inline = Inline(broker, queue_name) if is_inline else None
        self._batches = Batches()
        self._linger_s = LINGER_S if is_batched else 0
        self._outbox = outbox
        self._clock = clock
        self._unavailable_reason = unavailable_reason
        self._reading = RedisConnection(url, longest_block_s=RENEW_MS / 1000)
        self._acking = RedisConnection(url)
        self._stream = stream_key(queue_name)
        self._limit = self._batches.size if is_inline else prefetch
        self._block_ms = max(1, min(timeout_ms, RENEW_MS))
        self._name = consumer_name(os.uname().nodename)
        self._report = AvailabilityReport(self._reading, queue_name, self._name)
        self._fetched: deque[StreamMessage] = deque()
        # Without messages that run inline: they take less time than a lease.
        self._held: set[bytes] = set()
        self._room = threading.Condition()
        self._renewed_at = 0.0
        self._outdated = Outdated(broker)
        self._finished: deque[StreamMessage] = deque()
        self._acking_lock = threading.Lock()
        # Of an inline batch: they are sent in one write with the next read, which saves a round trip.
        self._pending_acks: list[tuple[Any, ...]] = []

    def __next__(self) -> StreamMessage | None:
        """The next message, or None."""
        if self._fetched and self._may_work():
            if self._linger_s:
                time.sleep(STAGGER_S)
            return self._fetched.popleft()
        try:
            if self._clock.is_due:
                measure(self._clock, self._reading)
            is_due = time.monotonic() - self._renewed_at >= RENEW_MS / 1000
            if is_due:
                self._renew()
            if not self._may_work():
                self._wait_without_fetching()
            elif self._outdated.is_waiting:
                self._wait_without_fetching(OUTDATED)  # what was fetched beside that message has been run
            else:
                self._report.withdraw()
                if is_due:
                    self._claim_abandoned()
                if not self._fetched:
                    self._read()
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._create_group()
        except RedisError:
            time.sleep(_RECONNECT_S)
        return self._fetched.popleft() if self._fetched and self._may_work() else None

    def ack(self, message: MessageProxy) -> None:
        """Reply to a finished message and remove it. When another thread is writing, that thread writes this one too."""
        assert isinstance(message, StreamMessage)
        self._finished.append(message)
        while self._finished and self._acking_lock.acquire(blocking=False):
            try:
                if self._linger_s:
                    time.sleep(self._linger_s)
                self._reply_and_remove([self._finished.popleft() for _ in range(len(self._finished))])
            finally:
                self._acking_lock.release()

    def nack(self, message: MessageProxy) -> None:
        """Remove a message that failed. There is no dead-letter queue: the caller already has the failure."""
        self.ack(message)

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Give fetched messages that were not started to another consumer at once."""
        for message in messages:
            assert isinstance(message, StreamMessage)
            add = ("XADD", self._stream, "*", FIELD, message.message.encode())
            try:
                with self._acking_lock:
                    self._acking.send((("MULTI",), add, *self._commands([message.entry_id], ()), ("EXEC",)))
            except RedisError:
                pass  # it stays pending, and another consumer claims it when its lease has run out
            finally:
                self._release([message])

    def close(self) -> None:
        """Give back fetched messages and leave the group. Other consumers claim messages that still run after their lease."""
        try:
            self._send_pending_acks()
            self._give_back()
            self._report.withdraw()
            if not self._held:
                self._reading.call("XGROUP", "DELCONSUMER", self._stream, GROUP, self._name)
        except RedisError:
            pass
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections. Held messages stay pending."""
        self._reading.close()
        with self._acking_lock:
            self._acking.close()

    def _may_work(self) -> bool:
        return not self.is_stopping and not self._unavailable_reason()

    def _wait_without_fetching(self, reason: str = "") -> None:
        self._send_pending_acks()
        self._give_back()
        if not self.is_stopping and (reason := reason or self._unavailable_reason()):
            self._report.renew(reason)
        time.sleep(self._block_ms / 1000)

    def _give_back(self) -> None:
        while self._fetched:
            self.requeue((self._fetched.popleft(),))

    def _read(self) -> None:
        room = self._wait_for_room()
        if not room:
            return
        group = ("XREADGROUP", "GROUP", GROUP, self._name, "COUNT", room, "BLOCK", self._block_ms)
        *_, streams = self._reading.send([*self._pending_acks, (*group, "STREAMS", self._stream, ">")])
        if self._pending_acks:
            reach("reply-sent")
        self._pending_acks = []
        if isinstance(streams, ResponseError):
            raise streams
        for _, entries in streams or ():
            self._take(_pairs(entries))

    def _send_pending_acks(self) -> None:
        if self._pending_acks:
            self._reading.send(self._pending_acks)
            self._pending_acks = []

    def _wait_for_room(self) -> int:
        with self._room:
            if len(self._held) >= self._limit and self._room.wait(self._block_ms / 1000) and self._linger_s:
                self._room.wait_for(lambda: not self._held, self._linger_s)
            return self._limit - len(self._held)

    def _renew(self) -> None:
        """Renew the leases on messages that run here."""
        if self._inline is not None:
            self._batches.adjust_scheduling()
        with self._room:
            held = list(self._held)
        if held:
            self._reading.call("XCLAIM", self._stream, GROUP, self._name, 0, *held, "IDLE", 0, "JUSTID")
        self._renewed_at = time.monotonic()

    def _claim_abandoned(self) -> None:
        """Claim the messages of dead consumers. Give up those that have ended too many consumers."""
        room = self._limit - len(self._held)
        if room <= 0:
            return
        _, claimed, *_ = self._reading.call(
            "XAUTOCLAIM", self._stream, GROUP, self._name, LEASE_MS, "0-0", "COUNT", room
        )
        entries = _pairs(claimed)
        if not entries:
            return
        most = max(self._limit, 2 * LARGEST_BATCH)
        pending = self._reading.call("XPENDING", self._stream, GROUP, "-", "+", most, self._name)
        exhausted = {entry_id for entry_id, _, _, deliveries in pending if deliveries > MAX_DELIVERIES}
        self._take(entry for entry in entries if entry[0] not in exhausted)
        given_up = [
            message for message in self._decoded(entry for entry in entries if entry[0] in exhausted) if message
        ]
        for message in given_up:
            log.error("message %s of %s ended its workers: given up", message.message_id, message.actor_name)
            self.nack(message)
        self._forget_dead_consumers()

    def _forget_dead_consumers(self) -> None:
        for consumer in self._reading.call("XINFO", "CONSUMERS", self._stream, GROUP):
            fields = dict(zip(consumer[::2], consumer[1::2], strict=True))
            if fields[b"pending"] == 0 and fields[b"idle"] > FORGET_MS:
                self._reading.call("XGROUP", "DELCONSUMER", self._stream, GROUP, fields[b"name"])

    def _take(self, entries: Iterable[Entry]) -> None:
        messages = self._decoded(entries)
        if messages:
            reach("job-fetched")
        if self._inline is None:
            self._fetched.extend(messages)
        elif messages:
            self._limit = self._batches.size_after(len(messages))
            for message in messages:
                self._inline.process_message(message)
                self._broker.emit_before("nack" if message.failed else "ack", message)
            # They are sent again after a lost connection: a reader drops a reply that it has had.
            self._pending_acks += self._commands_of(messages)
            for message in messages:
                self._broker.emit_after("nack" if message.failed else "ack", message)

    def _decoded(self, entries: Iterable[Entry]) -> list[StreamMessage]:
        messages = []
        for entry_id, fields in entries:
            try:
                # As dramatiq.Message.decode, in a third of the time.
                message: dramatiq.Message[Any] = dramatiq.Message(**msgspec.json.decode(fields[_FIELD]))
                why = self._outdated.why(message)
            except Exception:
                # Not one of our messages: every consumer would fail to decode it, for ever.
                self._reading.send(self._commands([entry_id], ()))
                continue
            if why:
                again = self._outdated.commands(self._stream, message, fields[_FIELD], why, self._clock)
                self._reading.send((("MULTI",), *again, *self._commands([entry_id], ()), ("EXEC",)))
                continue
            messages.append(StreamMessage(message, entry_id))
        if self._inline is None:
            with self._room:
                messages = [message for message in messages if message.entry_id not in self._held]
                self._held.update(message.entry_id for message in messages)
        return messages

    def _reply_and_remove(self, messages: Sequence[StreamMessage]) -> None:
        """Reply to messages and remove them, in one write. The caller holds `_acking_lock`."""
        commands = self._commands_of(messages)
        for _ in range(_ACK_TRIES):
            try:
                self._acking.send(commands)
                reach("reply-sent")
                break
            except RedisError:
                # A reader drops a repeated reply. A message that stays pending is run again, and its first result wins.
                time.sleep(_RECONNECT_S)
        self._release(messages)

    def _commands_of(self, messages: Sequence[StreamMessage]) -> list[tuple[Any, ...]]:
        replies: Sequence[tuple[str, bytes]] = ()
        try:
            if self._outbox is not None:
                replies = self._outbox.take([message.message for message in messages])
        except Exception:
            log.exception("no replies to %d messages", len(messages))
        return self._commands([message.entry_id for message in messages], replies)

    def _commands(self, entry_ids: Sequence[bytes], replies: Sequence[tuple[str, bytes]]) -> list[tuple[Any, ...]]:
        by_list: dict[str, list[bytes]] = {}
        for address, reply in replies:
            by_list.setdefault(address, []).append(reply)
        commands: list[tuple[Any, ...]] = []
        for address, pushed in by_list.items():
            commands += (("RPUSH", address, *pushed), ("EXPIRE", address, LIST_TTL_S))
        return [*commands, ("XACK", self._stream, GROUP, *entry_ids), ("XDEL", self._stream, *entry_ids)]

    def _release(self, messages: Iterable[StreamMessage]) -> None:
        with self._room:
            self._held.difference_update(message.entry_id for message in messages)
            self._room.notify()

    def _create_group(self) -> None:
        try:
            # From the start of the stream: jobs may have been added before any worker was there.
            self._reading.call("XGROUP", "CREATE", self._stream, GROUP, "0", "MKSTREAM")
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise


def _pairs(entries: Iterable[Any]) -> list[Entry]:
    """Entries as Redis sends them: an id, then names and values alternately."""
    return [(entry_id, dict(zip(flat[::2], flat[1::2], strict=True))) for entry_id, flat in entries]
