"""Redis clients with the two things settled that redis-py guesses at: how long to wait, and never to repeat a command by
itself. A claim or an XADD that is sent twice because its first answer was lost is a bug that only money would show."""

from __future__ import annotations

from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

CONNECT_TIMEOUT_S = 1.0
COMMAND_TIMEOUT_S = 3.0
MAX_CONNECTIONS = 64


def connect(url: str, *, blocking: bool = False) -> redis.Redis:
    """A client for threads.

    Args:
        blocking: for commands that wait in Redis: an answer may then take for ever.
    """
    return redis.Redis.from_pool(
        redis.BlockingConnectionPool.from_url(url, retry=Retry(NoBackoff(), 0), **_options(blocking))
    )


def _options(blocking: bool) -> dict[str, Any]:
    return {
        # Callers beyond that wait for a connection, where redis-py's default pool fails the 101st.
        "max_connections": MAX_CONNECTIONS,
        "timeout": COMMAND_TIMEOUT_S,
        "protocol": 2,  # RESP3 answers have other shapes
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_timeout": None if blocking else COMMAND_TIMEOUT_S,
    }
