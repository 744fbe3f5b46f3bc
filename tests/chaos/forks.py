"""The near end of tests/chaos/zygote.py, and the facilitator's control, for all slots."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator

import aiohttp
import msgspec

from compose.sandbox.child import ROOT, tethered
from tests.chaos.stand import Stand
from tests.chaos.zygote import Birth

READY_WITHIN_S = 60.0


class Zygote:
    """Asks for one process at a time."""

    def __init__(self, process: asyncio.subprocess.Process, stand: Stand, session: aiohttp.ClientSession) -> None:
        self._process = process
        self._stand = stand
        self._session = session
        self._turn = asyncio.Lock()

    async def fork(self, birth: Birth) -> int:
        """Start a process; its pid."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._turn:
            self._process.stdin.write(msgspec.json.encode(birth) + b"\n")
            return int(await self._process.stdout.readline())

    async def control(self, **told: object) -> None:
        """Tell the facilitator how calls are to go."""
        async with self._session.post(self._stand.url("facilitator") + "/control", json=told) as answer:
            assert answer.status == 200

    async def transfer_of(self, payment: str) -> None:
        """Return when the payment has been made."""
        give_up_at = time.monotonic() + READY_WITHIN_S
        while payment not in (self._stand.folder / "transfers.jsonl").read_text():
            assert time.monotonic() < give_up_at, "it was never made"
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def zygote(stand: Stand) -> AsyncIterator[Zygote]:
    """One, until the cases are done."""
    process = await asyncio.create_subprocess_exec(
        *tethered(),
        *(sys.executable, "-m", "tests.chaos.zygote"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        async with aiohttp.ClientSession() as session:
            yield Zygote(process, stand, session)
    finally:
        process.stdin.close()
        await process.wait()


async def ended(pid: int) -> None:
    """Return when a process that is not our child has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
