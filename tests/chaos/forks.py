"""Starts processes through tests/chaos/forking_parent.py."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping

import msgspec

from compose.sandbox.child import ROOT, tethered
from tests.chaos.forking_parent import ForkRequest


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
