"""A Redis client for the event loop: one connection, on which the commands of all callers are pipelined.

A command costs a few microseconds. redis.asyncio takes about 50 us of Python per command, and one connection per caller in
flight. A paid call only needs to send a command, to get its answer in order, and to know when it is lost. hiredis, in C,
encodes the commands and parses the answers.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import parse_qs, unquote, urlsplit

import hiredis

from shared.ledger.layout import Check
from shared.lua_script import Command, LuaScript, Value
from shared.servers.keep_alive import keep_alive

T = TypeVar("T")
Asked = Generator[Sequence[Command], Sequence[Any], T]
"""A check, or a question of the same form (shared/ledger/layout.py)."""

COMMAND_TIMEOUT_S = 3.0
CONNECT_TIMEOUT_S = 1.0
CHECKS = 3


class RedisLost(Exception):
    """There is no answer: no connection, a lost one, or a timeout. The command may have run."""


class RedisBroken(RedisLost):
    """The connection was closed while its commands waited for answers. A new one may get through at once."""


class RedisRefused(Exception):
    """Redis answered with an error: OOM, NOSCRIPT, WRONGTYPE, …"""


class Awaiting(Protocol):
    """Receives the answer of a command: a future, or something cheaper."""

    def done(self) -> bool:
        """Whether nobody waits for the answer any more."""

    def set_result(self, answer: Any, /) -> None:
        """Receive the answer."""

    def set_exception(self, error: Any, /) -> None:
        """Receive RedisLost or RedisRefused."""


class Commands(Protocol):
    """A server that is asked, or all of the ledger as one (api/ledger_servers.py)."""

    async def call(self, *command: str | bytes | int | float) -> Any:
        """As Redis.call."""

    async def batch(self, commands: Sequence[tuple[str | bytes | int | float, ...]]) -> list[Any]:
        """As Redis.batch."""


class Redis:
    """One connection, opened when a command first needs it and again after it was lost.

    Args:
        url: ``redis://[[user]:password@]host[:port][/db]``, ``rediss://…[?ssl_ca_certs=path]`` or ``unix:///path[?db=n]``.
            The file of `ssl_ca_certs` has authorities that are trusted beside the public ones.
        check: gives what is to be done with each new connection. A server is not used when there is a reason.
        timeout_s: longest wait for one answer. A connection that stays silent for so long is closed.
    """

    def __init__(
        self, url: str, *, check: Callable[[], Check] | None = None, timeout_s: float = COMMAND_TIMEOUT_S
    ) -> None:
        self.url = url
        self._check = check
        self._timeout_s = timeout_s
        self._connection: _Connection | None = None
        self._connecting: asyncio.Task[_Connection] | None = None
        self._is_closed = False

    async def call(self, *command: str | bytes | int | float) -> Any:
        """Send one command. Returns bytes, an integer, None or a list of them.

        Raises:
            RedisLost: the command may have run.
            RedisRefused: the command did not run.
        """
        connection = self._connection
        if connection is None or connection.is_lost:
            connection = await self._connect()
        answer: asyncio.Future[Any] = connection.loop.create_future()
        connection.send(command, answer)
        return await answer

    async def batch(self, commands: Sequence[tuple[str | bytes | int | float, ...]]) -> list[Any]:
        """Send commands in one write, on one connection. Returns their answers in the same order: RedisRefused in place of the
        answer to a command that did not run, RedisLost in place of one that was lost.

        Raises:
            RedisLost: there is no connection.
        """
        return await asyncio.gather(*await self._sent(commands), return_exceptions=True)

    async def _sent(self, commands: Sequence[Command]) -> list[asyncio.Future[Any]]:
        """Send commands in one write, on one connection. Returns what gets their answers. Raises RedisLost."""
        connection = self._connection
        if connection is None or connection.is_lost:
            connection = await self._connect()
        answers: list[asyncio.Future[Any]] = []
        for command in commands:
            answers.append(connection.loop.create_future())
            connection.send(command, answers[-1])
        return answers

    def post(self, awaiting: Awaiting, *command: str | bytes | int | float) -> bool:
        """Send one command without waiting for its answer. Returns False, and sends nothing, when there is no connection yet.

        Args:
            awaiting: receives the answer, or RedisLost or RedisRefused. A future would cost 3 us more (measured).
        """
        connection = self._connection
        if connection is None or connection.is_lost:
            return False
        connection.send(command, awaiting)
        return True

    def close(self) -> None:
        """Close the connection, also one that is still being opened. Callers that wait get RedisLost."""
        self._is_closed = True
        if self._connection is not None:
            self._connection.fail("closed")

    async def _connect(self) -> "_Connection":
        # One attempt at a time, shared by all callers that wait for it.
        if self._connecting is None:
            check = self._check() if self._check else None
            self._connecting = asyncio.create_task(_open(self.url, check, self._timeout_s))
            self._connecting.add_done_callback(self._connected)
        return await asyncio.shield(self._connecting)

    def _connected(self, task: "asyncio.Task[_Connection]") -> None:
        self._connecting = None
        if not task.cancelled() and task.exception() is None:
            self._connection = task.result()
            if self._is_closed:
                self._connection.fail("closed")


class Script:
    """A Lua script, sent by its hash, and once by its text when Redis does not know it yet.

    Args:
        is_repeatable: running it twice with the same arguments does and answers what running it once does. Then it is sent
            once more when the connection breaks.
    """

    def __init__(self, redis: Commands, script: LuaScript, *, is_repeatable: bool = False) -> None:
        self._redis = redis
        self._script = script
        self._is_repeatable = is_repeatable

    async def __call__(self, **values: Value) -> Any:
        """Run it with its keys and arguments, by their names and in its order. Raises what Redis.call raises."""
        command = self._script.evalsha(values)
        try:
            return await self._run(command)
        except RedisBroken:
            if not self._is_repeatable:
                raise
            return await self._run(command)

    async def _run(self, command: Command) -> Any:
        try:
            return await self._redis.call(*command)
        except RedisRefused as refused:
            if not str(refused).startswith("NOSCRIPT"):
                raise
            return await self._redis.call("EVAL", self._script.text, *command[2:])


class _Connection(asyncio.Protocol):
    """One connection, on which answers come in the order of the commands.

    Args:
        timeout_s: longest wait for an answer. The real wait is up to a third longer, because a timer for each command would
            cost as much as sending it.
    """

    def __init__(self, timeout_s: float) -> None:
        self.loop = asyncio.get_running_loop()
        self._timeout_s = timeout_s
        self._answered = 0
        self._answered_before = 0
        self._silent_checks = 0
        self._check_timer: asyncio.TimerHandle | None = None
        self.is_lost = False
        self._reader = hiredis.Reader(replyError=RedisRefused)
        self._waiting: deque[Awaiting] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None

    def send(self, command: tuple[str | bytes | int | float, ...], awaiting: Awaiting) -> None:
        if (
            self._transport is None or self.is_lost
        ):  # lost since its caller got it: nothing ran, and a new one may get through
            awaiting.set_exception(RedisBroken("not connected"))
            return
        self._waiting.append(awaiting)
        if self._check_timer is None:
            self._check()
        # One write for all commands of one pass of the event loop.
        if not self._unsent:
            self.loop.call_soon(self._flush)
        self._unsent.append(hiredis.pack_command(command))  # type: ignore[arg-type]  # any length of tuple

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None and not self.is_lost:
            self._transport.write(unsent[0] if len(unsent) == 1 else b"".join(unsent))

    def _check(self) -> None:
        """Check for silence, CHECKS times per timeout: fail when commands wait and no check in a row saw an answer."""
        is_silent = self._check_timer is not None and self._answered == self._answered_before
        self._silent_checks = self._silent_checks + 1 if is_silent else 0
        self._check_timer = None
        if self._silent_checks == CHECKS:
            self.fail("no answer in time")
        elif self._waiting:
            self._answered_before = self._answered
            self._check_timer = self.loop.call_later(self._timeout_s / CHECKS, self._check)

    def fail(self, why: str, kind: type[RedisLost] = RedisLost) -> None:
        self.is_lost = True
        if self._check_timer is not None:
            self._check_timer.cancel()
            self._check_timer = None
        if self._transport is not None:
            self._transport.abort()
        while self._waiting:
            reply = self._waiting.popleft()
            if not reply.done():
                reply.set_exception(kind(why))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # No isinstance check: uvloop's transports are not instances of asyncio's class.
        self._transport = cast(asyncio.Transport, transport)
        keep_alive(transport.get_extra_info("socket"))

    def connection_lost(self, exc: Exception | None) -> None:
        self.fail("the connection was lost", RedisBroken)

    def data_received(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
            while (answer := self._reader.gets()) is not False:
                reply = self._waiting.popleft()
                self._answered += 1
                if reply.done():
                    continue
                if isinstance(answer, RedisRefused):
                    reply.set_exception(answer)
                else:
                    reply.set_result(answer)
        except (hiredis.ProtocolError, IndexError):
            self.fail("the answer cannot be read")


async def _answer_of(connection: _Connection, command: Command) -> Any:
    answer: asyncio.Future[Any] = connection.loop.create_future()
    connection.send(command, answer)
    return await answer


def _tls(query: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for path in parse_qs(query).get("ssl_ca_certs", ()):
        context.load_verify_locations(path)
    return context


def run_check(url: str, check: Asked[T]) -> T | None:
    """Do a check of shared/ledger/layout.py on the server at a URL, before there is an event loop. Returns its result, or None
    when the server does not answer."""

    async def run() -> T:
        connection = await _open(url, None, COMMAND_TIMEOUT_S)
        try:
            return await _result_of(check, connection)
        finally:
            connection.fail("closed")

    try:
        return asyncio.run(run())
    except (RedisLost, RedisRefused):
        return None


async def _result_of(check: Asked[T], connection: _Connection) -> T:
    async def answer(command: Command) -> Any:
        try:
            return await _answer_of(connection, command)
        except RedisRefused as refused:
            return refused

    try:
        commands = next(check)
        while True:
            commands = check.send(await asyncio.gather(*map(answer, commands)))
    except StopIteration as ended:
        result: T = ended.value
        return result


async def _open(url: str, check: Check | None, timeout_s: float) -> _Connection:
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    connection: _Connection | None = None
    is_open = False
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            if parts.scheme == "unix":
                _, connection = await loop.create_unix_connection(lambda: _Connection(timeout_s), unquote(parts.path))
                database = parts.query.partition("db=")[2] or "0"
            else:
                # In a thread, because it reads all authorities: 41 ms of CPU time (measured).
                tls = await loop.run_in_executor(None, _tls, parts.query) if parts.scheme == "rediss" else None
                _, connection = await loop.create_connection(
                    lambda: _Connection(timeout_s),
                    parts.hostname or "127.0.0.1",
                    parts.port or 6379,
                    ssl=tls,
                )
                database = parts.path.strip("/") or "0"
            if parts.password is not None:
                user = (unquote(parts.username),) if parts.username else ()
                await _answer_of(connection, ("AUTH", *user, unquote(parts.password)))
            if database != "0":
                await _answer_of(connection, ("SELECT", database))
            if check is not None and (why := await _result_of(check, connection)):
                raise RedisLost(why)
        is_open = True
    except (OSError, TimeoutError) as error:
        raise RedisLost(f"cannot connect: {type(error).__name__}") from None
    except RedisRefused as refused:
        raise RedisLost(f"cannot log in: {refused}") from None
    finally:
        if connection is not None and not is_open:
            connection.fail("not opened")
    return connection
