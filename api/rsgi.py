"""An ASGI application behind granian's own interface, RSGI.

granian's own ASGI costs 6 % more CPU time per paid echo (885 us against 834), and a fifth of the
throughput of calls that are not paid (docs/performance.md).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]
from litestar.types import ASGIApp

from api.undelivered import HUNG_UP

if TYPE_CHECKING:
    from granian.rsgi import HTTPProtocol, Scope  # type: ignore[attr-defined]

    from api.draining import Draining
    from api.hang_up import HangUp

WHOLE_BYTES = 64 * 1024
"""A body of a declared length up to this is taken in one piece, which costs one wait and this much memory. A longer response
is sent in pieces of it: granian has one thread, and nobody else is served while it writes."""

_VERSIONS = {"version": "3.0", "spec_version": "2.3"}
_DISCONNECT = {"type": "http.disconnect"}

Event = dict[str, Any]


class Rsgi:
    """What granian calls.

    Args:
        lifespan: entered before the first request, left after the last.
        draining: how the process ends; None: as granian ends it.
        hang_up: what it does on SIGHUP; None: nothing.
    """

    def __init__(
        self,
        app: ASGIApp,
        lifespan: Callable[[], AbstractAsyncContextManager[object]],
        draining: Draining | None = None,
        hang_up: HangUp | None = None,
    ) -> None:
        self._hang_up = hang_up
        self._app: Callable[..., Any] = app
        self._lifespan = lifespan
        self._draining = draining
        self._stopping = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start up. What fails here ends the process."""
        started: asyncio.Future[None] = loop.create_future()
        self._life = loop.create_task(self._live(started))
        loop.run_until_complete(started)
        if self._draining is not None:
            self._draining.take_sigterm(loop)
        if self._hang_up is not None:
            self._hang_up.take(loop)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Shut down."""
        assert self._life is not None
        self._stopping.set()
        loop.run_until_complete(self._life)

    async def _live(self, started: asyncio.Future[None]) -> None:
        """One task enters the lifespan and leaves it, as Litestar's task group wants it."""
        try:
            async with self._lifespan():
                started.set_result(None)
                await self._stopping.wait()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """One request. granian leaves out header values that are not ASCII."""
        headers = scope.headers.items()
        exchange = _Exchange(protocol, dict(headers), self._draining)
        await self._app(
            {
                "type": "http",
                "asgi": _VERSIONS,
                "http_version": scope.http_version,
                "method": scope.method,
                "scheme": scope.scheme,
                "path": scope.path,
                "query_string": scope.query_string.encode(),
                "root_path": "",
                "headers": [(name.encode(), value.encode()) for name, value in headers],
                "client": _client(scope.client),
                "server": None,
                "state": {},
                "extensions": {HUNG_UP: exchange.hung_up},
            },
            exchange.receive,
            exchange.send,
        )


def _client(address: str) -> tuple[str, int] | None:
    """Host and port of granian's `host:port`, `[host]:port`; None of a socket that has a path."""
    host, _, port = address.rpartition(":")
    return (host.strip("[]"), int(port)) if port.isdigit() else None


class _Exchange:
    """One request's body and response, as ASGI's receive and send."""

    def __init__(self, protocol: HTTPProtocol, headers: dict[str, str], draining: Draining | None) -> None:
        self._protocol = protocol
        self._draining = draining
        self._is_short = int(headers.get("content-length", WHOLE_BYTES + 1)) <= WHOLE_BYTES
        self._is_read = "content-length" not in headers and "transfer-encoding" not in headers
        self._chunks: AsyncIterator[bytes] | None = None
        self._start: Event = {}
        self._pieces: Any = None

    def hung_up(self) -> Any:
        """A future that is done when the caller has closed the connection (api/undelivered.py)."""
        return self._protocol.client_disconnect()

    async def receive(self) -> Event:
        """The next part of the body; when there is no more, the end of the connection."""
        if self._is_read:
            await self._protocol.client_disconnect()
            return _DISCONNECT
        if self._is_short:
            self._is_read = True
            try:
                return {"type": "http.request", "body": await self._protocol(), "more_body": False}
            except ProtocolClosed:
                return _DISCONNECT
        if self._chunks is None:
            self._chunks = aiter(self._protocol)
        if chunk := await anext(self._chunks):
            return {"type": "http.request", "body": chunk, "more_body": True}
        # An empty chunk is the end. A body that was cut off has two, and so has one with trailers, which are not shown.
        self._is_read = True
        try:
            await anext(self._chunks)  # never with a default: that crashes the process
        except StopAsyncIteration:
            return {"type": "http.request", "body": b"", "more_body": False}
        return _DISCONNECT

    async def send(self, event: Any) -> None:
        """Answer. What is long, or comes in several events, leaves in pieces."""
        if event["type"] == "http.response.start":
            self._start = event
            return
        body = event.get("body", b"")
        if self._pieces is None:
            headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self._start["headers"]]
            if self._draining is not None and self._draining.is_on:
                headers.append(("connection", "close"))
            if not event.get("more_body") and len(body) <= WHOLE_BYTES:
                self._protocol.response_bytes(self._start["status"], headers, body)
                return
            self._pieces = self._protocol.response_stream(self._start["status"], headers)
        with contextlib.suppress(ProtocolClosed):  # the caller has hung up, and may fetch the answer again
            for at in range(0, len(body), WHOLE_BYTES):
                await self._pieces.send_bytes(body[at : at + WHOLE_BYTES])
