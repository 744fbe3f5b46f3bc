"""A request's body, as ASGI gives it: in parts, late, too much of it, or not at all."""

import asyncio
from typing import Any

import pytest

from api import body
from api.body import RequestBody
from api.errors import Problem
from api.long_bodies import LONG_BYTES, LongBodies
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

LENGTH = [(b"content-length", b"4")]
CHUNKED = [(b"transfer-encoding", b"chunked")]


class Upload:
    """An ASGI receive: one event after the other, and then nothing for ever."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = list(events)

    async def __call__(self) -> Any:
        """The next event."""
        if not self.events:
            await asyncio.Event().wait()
        return self.events.pop(0)


def part(content: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": content, "more_body": more}


def request(upload: Upload, headers: list[tuple[bytes, bytes]] = LENGTH) -> RequestBody:
    scope: Any = {"headers": headers}
    return RequestBody(scope, upload, LongBodies())  # type: ignore[arg-type]


async def test_parts_are_joined() -> None:
    """Empty ones too."""
    upload = Upload(part(b"{}"), part(b""), part(b" "), part(b"\n", more=False))
    assert await request(upload).read(limit=4, payer="P") == b"{} \n"


async def test_no_body_is_not_waited_for() -> None:
    """A request without a length has none."""
    assert await request(Upload(), []).read(limit=4, payer="P") == b""


async def test_more_than_the_limit_is_refused_where_it_is_reached() -> None:
    """Whatever length was declared; what follows is left to `discard`."""
    upload = Upload(part(b"123"), part(b"45"), part(b"6", more=False))
    reading = request(upload, [(b"transfer-encoding", b"chunked")])
    with pytest.raises(Problem) as refused:
        await reading.read(limit=4, payer="P")
    assert (refused.value.code, len(upload.events)) == ("too_large", 1)
    await reading.discard()
    assert upload.events == []


async def test_a_body_that_is_late_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call goes on to say so: nothing is left of the cancellation, and nothing more is waited for."""
    monkeypatch.setattr(body, "READ_TIMEOUT_S", 0.01)
    reading = request(Upload(part(b"{")))
    with pytest.raises(Problem) as late:
        await reading.read(limit=4, payer="P")
    assert (late.value.code, late.value.detail) == ("invalid_body", "The body did not arrive in time.")
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    async with asyncio.timeout(patience(1)):
        await reading.discard()


async def test_a_call_that_is_cancelled_is_not_late() -> None:
    """A server that stops means it."""
    task = asyncio.create_task(request(Upload(part(b"{"))).read(limit=4, payer="P"))
    await asyncio.sleep(0)
    task.cancel("stopping")
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_body_in_time_leaves_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would cancel whatever the same task does later."""
    monkeypatch.setattr(body, "READ_TIMEOUT_S", 0.01)
    assert await request(Upload(part(b"{}", more=False))).read(limit=4, payer="P") == b"{}"
    await asyncio.sleep(0.03)


async def test_a_connection_that_ends_is_no_end_of_the_body() -> None:
    """What came of it is not taken for the whole."""
    with pytest.raises(Problem) as cut:
        await request(Upload(part(b"{}"), {"type": "http.disconnect"})).read(limit=4, payer="P")
    assert cut.value.code == "invalid_body"


async def test_a_short_body_is_looked_at_before_it_is_paid_for() -> None:
    """As it is, JSON or not; reading it afterwards, or giving it up, takes nothing more."""
    reading = request(Upload(part(b"{x"), part(b"\xff]", more=False)))
    assert await reading.peek() == b"{x\xff]"
    assert await reading.peek() == b"{x\xff]"
    async with asyncio.timeout(patience(1)):
        await reading.discard()


async def test_what_was_read_need_not_be_looked_at() -> None:
    """A refusal after the reading knows the body."""
    reading = request(Upload(part(b"{ }1", more=False)))
    assert await reading.read(limit=4, payer="P") == b"{ }1"
    assert await reading.peek() == b"{ }1"
    assert await request(Upload(), []).peek() == b""


@pytest.mark.parametrize(
    "headers",
    [[(b"content-length", str(body.PEEK_BYTES + 1).encode())], [(b"content-length", b"x")], CHUNKED],
    ids=["long", "no number", "no length"],
)
async def test_other_bodies_are_not_looked_at(headers: list[tuple[bytes, bytes]]) -> None:
    """They are read by whoever pays."""
    upload = Upload(part(b"1234", more=False))
    reading = request(upload, headers)
    assert await reading.peek() is None
    assert len(upload.events) == 1
    await reading.discard()
    assert upload.events == []


@pytest.mark.parametrize(
    "events",
    [[part(b"12")], [part(b"12"), {"type": "http.disconnect"}], [part(b"1" * (body.PEEK_BYTES + 1))]],
    ids=["late", "cut off", "longer than declared"],
)
async def test_a_look_that_fails_says_nothing(events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The price is told all the same, and nobody waits for the rest."""
    monkeypatch.setattr(body, "DISCARD_TIMEOUT_S", 0.01)
    reading = request(Upload(*events))
    assert await reading.peek() is None
    async with asyncio.timeout(patience(1)):
        await reading.discard()


async def test_long_bodies_wait_for_each_other_and_short_ones_do_not() -> None:
    """By what has arrived, whatever length was declared."""
    waits: list[int] = []

    class Counted(LongBodies):
        async def wait(self, size: int) -> None:
            waits.append(size)

    limit = 2 * LONG_BYTES
    for size in (LONG_BYTES, LONG_BYTES + 1):
        for headers in ([(b"content-length", b"%d" % size)], CHUNKED):
            scope: Any = {"headers": headers}
            upload = Upload(part(b" " * 7), part(b" " * (size - 7), more=False))
            await RequestBody(scope, upload, Counted()).read(limit=limit, payer="P")  # type: ignore[arg-type]
    assert waits == [LONG_BYTES + 1] * 2
