"""One side of a connection through the proxy: HTTP with h11, limits and a byte count."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence

import h11

from workers.egress.allowance import REASONS, Refused

MAX_HEADERS = 100
MAX_HEAD_BYTES = 32 * 1024
END_S = 5.0
"""Seconds for the other side to take the last bytes."""

Headers = Sequence[tuple[bytes, bytes]]

_CHUNK_BYTES = 64 * 1024
_OF_ONE_HOP = frozenset(
    {
        *(b"connection", b"expect", b"keep-alive", b"te", b"trailer", b"upgrade", b"proxy-authenticate"),
        *(b"proxy-authentication-info", b"proxy-authorization", b"proxy-connection"),
    }
)
_NEVER_OF_ONE_HOP = frozenset({b"content-length", b"host", b"transfer-encoding"})


class Peer:
    """The client or the upstream.

    Args:
        spend: counts bytes that were read, and raises when they are too many.
    """

    def __init__(
        self,
        role: type[h11.CLIENT] | type[h11.SERVER],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        spend: Callable[[int], None],
    ) -> None:
        self._http = h11.Connection(role, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._reader = reader
        self._writer = writer
        self.spend = spend

    async def read(self) -> bytes:
        """The next bytes; empty at the end."""
        data = await self._reader.read(_CHUNK_BYTES)
        self.spend(len(data))
        return data

    async def write(self, data: bytes) -> None:
        """Write, and wait while the other side is slow."""
        self._writer.write(data)
        await self._writer.drain()

    async def next(self) -> object:
        """The next part of a message. Raises h11.RemoteProtocolError."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[], reason="Continue"))
            self._http.receive_data(await self.read())
        return event

    async def head(self) -> object:
        """A request, a response, or the end. Raises h11.RemoteProtocolError, also for a head that is too long."""
        event = await self.next()
        if isinstance(event, h11.Request | h11.Response | h11.InformationalResponse):
            size = sum(len(name) + len(value) + 4 for name, value in event.headers)
            if len(event.headers) > MAX_HEADERS or size > MAX_HEAD_BYTES:
                raise h11.RemoteProtocolError("too many headers")
        return event

    async def send(self, event: h11.Event) -> None:
        """Send a part of a message."""
        if data := self._http.send(event):
            await self.write(data)

    async def refuse(self, refused: Refused) -> None:
        """Answer with the reason. After a part of an answer, abort instead: half an answer must not pass for a whole one."""
        if self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            raise ConnectionAbortedError
        text = f"{refused.reason}: {refused.detail}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text))),
            ("Connection", "close"),
        ]
        status = REASONS.get(refused.reason, 502)
        await self.send(h11.Response(status_code=status, headers=headers, reason=refused.reason))
        await self.send(h11.Data(data=text))
        await self.send(h11.EndOfMessage())

    def taken_over(self) -> bytes:
        """The bytes that came with a CONNECT."""
        data, _ = self._http.trailing_data
        return data

    async def pour(self, into: "Peer") -> None:
        """Copy all bytes, to the end."""
        while data := await self.read():
            await into.write(data)
        into.write_end()

    def write_end(self) -> None:
        """Half-close: nothing more will be written."""
        with contextlib.suppress(OSError):
            self._writer.write_eof()

    async def end(self) -> None:
        """Let the other side take the last bytes, and ignore what it still sends."""
        self.write_end()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(END_S):
                while await self._reader.read(_CHUNK_BYTES):
                    pass

    def abort(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()


def passed_on(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers without those of one hop (RFC 9110, 7.6.1), and without a length beside chunks."""
    named = {
        token.strip().lower() for name, value in headers if name == b"connection" for token in value.split(b",")
    } - _NEVER_OF_ONE_HOP
    if any(name == b"transfer-encoding" for name, _ in headers):
        named.add(b"content-length")
    return [(name, value) for name, value in headers if name not in _OF_ONE_HOP and name not in named]
