"""Keeps the processes of the Procfile running: `python -m compose.processes [--scale worker-render=2]`.

One that ends is started again: at once, or after a pause that grows when it keeps ending early. The others are not disturbed.
SIGTERM, SIGINT and SIGHUP stop all of them in an order in which no call loses what it needs (STAGES), SIGUSR1 stops them at
once. On stdout is one line for each that ended; on stderr is what they say themselves.

Not supervisord, which was tried: what a killed process leaves running stays beside its successor. granian's worker outlives its
master that way, and two facilitators would number the transactions of one account. Nor does it end anything when it is killed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from compose.procfile import PROCFILE, InvalidProcfile, Line, parse_scale, read_procfile, scaled
from compose.sandbox.child import tethered

STEADY_S = 10.0
"""A process that lived so long is started again at once."""
SHORTEST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Stage:
    """Processes that are stopped together.

    Attributes:
        name: of the Procfile line; None stands for all lines that no other stage names.
        patience_s: from SIGTERM to SIGKILL: longer than the time that the process gives its own work.
    """

    name: str | None
    patience_s: float


STAGES = (
    Stage("api", 45.0),  # takes no more calls; the calls in flight need all the others
    Stage(None, 35.0),
    Stage("facilitator", 25.0),  # a settlement may outlast the call that asked for it
)
STOP_WITHIN_S = sum(stage.patience_s for stage in STAGES)

HURRY = signal.SIGUSR1
"""Stops all at once and with little patience: for a start that failed. A worker of granian that has not loaded its app yet
misses SIGTERM, and is killed by its master only after 40 s."""
HURRY_S = 3.0


class Kept:
    """One process, and its successors."""

    def __init__(self, line: Line) -> None:
        self.name = line.name
        self._line = line
        self._process: asyncio.subprocess.Process | None = None
        self._pause_s = 0.0
        self._stopping = asyncio.Event()
        self._over = asyncio.Event()

    async def keep(self) -> None:
        """Run it, again and again, until `stop`."""
        while not self._stopping.is_set():
            started_at = time.monotonic()
            ended = await self._run()
            lived_s = time.monotonic() - started_at
            if self._stopping.is_set():
                break
            grown_s = max(SHORTEST_PAUSE_S, min(2 * self._pause_s, LONGEST_PAUSE_S))
            self._pause_s = 0.0 if lived_s >= STEADY_S else grown_s
            ended = f"{self.name} {ended}, {lived_s:.1f} s after its start"
            _say(sys.stdout, ended)
            _say(sys.stderr, f"coinslot: {ended}; it is started again in {self._pause_s:.2f} s")
            await _is_set_within(self._stopping, self._pause_s)
        self._over.set()

    async def stop(self, patience_s: float) -> None:
        """SIGTERM, wait, SIGKILL, wait. The process is told and not its children, and once: granian and Dramatiq both take a
        second SIGTERM to a worker for "at once", and drop what is in flight."""
        self._stopping.set()
        self._signal(signal.SIGTERM)
        if not await _is_set_within(self._over, patience_s):
            _say(sys.stderr, f"coinslot: {self.name} did not stop within {patience_s:g} s and is killed")
            self._signal(signal.SIGKILL)
            await self._over.wait()

    async def _run(self) -> str:
        """How it ended, in words."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *tethered(),
                *self._line.command,
                env={**_environment(), **self._line.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
                process_group=0,  # Ctrl-C in a terminal reaches this process only
            )
        except OSError as error:
            return f"could not be started ({error.strerror})"
        if self._stopping.is_set():  # while it was being started
            self._signal(signal.SIGTERM)
        status = await self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # what it left running
        return f"was ended by a signal ({signal.strsignal(-status)})" if status < 0 else f"ended with status {status}"

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)


async def run(lines: Sequence[Line]) -> None:
    """Run all until a signal, then stop them."""
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, HURRY):
        asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
    kept = [Kept(line) for line in lines]
    named = {stage.name for stage in STAGES}
    async with asyncio.TaskGroup() as tasks:
        for one in kept:
            tasks.create_task(one.keep())
        if await signals.get() == HURRY:
            await asyncio.gather(*(one.stop(HURRY_S) for one in kept))
        for stage in STAGES:
            members = [one for one in kept if stage.name == (one.name if one.name in named else None)]
            await asyncio.gather(*(one.stop(stage.patience_s) for one in members))


def _environment() -> dict[str, str]:
    # The console scripts of this environment come first: the Procfile says `python` and `dramatiq`.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}


async def _is_set_within(event: asyncio.Event, limit_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), limit_s)
    return event.is_set()


def _say(stream: TextIO, text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads any more: that must not keep anything from being stopped
        os.write(stream.fileno(), f"{text}\n".encode())


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Exit code 0, or 1 with the reason on stderr."""
    parser = argparse.ArgumentParser(
        prog="python -m compose.processes", description="Keep the Procfile's processes running."
    )
    parser.add_argument("--procfile", type=Path, default=PROCFILE)
    parser.add_argument("--scale", metavar="NAME=N,...", default="", help="processes per line, e.g. worker-render=2")
    arguments = parser.parse_args(argv)
    try:
        lines = scaled(read_procfile(arguments.procfile), parse_scale(arguments.scale))
    except InvalidProcfile as error:
        print(f"coinslot: {error}", file=sys.stderr)
        return 1
    asyncio.run(run(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
