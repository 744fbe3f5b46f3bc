"""The workers' Redis clients, with two things settled that redis-py guesses at: how long to wait, and never to repeat a
command by itself. (The API has its own client, api/redis_client.py, under the same two rules.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError
from redis.retry import Retry

CONNECT_TIMEOUT_S = 1.0
COMMAND_TIMEOUT_S = 3.0
MAX_CONNECTIONS = 64


def connect(url: str) -> redis.Redis:
    """A client for threads, where a command now and then is all that is asked."""
    return redis.Redis.from_pool(_pool(url, COMMAND_TIMEOUT_S))


class RedisConnection:
    """One connection for one caller at a time, and nothing of what redis-py puts above it: 33 us of CPU for a command and its
    answer, against 62 us (measured). Made when first needed, and made anew after it was lost.

    Args:
        longest_block_s: how long a command may wait in Redis. A connection that stays silent beyond that, as one does
            when a firewall forgot it, is given up.
    """

    def __init__(self, url: str, *, longest_block_s: float = 0.0) -> None:
        self._connection: Any = _pool(url, COMMAND_TIMEOUT_S + longest_block_s).make_connection()

    def send(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Send commands in one write. The answers come in their order; that of a refused one is its ResponseError.

        Raises:
            redis.RedisError: the connection was lost, and any of them may have run.
        """
        connection = self._connection
        connection.send_packed_command(connection.pack_commands(commands))
        return [_answer(connection) for _ in commands]

    def call(self, *command: Any) -> Any:
        """Send one command. Raises redis.RedisError; ResponseError when it was refused."""
        (answer,) = self.send((command,))
        if isinstance(answer, ResponseError):
            raise answer
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.disconnect()


def _answer(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as refused:
        return refused


def _pool(url: str, timeout_s: float) -> redis.ConnectionPool:
    # A connection by path has no such option, and refuses it.
    more = {} if url.startswith("unix:") else {"socket_keepalive": True}
    return redis.BlockingConnectionPool.from_url(
        url,
        retry=Retry(NoBackoff(), 0),
        protocol=2,  # RESP3 answers have other shapes
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=timeout_s,
        # Threads beyond that wait for a connection, where redis-py's default pool fails the 101st.
        max_connections=MAX_CONNECTIONS,
        timeout=COMMAND_TIMEOUT_S,
        **more,
    )
