"""The application's life behind granian's interface, and how it answers there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from api.http import Answer, respond
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

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> Protocol:
        self.told.append((status, headers))
        return self

    async def send_bytes(self, piece: bytes) -> None:
        if len(self.pieces) == self._patience:
            raise ProtocolClosed
        self.pieces.append(piece)


@pytest.mark.anyio
@each(
    ("body", "patience", "lengths"),
    [
        (b"", 9, [0]),
        (b"x" * WHOLE_BYTES, 9, [WHOLE_BYTES]),
        (bytes(range(256)) * 700, 9, [WHOLE_BYTES, WHOLE_BYTES, 179_200 - 2 * WHOLE_BYTES]),
        (bytes(range(256)) * 700, 1, [WHOLE_BYTES]),
    ],
    ids=["empty", "in one piece", "in pieces", "to a caller who hangs up"],
)
async def test_a_long_response_is_sent_in_pieces(body: bytes, patience: int, lengths: list[int]) -> None:
    """With its length told before, so that it is not chunked."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    protocol = Protocol(patience)
    call: Any = Rsgi(app, lambda: None)  # type: ignore[arg-type, return-value]
    await call.__rsgi__(Scope(), protocol)
    assert protocol.told == [(200, [("content-length", str(len(body)))])]
    assert [len(piece) for piece in protocol.pieces] == lengths
    assert body.startswith(b"".join(protocol.pieces))


@pytest.mark.anyio
@pytest.mark.parametrize("patience", [9, 1], ids=["to its end", "to a caller who hangs up"])
async def test_an_answer_in_several_events_is_one_response(patience: int) -> None:
    """A paid call sends what is long in pieces: one head, and each piece as it comes."""
    body = bytes(range(256)) * 700

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, Answer(200, (), body), request_id="r")

    protocol = Protocol(patience)
    call: Any = Rsgi(app, lambda: None)  # type: ignore[arg-type, return-value]
    await call.__rsgi__(Scope(), protocol)
    ((status, headers),) = protocol.told
    assert (status, dict(headers)["content-length"]) == (200, str(len(body)))
    assert b"".join(protocol.pieces) == body[: patience * WHOLE_BYTES]
