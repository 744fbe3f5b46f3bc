"""Redis for the event loop, at a few microseconds a command: one connection, every caller's commands pipelined on it.

redis.asyncio costs about 50 us of Python per command and one connection per caller in flight. What a paid call needs is
little: send a command, get its answer in order, know when it is lost. The parser and the encoder are hiredis, in C.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from typing import Any, Protocol, cast
from urllib.parse import unquote, urlsplit

import hiredis

COMMAND_TIMEOUT_S = 3.0
CONNECT_TIMEOUT_S = 1.0
LOOKS = 3


class RedisLost(Exception):
    """No answer: not connected, or the connection was lost, or it took too long. The command may have run."""


class RedisRefused(Exception):
    """Redis answered with an error: OOM, NOSCRIPT, WRONGTYPE, …"""


class Awaiting(Protocol):
    """Whatever is told the answer of a command: a future, or something cheaper."""

    def done(self) -> bool:
        """Whether nobody cares any more."""

    def set_result(self, answer: Any, /) -> None:
        """The answer."""

    def set_exception(self, error: Any, /) -> None:
        """RedisLost or RedisRefused."""


class Redis:
    """One connection that is made when it is first needed, and made anew when it was lost.

    Args:
        url: ``redis://[[user]:password@]host[:port][/db]``, ``rediss://…`` or ``unix:///path[?db=n]``.
        timeout_s: longest wait for one answer. A connection that went silent is given up then.
    """

    def __init__(self, url: str, *, timeout_s: float = COMMAND_TIMEOUT_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._wire: _Wire | None = None
        self._connecting: asyncio.Task[_Wire] | None = None
        self._is_closed = False

    async def call(self, *command: str | bytes | int | float) -> Any:
        """Send one command: bytes, integers, None and lists of them come back.

        Raises:
            RedisLost: it may have run.
            RedisRefused: it did not.
        """
        wire = self._wire
        if wire is None or wire.is_lost:
            wire = await self._connect()
        answer: asyncio.Future[Any] = wire.loop.create_future()
        wire.send(command, answer)
        return await answer

    def post(self, awaiting: Awaiting, *command: str | bytes | int | float) -> bool:
        """Send one command without waiting for its answer. False when there is no connection yet: nothing is sent then.

        Args:
            awaiting: is told the answer, or RedisLost or RedisRefused. A future would cost 3 us more (measured).
        """
        wire = self._wire
        if wire is None or wire.is_lost:
            return False
        wire.send(command, awaiting)
        return True

    def close(self) -> None:
        """Close the connection, or the one that is being made. Who still waits gets RedisLost."""
        self._is_closed = True
        if self._wire is not None:
            self._wire.fail("closed")

    async def _connect(self) -> _Wire:
        # One attempt at a time, shared by all who wait for it.
        if self._connecting is None:
            self._connecting = asyncio.create_task(_open(self._url, self._timeout_s))
            self._connecting.add_done_callback(self._connected)
        return await asyncio.shield(self._connecting)

    def _connected(self, task: asyncio.Task[_Wire]) -> None:
        self._connecting = None
        if not task.cancelled() and task.exception() is None:
            self._wire = task.result()
            if self._is_closed:
                self._wire.fail("closed")


class Script:
    """A Lua script, sent by its hash and, where Redis does not know it yet, once by its text."""

    def __init__(self, redis: Redis, text: str) -> None:
        self._redis = redis
        self._text = text
        self._sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()

    async def __call__(self, keys: tuple[str, ...], *arguments: str | bytes | int) -> Any:
        """Run it. Raises what Redis.call raises."""
        try:
            return await self._redis.call("EVALSHA", self._sha, len(keys), *keys, *arguments)
        except RedisRefused as refused:
            if not str(refused).startswith("NOSCRIPT"):
                raise
            return await self._redis.call("EVAL", self._text, len(keys), *keys, *arguments)


class _Wire(asyncio.Protocol):
    """One connection: answers come in the order of the commands.

    Args:
        timeout_s: longest wait for an answer, to be exceeded by a third at most: a timer for each command would cost as much
            as sending it.
    """

    def __init__(self, timeout_s: float) -> None:
        self.loop = asyncio.get_running_loop()
        self._timeout_s = timeout_s
        self._answered = 0
        self._seen = 0
        self._quiet = 0
        self._looking: asyncio.TimerHandle | None = None
        self.is_lost = False
        self._reader = hiredis.Reader(replyError=RedisRefused)
        self._waiting: deque[Awaiting] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None

    def send(self, command: tuple[str | bytes | int | float, ...], awaiting: Awaiting) -> None:
        if self._transport is None or self.is_lost:
            awaiting.set_exception(RedisLost("not connected"))
            return
        self._waiting.append(awaiting)
        if self._looking is None:
            self._look()
        # One write for all that one turn of the event loop sends.
        if not self._unsent:
            self.loop.call_soon(self._flush)
        self._unsent.append(hiredis.pack_command(command))  # type: ignore[arg-type]  # any length of tuple

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None and not self.is_lost:
            self._transport.write(unsent[0] if len(unsent) == 1 else b"".join(unsent))

    def _look(self) -> None:
        """Start looking, or look: give up when nothing was answered between LOOKS looks, although something is waited for."""
        is_quiet = self._looking is not None and self._answered == self._seen
        self._quiet = self._quiet + 1 if is_quiet else 0
        self._looking = None
        if self._quiet == LOOKS:
            self.fail("no answer in time")
        elif self._waiting:
            self._seen = self._answered
            self._looking = self.loop.call_later(self._timeout_s / LOOKS, self._look)

    def fail(self, why: str) -> None:
        self.is_lost = True
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        if self._transport is not None:
            self._transport.abort()
        while self._waiting:
            reply = self._waiting.popleft()
            if not reply.done():
                reply.set_exception(RedisLost(why))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not checked: uvloop's transports are no instances of asyncio's class.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.fail("the connection was lost")

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


async def _told(wire: _Wire, command: tuple[str, ...]) -> None:
    answer: asyncio.Future[Any] = wire.loop.create_future()
    wire.send(command, answer)
    await answer


async def _open(url: str, timeout_s: float) -> _Wire:
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            if parts.scheme == "unix":
                _, wire = await loop.create_unix_connection(lambda: _Wire(timeout_s), unquote(parts.path))
                database = parts.query.partition("db=")[2] or "0"
            else:
                _, wire = await loop.create_connection(
                    lambda: _Wire(timeout_s),
                    parts.hostname or "127.0.0.1",
                    parts.port or 6379,
                    ssl=parts.scheme == "rediss" or None,
                )
                database = parts.path.strip("/") or "0"
            if parts.password is not None:
                user = (unquote(parts.username),) if parts.username else ()
                await _told(wire, ("AUTH", *user, unquote(parts.password)))
            if database != "0":
                await _told(wire, ("SELECT", database))
    except (OSError, TimeoutError) as error:
        raise RedisLost(f"cannot connect: {type(error).__name__}") from None
    except RedisRefused as refused:
        wire.fail("refused")
        raise RedisLost(f"cannot log in: {refused}") from None
    return wire
