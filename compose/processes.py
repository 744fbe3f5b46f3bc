"""Keeps the processes of the Procfile running: `python -m compose.processes [--scale worker-render=2]`.

A process that ends is started again: at once, or after a pause that grows when it keeps ending early. The others keep running.
SIGTERM, SIGINT and SIGHUP stop all processes in the order of STAGES, so that no call loses a process that it needs. SIGUSR1
stops all at once. stdout has one line for each process that ended; stderr has the output of the processes.

supervisord does not kill the children of a process that was killed: granian's worker would run beside its successor, and two
facilitators would use the account nonces of one account. If supervisord itself is killed, its processes keep running.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
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
from compose.users import Account, Accounts, accounts
from shared.ledger_servers import run_check
from shared.ledger_start import NEW_LEDGER, refuse_wrong_ledger
from shared.logs import Formatter, LogFormat
from shared.setting_names import read_settings
from shared.settings import PREFIX, InvalidSetting

STEADY_S = 10.0
"""A process that ran for this long is started again at once."""
SHORTEST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Stage:
    """Processes that are stopped together.

    Attributes:
        name: of the Procfile line; None: all lines that no other stage names.
        stop_timeout_s: from SIGTERM to SIGKILL. It is longer than the time that the process gives its own work.
    """

    name: str | None
    stop_timeout_s: float


STAGES = (
    Stage("api", 45.0),  # takes no more calls; the calls in flight need all the others
    Stage(None, 35.0),
    Stage("facilitator", 25.0),  # a settlement may outlast the call that asked for it
)
STOP_WITHIN_S = sum(stage.stop_timeout_s for stage in STAGES)

STOP_NOW = signal.SIGUSR1
"""Stops all processes at once, after a failed start. A granian worker that has not loaded its app yet misses SIGTERM, and its
master kills it only after 40 s."""
STOP_NOW_TIMEOUT_S = 3.0


class SupervisedProcess:
    """One process, which is started again when it ends."""

    def __init__(self, line: Line, account: Account | None = None) -> None:
        self.name = line.name
        self._account = account
        self._line = line
        self._process: asyncio.subprocess.Process | None = None
        self._pause_s = 0.0
        self._stopping = asyncio.Event()
        self._over = asyncio.Event()

    async def keep(self) -> None:
        """Run the process, and start it again when it ends, until `stop`."""
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
            _log(f"{ended}; it is started again in {self._pause_s:.2f} s")
            await _is_set_within(self._stopping, self._pause_s)
        self._over.set()

    async def stop(self, stop_timeout_s: float) -> None:
        """Send SIGTERM, wait, send SIGKILL, wait. Only the process gets SIGTERM, not its children, and only once: workers of
        granian and Dramatiq that get a second one drop the work in progress."""
        self._stopping.set()
        self._signal(signal.SIGTERM)
        if not await _is_set_within(self._over, stop_timeout_s):
            _log(f"{self.name} did not stop within {stop_timeout_s:g} s and is killed")
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


async def run(lines: Sequence[Line], users: Accounts) -> None:
    """Run all processes until a signal, then stop them."""
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, STOP_NOW):
        asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
    kept = [SupervisedProcess(line, users.of(line.name)) for line in lines]
    named = {stage.name for stage in STAGES}
    async with asyncio.TaskGroup() as tasks:
        for one in kept:
            tasks.create_task(one.keep())
        if await signals.get() == STOP_NOW:
            await asyncio.gather(*(one.stop(STOP_NOW_TIMEOUT_S) for one in kept))
        for stage in STAGES:
            members = [one for one in kept if stage.name == (one.name if one.name in named else None)]
            await asyncio.gather(*(one.stop(stage.stop_timeout_s) for one in members))


def _environment(account: Account | None) -> dict[str, str]:
    # The console scripts of this environment come first: the Procfile says `python` and `dramatiq`.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    home = {"HOME": account.home} if account else {}
    return {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", **home}


async def _is_set_within(event: asyncio.Event, limit_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), limit_s)
    return event.is_set()


def _log(text: str) -> None:
    """A line in the log of all processes, as they write theirs."""
    record = logging.LogRecord("compose.processes", logging.WARNING, __file__, 0, text, (), None)
    _say(sys.stderr, Formatter(os.environ.get(f"{PREFIX}LOG", LogFormat.TEXT)).format(record))


def _say(stream: TextIO, text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it: the processes must be stopped all the same
        os.write(stream.fileno(), f"{text}\n".encode())


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Exit code 0, or 1 with the reason on stderr."""
    parser = argparse.ArgumentParser(
        prog="python -m compose.processes", description="Keep the Procfile's processes running."
    )
    parser.add_argument("--procfile", type=Path, default=PROCFILE)
    parser.add_argument("--scale", metavar="NAME=N,...", default="", help="processes per line, e.g. worker-render=2")
    parser.add_argument("--new-ledger", action="store_true", help=NEW_LEDGER)
    arguments = parser.parse_args(argv)
    try:
        lines = scaled(read_procfile(arguments.procfile), parse_scale(arguments.scale))
        settings = read_settings(os.environ)
        users = accounts(settings)
        refuse_wrong_ledger(settings, run_check, is_new=arguments.new_ledger)
    except (InvalidProcfile, InvalidSetting) as error:
        print(f"coinslot: {error}", file=sys.stderr)
        return 1
    asyncio.run(run(lines, users))
    return 0


if __name__ == "__main__":
    sys.exit(main())
