"""The consumer of one queue: reads messages, keeps the lease on what runs, takes over what dead consumers left, and ends
messages with their replies, many in one write."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import dramatiq
import msgspec
from dramatiq.broker import Broker, Consumer, MessageProxy
from redis.exceptions import RedisError, ResponseError

from shared.failpoints import reach
from shared.redis_connection import RedisConnection
from shared.replies import LIST_TTL_S
from shared.streams import FIELD, GROUP, LEASE_MS, MAX_DELIVERIES, RENEW_MS, stream_key
from workers.queue.inline import LARGEST_BATCH, Batches, Inline, StreamMessage

if TYPE_CHECKING:
    from workers.queue.broker import Outbox

log = logging.getLogger(__name__)

LINGER_S = 0.01
"""How long an unhurried queue waits for more jobs to end before it ends them, and before it reads as many new ones."""
STAGGER_S = 0.002
"""So far apart are jobs of an unhurried queue started that were read at once."""
FORGET_MS = 10 * 60 * 1000
"""A consumer that was silent for that long is dead, and its name is removed from the group."""
_RECONNECT_S = 0.1
_END_TRIES = 30
_FIELD = FIELD.encode()

Entry = tuple[bytes, dict[bytes, bytes]]


class StreamConsumer(Consumer):
    """Iterates over the messages of one queue; None whenever there was none for a while, or when they were run inline.

    One thread iterates, while worker threads acknowledge: what they share is behind one condition. A lost connection is waited
    out here: Dramatiq would stop the consumer for three seconds.
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
        is_unhurried: bool,
        outbox: Outbox | None,
    ) -> None:
        self.is_stopping = False
        self._broker = broker
        self._inline = Inline(broker, queue_name) if is_inline else None
        self._batches = Batches()
        self._linger_s = LINGER_S if is_unhurried else 0
        self._outbox = outbox
        self._reading = RedisConnection(url, longest_block_s=RENEW_MS / 1000)
        self._ending = RedisConnection(url)
        self._stream = stream_key(queue_name)
        self._limit = self._batches.size if is_inline else prefetch
        self._block_ms = max(1, min(timeout_ms, RENEW_MS))
        self._name = uuid.uuid4().hex
        self._fetched: deque[StreamMessage] = deque()
        # Not those that run inline: they take less than a lease.
        self._held: set[bytes] = set()
        self._room = threading.Condition()
        self._renewed_at = 0.0
        self._ended: deque[StreamMessage] = deque()
        self._is_ending = threading.Lock()
        # Of an inline batch: sent in one write with the next question, which saves a round trip.
        self._farewell: list[tuple[Any, ...]] = []

    def __next__(self) -> StreamMessage | None:
        """The next message, or None."""
        if self._fetched and not self.is_stopping:
            if self._linger_s:
                time.sleep(STAGGER_S)
            return self._fetched.popleft()
        try:
            if time.monotonic() - self._renewed_at >= RENEW_MS / 1000:
                self._renew()
                self._take_over()
            if self.is_stopping:
                self._say_farewell()
                self._give_back()
                time.sleep(self._block_ms / 1000)
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
        """The message is done: reply and remove it. When another thread is writing, that one writes for this one too."""
        assert isinstance(message, StreamMessage)
        self._ended.append(message)
        while self._ended and self._is_ending.acquire(blocking=False):
            try:
                if self._linger_s:
                    time.sleep(self._linger_s)
                self._end([self._ended.popleft() for _ in range(len(self._ended))])
            finally:
                self._is_ending.release()

    def nack(self, message: MessageProxy) -> None:
        """Remove a message that failed. There is no dead-letter queue: the failure is the caller's answer already."""
        self.ack(message)

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Give messages that were fetched and not started to another consumer, at once."""
        for message in messages:
            assert isinstance(message, StreamMessage)
            add = ("XADD", self._stream, "*", FIELD, message.message.encode())
            try:
                with self._is_ending:
                    self._ending.send((("MULTI",), add, *self._commands([message.entry_id], ()), ("EXEC",)))
            except RedisError:
                pass  # it stays pending, and is claimed by another when its lease has run out
            finally:
                self._release([message])

    def close(self) -> None:
        """Give back what was fetched and leave the group. Messages still running are claimed by others after the lease."""
        try:
            self._say_farewell()
            self._give_back()
            if not self._held:
                self._reading.call("XGROUP", "DELCONSUMER", self._stream, GROUP, self._name)
        except RedisError:
            pass
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections, and do nothing for what is held."""
        self._reading.close()
        with self._is_ending:
            self._ending.close()

    def _give_back(self) -> None:
        while self._fetched:
            self.requeue((self._fetched.popleft(),))

    def _read(self) -> None:
        room = self._wait_for_room()
        if not room:
            return
        group = ("XREADGROUP", "GROUP", GROUP, self._name, "COUNT", room, "BLOCK", self._block_ms)
        *_, streams = self._reading.send([*self._farewell, (*group, "STREAMS", self._stream, ">")])
        if self._farewell:
            reach("reply-sent")
        self._farewell = []
        if isinstance(streams, ResponseError):
            raise streams
        for _, entries in streams or ():
            self._take(_pairs(entries))

    def _say_farewell(self) -> None:
        if self._farewell:
            self._reading.send(self._farewell)
            self._farewell = []

    def _wait_for_room(self) -> int:
        with self._room:
            if len(self._held) >= self._limit and self._room.wait(self._block_ms / 1000) and self._linger_s:
                self._room.wait_for(lambda: not self._held, self._linger_s)
            return self._limit - len(self._held)

    def _renew(self) -> None:
        """Keep the lease on what runs here."""
        if self._inline is not None:
            self._batches.adjust_scheduling()
        with self._room:
            held = list(self._held)
        if held:
            self._reading.call("XCLAIM", self._stream, GROUP, self._name, 0, *held, "IDLE", 0, "JUSTID")
        self._renewed_at = time.monotonic()

    def _take_over(self) -> None:
        """Claim what a dead consumer left, but not what has ended the consumers before."""
        room = self._limit - len(self._held)
        if room <= 0 or self.is_stopping:
            return
        _, claimed, *_ = self._reading.call(
            "XAUTOCLAIM", self._stream, GROUP, self._name, LEASE_MS, "0-0", "COUNT", room
        )
        entries = _pairs(claimed)
        if not entries:
            return
        most = max(self._limit, 2 * LARGEST_BATCH)
        pending = self._reading.call("XPENDING", self._stream, GROUP, "-", "+", most, self._name)
        worn = {entry_id for entry_id, _, _, deliveries in pending if deliveries > MAX_DELIVERIES}
        self._take(entry for entry in entries if entry[0] not in worn)
        given_up = [message for message in self._decoded(entry for entry in entries if entry[0] in worn) if message]
        for message in given_up:
            log.error("message %s of %s ended its workers: given up", message.message_id, message.actor_name)
            self.nack(message)
        self._forget_the_dead()

    def _forget_the_dead(self) -> None:
        for consumer in self._reading.call("XINFO", "CONSUMERS", self._stream, GROUP):
            told = dict(zip(consumer[::2], consumer[1::2], strict=True))
            if told[b"pending"] == 0 and told[b"idle"] > FORGET_MS:
                self._reading.call("XGROUP", "DELCONSUMER", self._stream, GROUP, told[b"name"])

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
            # Repeated with the next question if the connection is lost: a reader drops a reply that it has had.
            self._farewell += self._end_of(messages)
            for message in messages:
                self._broker.emit_after("nack" if message.failed else "ack", message)

    def _decoded(self, entries: Iterable[Entry]) -> list[StreamMessage]:
        messages = []
        for entry_id, fields in entries:
            try:
                # As dramatiq.Message.decode, in a third of the time.
                message: dramatiq.Message[Any] = dramatiq.Message(**msgspec.json.decode(fields[_FIELD]))
            except Exception:
                # Not a message of ours: it would fail for every consumer, for ever.
                self._reading.send(self._commands([entry_id], ()))
                continue
            messages.append(StreamMessage(message, entry_id))
        if self._inline is None:
            with self._room:
                messages = [message for message in messages if message.entry_id not in self._held]
                self._held.update(message.entry_id for message in messages)
        return messages

    def _end(self, messages: Sequence[StreamMessage]) -> None:
        """Reply and remove, in one write. Only with `_is_ending` held."""
        commands = self._end_of(messages)
        for _ in range(_END_TRIES):
            try:
                self._ending.send(commands)
                reach("reply-sent")
                break
            except RedisError:
                # A repeated reply is dropped by its reader. What stays pending is run again, and its first result wins.
                time.sleep(_RECONNECT_S)
        self._release(messages)

    def _end_of(self, messages: Sequence[StreamMessage]) -> list[tuple[Any, ...]]:
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
    """Entries as Redis sends them: an id, and names and values in turn."""
    return [(entry_id, dict(zip(flat[::2], flat[1::2], strict=True))) for entry_id, flat in entries]
