"""Reports to the API that a consumer lives and cannot run jobs (api/pools.py reads the reports)."""

from redis.exceptions import ResponseError

from shared.queue.streams import GROUP, RENEW_MS, SILENT_MS, stream_key, unavailable_key
from shared.servers.redis_connection import RedisConnection

_LAST_ID = f"{2**64 - 1}-{2**64 - 2}"
"""No entry has a higher id: a consumer that reads its pending entries from here gets none, and Redis sees that it lives."""


class AvailabilityReport:
    """The report of one consumer.

    Args:
        connection: the consumer's, for the thread that iterates.
    """

    def __init__(self, connection: RedisConnection, queue_name: str, consumer: str) -> None:
        self._connection = connection
        self._stream = stream_key(queue_name)
        self._consumer = consumer
        self._key = unavailable_key(queue_name, consumer)
        self._exists = False

    def renew(self, reason: str) -> None:
        """Report a reason, and show Redis that the consumer lives. Raises redis.RedisError."""
        self._exists = True
        # The report of a consumer that dies outlives the time in which it passes for living: it never looks available.
        report = ("SET", self._key, reason, "PX", SILENT_MS + RENEW_MS)
        presence = ("XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT", 1, "STREAMS", self._stream, _LAST_ID)
        _, answer = self._connection.send((report, presence))
        if isinstance(answer, ResponseError):
            raise answer

    def withdraw(self) -> None:
        """Remove the report, if there is one. Raises redis.RedisError."""
        if self._exists:
            self._connection.call("DEL", self._key)
            self._exists = False
