"""One process of the Procfile: it is started again when it ends, and stopped with SIGTERM."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import TextIO

from compose.procfile import Line
from compose.sandbox.child import tethered
from compose.users import Account
from shared.observability.logs import Formatter, LogFormat
from shared.settings.service import PREFIX

STEADY_S = 10.0
"""A process that ran for this long is started again at once."""
SHORTEST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 30.0


class SupervisedProcess:
    """One process, which is started again when it ends.

    Attributes:
        has_ended: whether it has ended at least once although nobody stopped it.
    """

    def __init__(self, line: Line, account: Account | None = None) -> None:
        self.name = line.name
        self._account = account
        self._line = line
        self._process: asyncio.subprocess.Process | None = None
        self._pause_s = 0.0
        self._stopping = asyncio.Event()
        self._over = asyncio.Event()
        self.has_ended = False

    @property
    def pid(self) -> int | None:
        """The process's id, which is also that of its process group; None while none is running."""
        is_running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process is not None and is_running else None

    async def keep(self) -> None:
        """Run the process, and start it again when it ends, until `stop`."""
        while not self._stopping.is_set():
            started_at = time.monotonic()
            ended = await self._run()
            lived_s = time.monotonic() - started_at
            if self._stopping.is_set():
                break
            self.has_ended = True
            grown_s = max(SHORTEST_PAUSE_S, min(2 * self._pause_s, LONGEST_PAUSE_S))
            self._pause_s = 0.0 if lived_s >= STEADY_S else grown_s
            ended = f"{self.name} {ended}, {lived_s:.1f} s after its start"
            say(sys.stdout, ended)
            log(f"{ended}; it is started again in {self._pause_s:.2f} s")
            await _is_set_within(self._stopping, self._pause_s)
        self._over.set()

    def hang_up(self) -> None:
        """Send SIGHUP, which the API takes for "read the price list again"."""
        self._signal(signal.SIGHUP)

    async def stop(self, stop_timeout_s: float) -> None:
        """Send SIGTERM, wait, send SIGKILL, wait. Only the process gets SIGTERM, not its children, and only once: workers of
        granian and Dramatiq that get a second one drop the work in progress."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._signal(signal.SIGTERM)
        if not await _is_set_within(self._over, stop_timeout_s):
            log(f"{self.name} did not stop within {stop_timeout_s:g} s and is killed")
            self._signal(signal.SIGKILL)
            await self._over.wait()

    async def _run(self) -> str:
        """Run the process once. Returns a text that says how it ended."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *tethered(),
                *self._line.command,
                env={**_environment(self._account), **self._line.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
                process_group=0,  # Ctrl-C in a terminal reaches this process only
                **(self._account.options if self._account else {}),
            )
        except OSError as error:
            return f"could not be started ({error.strerror})"
        if self._stopping.is_set():  # stopped while it was starting
            self._signal(signal.SIGTERM)
        status = await self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its children
        return f"was ended by a signal ({signal.strsignal(-status)})" if status < 0 else f"ended with status {status}"

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)


def _environment(account: Account | None) -> dict[str, str]:
    # The console scripts of this environment come first: the Procfile says `python` and `dramatiq`. Where a symbolic link leads
    # to the environment, it may lead to a newer one later, and a process loads modules late: it keeps the one of its start.
    path = f"{os.path.realpath(Path(sys.executable).parent)}{os.pathsep}{os.environ.get('PATH', '')}"
    home = {"HOME": account.home} if account else {}
    return {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", **home}


async def _is_set_within(event: asyncio.Event, limit_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), limit_s)
    return event.is_set()


def log(text: str) -> None:
    """Write a line into the log of all processes, as they write theirs."""
    record = logging.LogRecord("compose.processes", logging.WARNING, __file__, 0, text, (), None)
    say(sys.stderr, Formatter(os.environ.get(f"{PREFIX}LOG", LogFormat.TEXT)).format(record))


def say(stream: TextIO, text: str) -> None:
    """Write a line at once."""
    with contextlib.suppress(OSError):  # nobody reads it: the processes must be stopped all the same
        os.write(stream.fileno(), f"{text}\n".encode())
