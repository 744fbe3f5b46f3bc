"""Free work takes a share of the time, whatever its pieces cost."""

import asyncio
import time
from itertools import pairwise

import pytest

from api.errors import Problem
from api.pages import free_work
from api.pages.free_work import MOST_WAITING, FreeWork

pytestmark = pytest.mark.anyio


async def test_pieces_keep_their_order_and_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each begins when the one before has had its time: here twice what it took, the failed one too."""
    monkeypatch.setattr(free_work, "SHARE", 0.5)
    monkeypatch.setattr(free_work, "BURST_S", 0.0)
    work, began = FreeWork(), list[tuple[int, float]]()

    def piece(number: int) -> None:
        began.append((number, time.monotonic()))
        time.sleep(0.01)
        if number == 1:
            raise ValueError("a piece that fails")

    done = await asyncio.gather(
        *(work.run(lambda number=number: piece(number)) for number in range(3)), return_exceptions=True
    )
    assert [type(one) for one in done] == [type(None), ValueError, type(None)]
    assert [number for number, _ in began] == [0, 1, 2]
    for (_, before), (_, after) in pairwise(began):
        assert after - before >= 0.02 - 0.001


class Clock:
    """Seconds, which pass when a piece says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


async def test_nobody_waits_for_long() -> None:
    """After 60 ms of work, the next is refused at once, and told when it is worth a try."""
    clock = Clock()
    work = FreeWork(clock)
    await work.run(lambda: clock.spend(0.06))
    with pytest.raises(Problem) as refused:
        await work.run(lambda: None)
    assert (refused.value.code, refused.value.charged) == ("unavailable", False)
    assert refused.value.retry_after_s == 4  # six seconds, less the two that were kept
    clock.spend(4)
    await work.run(lambda: None)


async def test_few_wait() -> None:
    """However short the wait is."""
    clock = Clock()
    work = FreeWork(clock)
    await work.run(lambda: clock.spend(0.0201))
    pieces = (work.run(lambda: None) for _ in range(MOST_WAITING + 3))
    done = await asyncio.gather(*pieces, return_exceptions=True)
    assert [one is None for one in done] == [True] * MOST_WAITING + [False] * 3
