"""Long bodies make room for each other, and for everybody else."""

from __future__ import annotations

import asyncio

import pytest

from api import long_bodies
from api.errors import Problem
from api.long_bodies import LONG_BYTES, LongBodies

pytestmark = pytest.mark.anyio


async def test_long_ones_pass_at_so_many_bytes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first at once, each other when the ones before it have had their time, in their order."""
    monkeypatch.setattr(long_bodies, "BYTES_PER_S", 1_000_000)
    bodies, passed = LongBodies(), []
    began = asyncio.get_running_loop().time()

    async def send(number: int, size: int) -> None:
        await bodies.wait(size)
        passed.append((number, asyncio.get_running_loop().time() - began))

    await asyncio.gather(send(0, 100_000), send(1, 50_000), send(2, 200_000))

    assert [number for number, _ in passed] == [0, 1, 2]
    for (_, at), due in zip(passed, (0.0, 0.1, 0.15), strict=True):
        assert due <= at + 0.001


async def test_who_would_wait_too_long_is_told_so() -> None:
    """Uncharged, and without waiting; after a while there is room again."""
    bodies = LongBodies()
    for _ in range(2):
        bodies._free_at = asyncio.get_running_loop().time() + long_bodies.LONGEST_WAIT_S + 1
        with pytest.raises(Problem) as refused:
            await bodies.wait(LONG_BYTES + 1)
        assert (refused.value.code, refused.value.charged) == ("pool_full", False)
    bodies._free_at = asyncio.get_running_loop().time()
    await bodies.wait(LONG_BYTES + 1)
