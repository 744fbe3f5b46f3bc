"""Keeps the processes of the Procfile running: `python -m compose.processes [--scale worker-render=2]`.

A process that ends is started again: at once, or after a pause that grows when it keeps ending early. The others keep running.
SIGTERM, SIGINT and SIGHUP stop all processes in the order of STAGES, so that no call loses a process that it needs. SIGUSR1
stops all at once. stdout has one line for each process that ended; stderr has the output of the processes.

supervisord does not kill the children of a process that was killed: granian's worker would run beside its successor, and two
facilitators would use the account nonces of one account. If supervisord itself is killed, its processes keep running.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from compose.control import NotDone, Report, commands_taken
from compose.package_workers import all_lines
from compose.procfile import PROCFILE, InvalidProcfile, Line, parse_scale, scaled
from compose.readiness import QueueUnreadable, expect, members
from compose.supervised_process import SupervisedProcess
from compose.users import Account, Accounts, accounts
from jobs.packages import RefusedPackage
from shared.ledger.keys import SELLERS
from shared.process.command_line import command_line
from shared.process.setting_names import read_settings
from shared.servers.ledger_servers import run_check
from shared.servers.ledger_start import NEW_LEDGER, refuse_wrong_ledger
from shared.settings.service import InvalidSetting, Settings

CLAIMER = Line("claimer", ("python", "-m", "facilitator.claimer"), {})
"""A line that every Procfile has where calls are sold by channels. Without them there is nothing to claim."""

WITHIN_S = 15.0
"""How long a process may take. It answers calls meanwhile."""
_READ_TIMEOUT_S = 60.0


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
    Stage(CLAIMER.name, 30.0),  # claims what is owed before it ends, through the facilitator
    Stage("facilitator", 25.0),  # a settlement may outlast the call that asked for it
)
STOP_WITHIN_S = sum(stage.stop_timeout_s for stage in STAGES)

STOP_NOW = signal.SIGUSR1
"""Stops all processes at once, after a failed start. A granian worker that has not loaded its app yet misses SIGTERM, and its
master kills it only after 40 s."""
STOP_NOW_TIMEOUT_S = 3.0


READY_WITHIN_S = 180.0
"""As long as for the first start: on a machine that is busy a process takes more than a minute."""
_LOOK_S = 0.05


class Supervisor:
    """The processes of all lines of the Procfile, each line as often as it is wanted."""

    def __init__(self, lines: Sequence[Line], users: Accounts, settings: Settings, tasks: asyncio.TaskGroup) -> None:
        self._lines = {line.name: line for line in lines}
        self._users = users
        self._settings = settings
        self._tasks = tasks
        self._running: dict[str, list[SupervisedProcess]] = {name: [] for name in self._lines}

    def start(self, name: str) -> SupervisedProcess:
        """Start one more process of a line."""
        process = SupervisedProcess(self._lines[name], self._users.of(name))
        self._running[name].append(process)
        self._tasks.create_task(process.keep())
        return process

    async def stop(self, *, at_once: bool) -> None:
        """Stop everything, in the order of STAGES, or all at once."""
        if at_once:
            everything = [process for each in self._running.values() for process in each]
            await asyncio.gather(*(process.stop(STOP_NOW_TIMEOUT_S) for process in everything))
        for stage in STAGES:
            members = [process for name in self._of(stage) for process in self._running[name]]
            await asyncio.gather(*(process.stop(stage.stop_timeout_s) for process in members))

    async def restart(self, names: Sequence[str], report: Report) -> None:
        """Start each process of these lines anew, one after the other; without names of all lines. The API comes last, as it
        stops first. A new process is ready before its old one stops, where two may run beside each other.

        Raises:
            InvalidProcfile: there is no such line.
            NotDone: a new process is not ready.
        """
        scaled(list(self._lines.values()), dict.fromkeys(names, 0))
        order = [name for stage in reversed(STAGES) for name in self._of(stage)]
        for name in order:
            for old in list(self._running[name]) if name in (names or order) else ():
                if name == "api" or name.startswith("worker"):
                    await self._add(name)
                    await self._remove(old)
                else:
                    await self._remove(old)
                    await self._add(name, stays=True)
                report(f"{name} is restarted")

    async def scale(self, scale: Mapping[str, int], report: Report) -> None:
        """Run each of these lines so many times: start what is missing, or stop the newest.

        Raises:
            InvalidProcfile: there is no such line, or it may run only once.
            NotDone: a new process is not ready.
        """
        scaled(list(self._lines.values()), scale)
        for name, count in scale.items():
            for surplus in self._running[name][count:]:
                await self._remove(surplus)
            while len(self._running[name]) < count:
                await self._add(name)
            report(f"processes of {name}: {count}")

    async def reload(self, report: Report) -> None:
        """Have the API read its price list again. Raises NotDone when it is wrong, or a process does not take it."""
        await reload_prices(self._running.get("api", ()), self._users.of("api"), self._settings, report)

    async def _add(self, name: str, *, stays: bool = False) -> None:
        """Start one process more, and wait until it is ready. One that is not ready is stopped again, unless it stays."""
        try:
            is_ready = await asyncio.to_thread(expect, self._lines[name], self._settings)
        except QueueUnreadable:
            raise NotDone(f"no new {name} is started: the queue cannot be read") from None
        process = self.start(name)
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                while not process.has_ended:
                    if process.pid is not None and await asyncio.to_thread(is_ready, process.pid):
                        return
                    await asyncio.sleep(_LOOK_S)
            why = "ended"
        except TimeoutError:
            why = f"was not ready within {READY_WITHIN_S:.0f} s"
        if not stays:
            await self._remove(process)
        raise NotDone(f"a new {name} {why}, as the log says; processes of {name}: {len(self._running[name])}")

    async def _remove(self, process: SupervisedProcess) -> None:
        await process.stop(next(stage.stop_timeout_s for stage in STAGES if process.name in self._of(stage)))
        self._running[process.name].remove(process)

    def _of(self, stage: Stage) -> list[str]:
        """The lines of a stage."""
        named = {each.name for each in STAGES}
        return [name for name in self._lines if stage.name == (name if name in named else None)]


async def run(
    lines: Sequence[Line], scale: Mapping[str, int], users: Accounts, settings: Settings, socket: Path | None
) -> None:
    """Run all processes until a signal, then stop them.

    Args:
        socket: where commands are taken (compose/control.py); None: nowhere.
    """
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, STOP_NOW):
        asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
    async with asyncio.TaskGroup() as tasks:
        supervisor = Supervisor(lines, users, settings, tasks)
        async with commands_taken(socket, supervisor):
            for line in lines:
                for _ in range(scale.get(line.name, 1)):
                    supervisor.start(line.name)
            number = await signals.get()
        await supervisor.stop(at_once=number == STOP_NOW)


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Exit code 0, or 1 with the reason on stderr."""
    parser = command_line("python -m compose.processes", "Keep the Procfile's processes running.")
    parser.add_argument("--procfile", type=Path, default=PROCFILE)
    parser.add_argument("--scale", metavar="NAME=N,...", default="", help="processes per line, e.g. worker-render=2")
    parser.add_argument("--new-ledger", action="store_true", help=NEW_LEDGER)
    parser.add_argument("--control", metavar="SOCKET", type=Path, help="take the commands of coinslot-ops at this path")
    arguments = parser.parse_args(argv)
    try:
        lines, scale = all_lines(arguments.procfile), parse_scale(arguments.scale)
        settings = read_settings(os.environ)
        if settings.evm.has_channels:
            lines.append(CLAIMER)
        scaled(lines, scale)  # report a mistake before anything is started
        users = accounts(settings)
        refuse_wrong_ledger(settings, run_check, is_new=arguments.new_ledger)
    except (InvalidProcfile, InvalidSetting, RefusedPackage) as error:
        print(f"coinslot: {error}", file=sys.stderr)
        return 1
    asyncio.run(run(lines, scale, users, settings, arguments.control))
    return 0


