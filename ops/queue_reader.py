"""Reads which jobs wait and run, from the pools' streams. Each entry is read once, however long it stays."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import redis
from redis.exceptions import RedisError, ResponseError

from ops.queries import known_pools
from ops.rq_keys import plain, plain_id
from shared.queue.streams import FIELD, GROUP, stream_key

MOST_READ = 200
"""New entries that are read of one stream at once: their bodies come with them."""
MOST_KNOWN = 2_000
"""Entries of one stream whose jobs are shown. Of further ones only the number is known."""
_MOST_PENDING = 2 * MOST_KNOWN
_FIELD = FIELD.encode()


class QueuedJob(NamedTuple):
    """A job, as its message describes it.

    Attributes:
        entry: id of its stream entry.
        enqueued: Unix seconds.
    """

    id: str
    entry: str
    endpoint: str
    enqueued: float


class PoolJobs(NamedTuple):
    """The jobs of one pool at one moment, the oldest first.

    Attributes:
        unlisted: how many wait beside those that are listed.
    """

    waiting: list[QueuedJob]
    running: list[QueuedJob]
    unlisted: int


class _Message(msgspec.Struct):
    # The rest of a message, its sealed arguments among it, is skipped.
    actor_name: str
    message_id: str
    message_timestamp: int


class StreamReader:
    """Reads the stream of one pool again and again."""

    def __init__(self, pool: str) -> None:
        self._stream = stream_key(pool)
        self._known: dict[bytes, QueuedJob] = {}
        self._read_to = b"0-0"

    def ask(self, pipeline: redis.client.Pipeline) -> None:
        """Put the four questions into a transaction."""
        pipeline.xlen(self._stream)
        pipeline.xinfo_groups(self._stream)
        pipeline.xpending_range(self._stream, GROUP, "-", "+", _MOST_PENDING)
        pipeline.xrange(self._stream, b"(" + self._read_to, "+", MOST_READ if len(self._known) < MOST_KNOWN else 1)

    def read(self, length: Any, groups: Any, pending: Any, entries: Any) -> PoolJobs:
        """Their answers. A stream or a group that does not exist is an empty one. Raises RedisError."""
        for answer in (length, groups, pending, entries):
            if isinstance(answer, RedisError) and not isinstance(answer, ResponseError):
                raise answer
        if isinstance(groups, ResponseError) or isinstance(pending, ResponseError):
            groups, pending = [], []
        delivered_to = next((group["last-delivered-id"] for group in groups if group["name"] == GROUP.encode()), b"0-0")
        held = {item["message_id"] for item in pending}
        if not isinstance(entries, ResponseError):
            self._learn(entries)
        # An entry that was delivered is there as long as it is pending; nobody removes one that was not.
        self._known = {
            entry: job for entry, job in self._known.items() if entry in held or _order(entry) > _order(delivered_to)
        }
        if length < len(self._known):  # the queue was lost: what is there now is read again
            self._known, self._read_to = {}, b"0-0"
        running = [job for entry, job in self._known.items() if entry in held]
        waiting = [job for entry, job in self._known.items() if entry not in held]
        return PoolJobs(waiting, running, max(0, length - len(held) - len(waiting)))

    def _learn(self, entries: Iterable[tuple[bytes, dict[bytes, bytes]]]) -> None:
        for entry, fields in entries:
            if len(self._known) >= MOST_KNOWN:
                return
            self._read_to = entry
            try:
                message = _decoder.decode(fields[_FIELD])
            except (msgspec.DecodeError, KeyError):
                continue  # a worker removes it
            self._known[entry] = QueuedJob(
                plain_id(message.message_id),
                entry.decode(),
                plain(message.actor_name),
                message.message_timestamp / 1000,
            )


class QueueReader:
    """Reads the streams of all pools."""

    def __init__(self, queue: redis.Redis) -> None:
        self._queue = queue
        self._readers: dict[str, StreamReader] = {}

    def read(self) -> dict[str, PoolJobs]:
        """The jobs of each pool, all at one moment. Raises RedisError."""
        pools = known_pools(self._queue)
        self._readers = {pool: self._readers.get(pool) or StreamReader(pool) for pool in pools}
        with self._queue.pipeline(transaction=True) as pipeline:
            for reader in self._readers.values():
                reader.ask(pipeline)
            answers = pipeline.execute(raise_on_error=False)
        groups = (answers[at : at + 4] for at in range(0, len(answers), 4))
        return {pool: reader.read(*four) for (pool, reader), four in zip(self._readers.items(), groups, strict=True)}


_decoder = msgspec.json.Decoder(_Message)


def _order(entry: bytes) -> tuple[int, int]:
    """Entry ids in the order of their time."""
    time_ms, _, number = entry.partition(b"-")
    return int(time_ms), int(number)
