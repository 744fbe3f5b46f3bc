"""The workers' Redis clients, with two things settled that redis-py guesses at: how long to wait, and never to repeat a
command by itself. (The API has its own client, api/resp.py, under the same two rules.)"""

from __future__ import annotations

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

CONNECT_TIMEOUT_S = 1.0
COMMAND_TIMEOUT_S = 3.0
MAX_CONNECTIONS = 64


def connect(url: str, *, longest_block_s: float = 0.0) -> redis.Redis:
    """A client for threads.

    Args:
        longest_block_s: how long its commands may wait in Redis. A connection that stays silent beyond that, as one does
            when a firewall forgot it, is given up.
    """
    pool = redis.BlockingConnectionPool.from_url(
        url,
        retry=Retry(NoBackoff(), 0),
        protocol=2,  # RESP3 answers have other shapes
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=COMMAND_TIMEOUT_S + longest_block_s,
        socket_keepalive=True,
        # Threads beyond that wait for a connection, where redis-py's default pool fails the 101st.
        max_connections=MAX_CONNECTIONS,
        timeout=COMMAND_TIMEOUT_S,
    )
    return redis.Redis.from_pool(pool)
