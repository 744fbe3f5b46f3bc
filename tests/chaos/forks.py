"""Starts processes through tests/chaos/forking_parent.py."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import aiohttp
import msgspec

from compose.sandbox.child import ROOT, tethered
from tests.chaos.forking_parent import ForkRequest
from tests.time_limits import patience

if TYPE_CHECKING:
    from tests.chaos.servers import Service

READY_WITHIN_S = patience(60.0)


class Forked:
    """A process that the forking parent has forked, with some methods of Popen. Its status is unknown: it is not our child."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:  # it has ended
            self._descriptor = -1

    def poll(self) -> int | None:
        """None while it runs."""
        return None if self._runs(0) else -1

    def wait(self) -> None:
        """Return when it has ended."""
        self._runs(None)

    def _runs(self, timeout: float | None) -> bool:
        if self._descriptor >= 0 and select.select([self._descriptor], [], [], timeout)[0]:
            os.close(self._descriptor)
            self._descriptor = -1
        return self._descriptor >= 0


class Forks:
    """The forking parent. It starts one process at a time.

    Args:
        environment: of all its processes.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [*tethered(), sys.executable, "-m", "tests.chaos.forking_parent"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._turn = threading.Lock()
        assert self._read() == b"ready\n"

    def fork(self, request: ForkRequest) -> int:
        """Start a process; its pid."""
        assert self._process.stdin is not None
        with self._turn:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
            return int(self._read())

    def close(self) -> None:
        """End it, and with it all that it has forked."""
        self._process.communicate()

    def _read(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class ForkingParent:
    """What a case asks of the forking parent and of the facilitator."""

    def __init__(self, forks: Forks, service: Service, session: aiohttp.ClientSession) -> None:
        self._forks = forks
        self._service = service
        self._session = session

    async def fork(self, request: ForkRequest) -> int:
        """Start a process; its pid. When the caller is cancelled meanwhile, it is killed: nobody would know it."""
        forking = asyncio.ensure_future(asyncio.to_thread(self._forks.fork, request))
        try:
            return await asyncio.shield(forking)
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(await forking, signal.SIGKILL)
            raise

    async def control(self, **told: object) -> None:
        """Tell the facilitator how calls are to go."""
        async with self._session.post(self._service.url("facilitator") + "/control", json=told) as answer:
            assert answer.status == 200

    async def transfer_of(self, payment: str) -> None:
        """Return when the payment has been made."""
        give_up_at = time.monotonic() + READY_WITHIN_S
        while payment not in (self._service.folder / "transfers.jsonl").read_text():
            assert time.monotonic() < give_up_at, "it was never made"
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def forking_parent(service: Service) -> AsyncIterator[ForkingParent]:
    """One, until the cases are done."""
    forks = Forks({})
    try:
        async with aiohttp.ClientSession() as session:
            yield ForkingParent(forks, service, session)
    finally:
        forks.close()


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
