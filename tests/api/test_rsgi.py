"""The application's life behind granian's interface, and how it answers there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from api.rsgi import WHOLE_BYTES, Rsgi
from tests.each import each


async def nothing(scope: Any, receive: Any, send: Any) -> None:
    """An application."""


def test_it_is_left_by_the_task_that_entered_it() -> None:
    """Task groups insist on it, and Litestar's lifespan has one; granian starts and stops in two runs of the loop."""
    told: list[str] = []

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 0)
            told.append("entered")
            yield
        told.append("left")

    loop = asyncio.new_event_loop()
    app = Rsgi(nothing, lifespan)
    app.__rsgi_init__(loop)
    assert told == ["entered"]
    loop.run_until_complete(asyncio.sleep(0.01))
    assert told == ["entered"]
    app.__rsgi_del__(loop)
    assert told == ["entered", "left"]
    loop.close()


def test_what_fails_at_the_start_ends_the_process() -> None:
    """And is not waited for."""

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        raise ValueError("no rail")
        yield

    loop = asyncio.new_event_loop()
    with pytest.raises(ValueError, match="no rail"):
        Rsgi(nothing, lifespan).__rsgi_init__(loop)
    loop.close()


class Scope:
    """A request without a body."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.http_version = self.scheme = self.method = self.path = self.query_string = self.client = ""


class Protocol:
    """granian's side of one request, whose caller takes so many pieces and then hangs up."""

    def __init__(self, patience: int) -> None:
        self.told: list[tuple[int, list[tuple[str, str]]]] = []
        self.pieces: list[bytes] = []
        self._patience = patience

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.told.append((status, headers))
        self.pieces.append(body)

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "Protocol":
        self.told.append((status, headers))
        return self

    async def send_bytes(self, piece: bytes) -> None:
        if len(self.pieces) == self._patience:
            raise ProtocolClosed
        self.pieces.append(piece)


LONG = bytes(range(256)) * 700
PIECES = [WHOLE_BYTES, WHOLE_BYTES, len(LONG) - 2 * WHOLE_BYTES]


@pytest.mark.anyio
@each(
    ("parts", "patience", "lengths"),
    [
        ([b""], 9, [0]),
        ([b"x" * WHOLE_BYTES], 9, [WHOLE_BYTES]),
        ([LONG], 9, PIECES),
        ([LONG[:WHOLE_BYTES], LONG[WHOLE_BYTES:]], 9, PIECES),
        ([LONG], 1, PIECES[:1]),
    ],
    ids=["empty", "in one piece", "in pieces", "in several events", "to a caller who hangs up"],
)
async def test_a_long_response_is_sent_in_pieces(parts: list[bytes], patience: int, lengths: list[int]) -> None:
    """With one head, whose length comes before, so that it is not chunked."""
    body = b"".join(parts)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        for number, part in enumerate(parts, 1):
            await send({"type": "http.response.body", "body": part, "more_body": number < len(parts)})

    protocol = Protocol(patience)
    call: Any = Rsgi(app, lambda: None)  # type: ignore[arg-type, return-value]
    await call.__rsgi__(Scope(), protocol)
    assert protocol.told == [(200, [("content-length", str(len(body)))])]
    assert [len(piece) for piece in protocol.pieces] == lengths
    assert body.startswith(b"".join(protocol.pieces))
