"""Time limits of which most never pass."""

import asyncio
import gc
import time
import weakref

import pytest

from api.deadlines import TICK_S, Deadlines

pytestmark = pytest.mark.anyio


class Call:
    """Takes as long as it takes."""

    def __init__(self) -> None:
        self.is_done = False
        self.expired_at: list[float] = []

    def done(self) -> bool:
        return self.is_done

    def expire(self) -> None:
        self.expired_at.append(time.monotonic())
        self.is_done = True


async def test_what_is_late_is_told_once_and_what_is_done_never() -> None:
    """Whatever lengths are mixed; not before its time."""
    deadlines, began = Deadlines(), time.monotonic()
    calls = [(Call(), seconds) for seconds in (0.3, 0.05, 0.15, 0.05, 0.3)]
    for call, seconds in calls:
        deadlines.watch(call, seconds)
    calls[3][0].is_done = True
    await asyncio.sleep(0.3 + 4 * TICK_S)

    for number, (call, seconds) in enumerate(calls):
        assert [at - began >= seconds for at in call.expired_at] == ([] if number == 3 else [True])


async def test_it_ticks_only_while_something_waits() -> None:
    """An idle process sleeps; the next call is watched again."""
    deadlines = Deadlines()
    for _ in range(2):
        call = Call()
        deadlines.watch(call, 0.01)
        assert deadlines._timer is not None
        await asyncio.sleep(4 * TICK_S)
        assert deadlines._timer is None
        assert call.expired_at


async def test_what_ended_behind_one_that_did_not_is_let_go() -> None:
    """A slow call at the head of the line keeps at most some thousand others in memory, and is itself still watched."""
    deadlines, slow = Deadlines(), Call()
    deadlines.watch(slow, 0.5)
    ended: list[weakref.ref[Call]] = []
    for _ in range(10_000):
        call = Call()
        deadlines.watch(call, 0.5)
        call.is_done = True
        ended.append(weakref.ref(call))
    del call
    gc.collect()

    assert sum(one() is not None for one in ended) <= 1_001
    await asyncio.sleep(0.5 + 4 * TICK_S)
    assert len(slow.expired_at) == 1
