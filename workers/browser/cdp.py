"""A client of the Chrome DevTools Protocol, over the two pipes of `--remote-debugging-pipe`.

docs/rendering.md has the measurement of why it is not Playwright's. The bounds on hostile pages need the protocol itself:
targets that are attached before their first request, `Runtime.terminateExecution`, isolated worlds, virtual time.

Messages are JSON with a zero byte behind each. A message with a `sessionId` is of one target: a page, a frame or a worker.
"""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

MAX_MESSAGE_BYTES = 48 << 20
"""A longer message ends the connection. A million characters may become six million bytes, and a screenshot 20 million."""

Event = Callable[[str, dict[str, Any]], None]


class CdpError(Exception):
    """The browser refused a command: its target is gone, for example. The text is the browser's."""


class BrowserEnded(CdpError):
    """The connection is closed, which means that the browser has ended, or is to end."""


class Cdp:
    """A connection. It belongs to one event loop.

    Attributes:
        on_event: called with the events of no session.
        sessions: called with the events of a session, by its id. Other sessions' events are dropped.
        ended: done when the connection is closed.
    """

    def __init__(self, on_event: Event) -> None:
        self.on_event = on_event
        self.sessions: dict[str, Event] = {}
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.ReadTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def connect(self, commands: int, events: int) -> None:
        """Take over the descriptors of the two pipes."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: _Messages(self), os.fdopen(events, "rb", 0))
        self._writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(commands, "wb", 0))

    def close(self) -> None:
        """Close the pipes. Every command that waits fails with BrowserEnded."""
        if self._reading is not None and not self._reading.is_closing():
            self._reading.close()
        if self._writing is not None and not self._writing.is_closing():
            self._writing.abort()
        self.lost()

    def post(self, method: str, session: str = "", /, **parameters: Any) -> asyncio.Future[dict[str, Any]]:
        """Send a command. The result may be awaited, or ignored."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        result: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        result.add_done_callback(_look_at)
        if self.ended.done() or self._writing is None:
            result.set_exception(BrowserEnded("the browser has ended"))
            return result
        self._waiting[self._last_id] = result
        self._writing.write(json.dumps(message).encode() + b"\0")
        return result

    async def send(self, method: str, session: str = "", /, *, limit_s: float, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result. Raises CdpError, TimeoutError."""
        async with asyncio.timeout(limit_s):
            return await self.post(method, session, **parameters)

    def received(self, message: bytes) -> None:
        """Called with each message."""
        read: dict[str, Any] = json.loads(message)
        if "id" in read:
            result = self._waiting.pop(read["id"], None)
            if result is None or result.done():
                return
            if "error" in read:
                result.set_exception(CdpError(str(read["error"].get("message"))))
            else:
                result.set_result(read["result"])
        elif not (session := read.get("sessionId")):
            self.on_event(read["method"], read["params"])
        elif handle := self.sessions.get(session):
            handle(read["method"], read["params"])

    def lost(self) -> None:
        """Called when nothing more will be received."""
        if not self.ended.done():
            self.ended.set_result(None)
        waiting, self._waiting = self._waiting, {}
        for result in waiting.values():
            if not result.done():
                result.set_exception(BrowserEnded("the browser has ended"))


class _Messages(asyncio.Protocol):
    """Cuts the stream into messages."""

    def __init__(self, connection: Cdp) -> None:
        self._connection = connection
        self._parts: list[bytes] = []
        self._size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *ended, rest = data.split(b"\0")
        for part in ended:
            message = b"".join((*self._parts, part))
            self._parts.clear()
            self._size = 0
            self._connection.received(message)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > MAX_MESSAGE_BYTES:
                self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._connection.lost()


def _look_at(result: asyncio.Future[dict[str, Any]]) -> None:
    """Keep asyncio from reporting a failure that nobody waits for."""
    if not result.cancelled():
        result.exception()