async def reload_prices(
    processes: Sequence[SupervisedProcess], account: Account | None, settings: Settings, report: Report
) -> None:
    """Have these processes sell at the list as it is now.

    Args:
        account: who runs them, and has to be able to read the list.

    Raises:
        NotDone: the list is wrong, and nothing has changed; or a process does not sell at it.
    """
    version = await asyncio.to_thread(_version, account)
    for process in processes:
        if (pid := process.pid) is None:
            continue  # it reads the list at its start
        before = await asyncio.to_thread(_sellers, settings, pid, version)
        process.hang_up()
        try:
            async with asyncio.timeout(WITHIN_S):
                while process.pid == pid:
                    if await asyncio.to_thread(_sellers, settings, pid, version) > before:
                        break
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            raise NotDone(
                f"{process.name} ({pid}) has not taken the prices within {WITHIN_S:.0f} s, as the log says"
            ) from None
        report(f"{process.name} ({pid}) sells at the prices of version {version}")


def _version(account: Account | None) -> str:
    """The version of the price list, read in a process of its own: this one is not to have all endpoints in its memory."""
    command = [sys.executable, "-m", "jobs.price_list"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_READ_TIMEOUT_S,
            check=False,
            **(account.options if account else {}),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotDone(f"the price list cannot be read: {error}") from None
    if done.returncode:
        raise NotDone(" ".join(done.stderr.split()))
    version: str = done.stdout.partition("\n")[0]
    return version


def _sellers(settings: Settings, group: int, version: str) -> float:
    """When a process of a process group last said that it sells at a list, in Unix milliseconds; 0: never."""
    from redis.exceptions import RedisError  # only when something is reloaded: it takes 15 MB

    from shared.servers.ledger_servers import connect_ledger
    from shared.servers.ledger_start import WrongLedger

    host = socket.gethostname()
    try:
        with connect_ledger(settings) as ledger:
            found = ledger.zmscore(SELLERS, [f"{host}:{pid} {version}" for pid in members(group)])
    except (RedisError, WrongLedger):
        raise NotDone("the ledger cannot be read, so nobody knows at which prices the API sells") from None
    return max((score for score in cast(list[Any], found) if score is not None), default=0.0)


if __name__ == "__main__":
    sys.exit(main())
