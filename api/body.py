"""Reads the body of a request up to a limit, or reads and drops it."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from litestar.types import Receive, Scope

from api.causes import Cause
from api.errors import Problem, problem_of
from api.long_bodies import ArrivingBody, LongBodies

READ_TIMEOUT_S = 10.0
DISCARD_TIMEOUT_S = 2.0
DISCARD_BYTES = 16 * 1024 * 1024
PEEK_BYTES = 64 * 1024
"""The longest body that is read before it is paid for, to bind the challenge to it."""

_LATE = "the body is late"


class RequestBody:
    """The body of one request, read at most once."""

    def __init__(self, scope: Scope, receive: Receive, long_bodies: LongBodies) -> None:
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._client = scope.get("client")
        self._receive = receive
        self._long_bodies = long_bodies
        self._is_over = b"content-length" not in self._headers and b"transfer-encoding" not in self._headers
        self._content: bytes | None = b"" if self._is_over else None

    async def peek(self) -> bytes | None:
        """The body of a request that has not paid, whatever its type and content.

        Returns None when the body is longer than PEEK_BYTES, declares no length, or has not arrived within 2 s. Never raises.
        """
        declared = self._headers.get(b"content-length", b"")
        if self._content is None and not self._is_over and declared.isdigit() and int(declared[:20]) <= PEEK_BYTES:
            try:
                self._content = await _in_time(self._joined(PEEK_BYTES), DISCARD_TIMEOUT_S)
            except (Problem, TimeoutError):
                self._is_over = True
        return self._content

    async def read(self, *, limit: int, payer: str) -> bytes:
        """The whole body.

        Args:
            limit: the longest body that is accepted, in bytes.
            payer: who holds a share of what long bodies may take.

        Raises:
            Problem: `too_large`, `unsupported_media_type`, `invalid_body` when the body does not arrive within 10 s, or
                `pool_full` when too many bytes of long bodies have arrived and wait.
        """
        self.require_no_coding()
        declared = self._headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared[:20]) > limit:
            raise _too_large(limit)
        if self._is_over:
            return b""
        with self._long_bodies.arriving(payer, self._client) as arriving:
            try:
                self._content = body = await _in_time(self._joined(limit, arriving), READ_TIMEOUT_S)
            except TimeoutError:
                self._is_over = True
                raise problem_of(Cause.BODY_LATE) from None
            await arriving.checked_in_turn()
        if body and not _is_json(self._headers.get(b"content-type")):
            raise Problem(code="unsupported_media_type", detail="Send the body as application/json.")
        return body

    def require_no_coding(self) -> None:
        """Raise Problem `unsupported_media_type` for a compressed body.

        Nothing is decompressed: the body that is measured, hashed and paid for is the one that was sent, and a short one cannot
        become a long one here.
        """
        if self._headers.get(b"content-encoding", b"identity").strip().lower() not in (b"", b"identity"):
            raise Problem(
                code="unsupported_media_type",
                detail="Send the body as it is, without a Content-Encoding.",
                headers=((b"accept-encoding", b"identity"),),
            )

    async def discard(self) -> None:
        """Read and drop the rest of the body: a client whose upload is cut off never sees the answer.

        Stops without an error after DISCARD_BYTES or 2 s.
        """
        if self._is_over:
            return
        size = 0
        with contextlib.suppress(Problem, TimeoutError):
            async with asyncio.timeout(DISCARD_TIMEOUT_S):
                while not self._is_over and size <= DISCARD_BYTES:
                    size += len(await self._next())

    async def _joined(self, limit: int, arriving: ArrivingBody | None = None) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while not self._is_over:
            chunk = await self._next()
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            if arriving is not None:
                arriving.add(len(chunk))
            chunks.append(chunk)
        return b"".join(chunks)

    async def _next(self) -> bytes:
        event: Any = await self._receive()
        if event["type"] == "http.disconnect":
            self._is_over = True
            raise problem_of(Cause.BODY_TRAILERS if b"trailer" in self._headers else Cause.BODY_CUT_OFF)
        self._is_over = not event.get("more_body", False)
        chunk: bytes = event.get("body", b"")
        return chunk


async def _in_time(reading: Coroutine[Any, Any, bytes], seconds: float) -> bytes:
    """Await `reading` for at most `seconds`. Costs a third of asyncio.timeout, which takes 3 us. Raises TimeoutError."""
    task = asyncio.current_task()
    assert task is not None
    timer = task.get_loop().call_later(seconds, task.cancel, _LATE)
    try:
        return await reading
    except asyncio.CancelledError as cancelled:
        if cancelled.args != (_LATE,):
            raise
        task.uncancel()
        raise TimeoutError from None
    finally:
        timer.cancel()


def _too_large(limit: int) -> Problem:
    return Problem(code="too_large", detail=f"The body may have at most {limit} bytes.")


def _is_json(content_type: bytes | None) -> bool:
    if content_type is None:
        return True
    media_type = content_type.split(b";")[0].strip().lower()
    return media_type == b"application/json" or (
        media_type.startswith(b"application/") and media_type.endswith(b"+json")
    )
