"""The workers' Redis clients. Two rules replace defaults of redis-py: every wait has a limit, and no command is ever repeated
automatically. (The API's client, api/redis_client.py, has the same two rules.)"""

from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError
from redis.retry import Retry

from shared.ledger.layout import checked
from shared.servers.keep_alive import KEEP_ALIVE

CONNECT_TIMEOUT_S = 1.0
COMMAND_TIMEOUT_S = 3.0
MAX_CONNECTIONS = 64


def connect(url: str) -> redis.Redis:
    """A client for several threads that send few commands."""
    return redis.Redis.from_pool(_pool(url, COMMAND_TIMEOUT_S))


class RedisConnection:
    """One connection for one caller at a time, without redis-py's upper layers: a command and its answer take 33 us of CPU time
    instead of 62 us (measured). It connects when first needed, and again after the connection was lost.

    Args:
        longest_block_s: how long a command may wait in Redis. A connection that stays silent for longer is closed. This
            happens when a firewall forgets it.
        place: of a primary of the ledger: a server that has another one is not used (shared/ledger/position.py).
        is_known: that primary was used before, so an empty server is not it.
    """

    def __init__(self, url: str, *, longest_block_s: float = 0.0, place: str = "", is_known: bool = False) -> None:
        connection: Any = _pool(url, COMMAND_TIMEOUT_S + longest_block_s).make_connection()
        self._connection = connection
        self._place = place
        self._is_known = is_known
        if place:
            connection.register_connect_callback(self._check_server)  # kept weakly: this object has the connection

    def _check_server(self, connection: Any) -> None:
        check = checked(self._place, is_known=self._is_known)
        try:
            commands = next(check)
            while True:
                connection.send_packed_command(connection.pack_commands(commands), check_health=False)
                commands = check.send([connection.read_response() for _ in commands])
        except StopIteration as ended:
            why = ended.value
        except ResponseError as refused:
            why = str(refused)
        if why:
            connection.disconnect()
            raise redis.ConnectionError(why)
        self._is_known = True

    def send(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Send commands in one write. The answers have the same order. The answer to a refused command is its ResponseError.

        Raises:
            redis.RedisError: the connection was lost. Each of the commands may have run or not.
        """
        connection = self._connection
        connection.send_packed_command(connection.pack_commands(commands))
        return [_answer(connection) for _ in commands]

    def call(self, *command: Any) -> Any:
        """Send one command. Raises redis.RedisError; redis.ResponseError when Redis refused it."""
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
    # A connection to a Unix socket has no such option, and refuses it.
    more = {} if url.startswith("unix:") else {"socket_keepalive": True, "socket_keepalive_options": KEEP_ALIVE}
    return redis.BlockingConnectionPool.from_url(
        url,
        retry=Retry(NoBackoff(), 0),
        protocol=2,  # answers in RESP3 have other shapes
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=timeout_s,
        # More threads than this wait for a connection. redis-py's default pool would fail the 101st.
        max_connections=MAX_CONNECTIONS,
        timeout=COMMAND_TIMEOUT_S,
        **more,
    )
