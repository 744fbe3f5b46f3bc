"""What keeps the processes running: it starts them again, stops them in order, and leaves nothing behind."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compose.processes import STOP_NOW, SupervisedProcess
from compose.procfile import Line
from compose.sandbox.child import ROOT, tethered
from ops import control
from tests.compose.conftest import alive
from tests.time_limits import patience
from tests.workers.until import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")

SLEEPER = "sh -c 'echo $$ >> {name}.pids; exec sleep 9999'\n"


class Keeper:
    """`python -m compose.processes` on a Procfile, in a folder where its processes leave notes."""

    def __init__(self, folder: Path, procfile: str, *arguments: str) -> None:
        self.folder = folder
        (folder / "Procfile").write_text(procfile)
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(*tethered(), sys.executable, "-m", "compose.processes"),
                    *("--procfile", "Procfile", "--control", "control.sock", *arguments),
                ],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def notes(self, name: str) -> list[str]:
        """The lines of a file that processes write to."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def pids(self, name: str, count: int) -> list[int]:
        """Of all starts of a SLEEPER, once there are so many."""
        until(lambda: len(self.notes(f"{name}.pids")) >= count)
        return [int(pid) for pid in self.notes(f"{name}.pids")]

    def report(self) -> str:
        """The next line for one that ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def command(self, *words: str) -> int:
        """What `coinslot-ops` does with these words; its exit code."""
        until(lambda: (self.folder / "control.sock").exists())
        return control.report(self.folder / "control.sock", words)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to stop, and wait."""
        self.process.send_signal(number)
        return self.process.wait(patience(20))


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Any]:
    """Starts keepers, and stops what a failed test leaves."""
    keepers: list[Keeper] = []

    def start(procfile: str, *arguments: str) -> Keeper:
        keepers.append(Keeper(tmp_path, procfile, *arguments))
        return keepers[-1]

    yield start
    for keeper in keepers:
        keeper.stop(signal.SIGTERM)
        assert keeper.process.stdout is not None
        keeper.process.stdout.close()


def test_one_that_dies_is_started_again_and_the_others_are_not_disturbed(keep: Any) -> None:
    """At once, with a line that says so on stdout and in the log."""
    keeper = keep("one: " + SLEEPER.format(name="one") + "two: " + SLEEPER.format(name="two"))
    (first,), (other,) = keeper.pids("one", 1), keeper.pids("two", 1)

    os.kill(first, signal.SIGKILL)
    killed_at = time.monotonic()
    _, second = keeper.pids("one", 2)

    assert time.monotonic() - killed_at < patience(5)
    assert re.fullmatch(r"one was ended by a signal \(Killed\), \d+\.\d s after its start\n", keeper.report())
    assert any("compose.processes: one was ended" in line and "started again" in line for line in keeper.notes("log"))
    assert (alive(other), keeper.pids("two", 1)) == (True, [other])
    assert keeper.stop() == 0
    assert not alive(second)
    assert not alive(other)


def test_one_that_ends_at_once_is_started_less_and_less_often(keep: Any) -> None:
    """It does not spin, and the others run on."""
    keeper = keep("broken: sh -c 'echo out of luck >&2; exit 3'\ntwo: " + SLEEPER.format(name="two"))
    times = []
    for _ in range(3):
        assert keeper.report().startswith("broken ended with status 3, ")
        times.append(time.monotonic())

    assert times[2] - times[1] > 0.45
    assert keeper.notes("log").count("out of luck") <= 4
    assert len(keeper.pids("two", 1)) == 1


def test_a_command_that_does_not_exist_says_so(keep: Any) -> None:
    """As any other process that ends."""
    keeper = keep("missing: /no/such/program\n")

    assert keeper.report().startswith("missing ended with status 1, ")
    assert "/no/such/program cannot be run: No such file or directory" in keeper.notes("log")


def test_what_a_killed_one_leaves_running_ends_before_its_successor_starts(keep: Any) -> None:
    """granian's worker outlives its master, and would serve beside the new one."""
    keeper = keep("one: sh -c 'cat left.pid >> before; sleep 9999 & echo $! > left.pid; echo $$ >> one.pids; wait'\n")
    (first,) = keeper.pids("one", 1)
    (left,) = keeper.notes("left.pid")
    assert alive(int(left))

    os.kill(first, signal.SIGKILL)
    keeper.pids("one", 2)

    assert keeper.notes("before") == [left]
    assert not alive(int(left))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_they_are_stopped_in_order(keep: Any, number: signal.Signals) -> None:
    """The API first, the facilitator last, and each has ended before the next one hears of it."""
    line = '{0}: sh -c \'trap "echo {0} is told >> order; sleep 0.1; echo {0} ends >> order; exit" TERM; echo >> up; '
    line += "while :; do sleep 0.01; done'\n"
    keeper = keep("".join(map(line.format, ("facilitator", "worker-a", "api", "worker-b"))), "--scale", "worker-b=2")
    until(lambda: len(keeper.notes("up")) == 5)

    assert keeper.stop(number) == 0

    order = keeper.notes("order")
    assert order[:2] == ["api is told", "api ends"]
    assert sorted(order[2:8]) == sorted(
        ["worker-a is told", "worker-a ends", *["worker-b is told", "worker-b ends"] * 2]
    )
    assert sorted(order[2:5]) == ["worker-a is told", "worker-b is told", "worker-b is told"]  # at the same time
    assert order[8:] == ["facilitator is told", "facilitator ends"]


def test_in_a_hurry_all_are_stopped_at_once(keep: Any) -> None:
    """And one that does not hear is killed, long before the order would have come to it."""
    deaf = "{0}: sh -c 'trap \"\" TERM; echo $$ >> {0}.pids; while :; do sleep 0.05; done'\n"
    keeper = keep(deaf.format("api") + deaf.format("facilitator") + "one: " + SLEEPER.format(name="one"))
    pids = [pid for name in ("api", "facilitator", "one") for pid in keeper.pids(name, 1)]

    told_at = time.monotonic()
    assert keeper.stop(STOP_NOW) == 0

    assert time.monotonic() - told_at < 5
    assert not any(map(alive, pids))


def test_each_is_told_to_stop_once(keep: Any) -> None:
    """However often the keeper is: the second SIGTERM would end a worker with its jobs undone."""
    keeper = keep("one: sh -c 'trap \"echo told >> told\" TERM; echo >> up; for i in 1 2 3; do sleep 0.2; done'\n")
    until(lambda: bool(keeper.notes("up")))

    for _ in range(3):
        keeper.process.terminate()
        time.sleep(0.05)

    assert keeper.stop() == 0
    assert keeper.notes("told") == ["told"]


def test_one_that_waits_for_its_next_start_does_not_hold_up_the_stop(keep: Any) -> None:
    """Neither a pause nor a start that is under way delays it or survives it."""
    keeper = keep("broken: false\none: " + SLEEPER.format(name="one"))
    for _ in range(5):  # the pause is of four seconds by then
        keeper.report()

    told_at = time.monotonic()
    assert keeper.stop() == 0

    assert time.monotonic() - told_at < 3.5
    assert not any(map(alive, keeper.pids("one", 1)))


@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.2, 0.3])
def test_it_can_be_stopped_at_any_moment_of_its_start(keep: Any, after_s: float) -> None:
    """Nothing is left of it."""
    keeper = keep("".join(f"p{number}: {SLEEPER.format(name='p')}" for number in range(5)))
    time.sleep(after_s)

    keeper.stop()

    assert not any(alive(int(pid)) for pid in keeper.notes("p.pids"))


def test_they_end_when_the_keeper_is_killed(keep: Any) -> None:
    """Even with SIGKILL: the kernel tells them."""
    keeper = keep("one: " + SLEEPER.format(name="one") + "api: " + SLEEPER.format(name="api"))
    pids = [*keeper.pids("one", 1), *keeper.pids("api", 1)]

    keeper.stop(signal.SIGKILL)

    until(lambda: not any(map(alive, pids)))


def test_a_deaf_one_is_killed_with_its_children(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """When its patience is over, and the log says so."""
    script = f"trap '' TERM; sleep 9999 & echo $! > {tmp_path}/left; while :; do sleep 0.1; done"

    async def scenario() -> None:
        kept = SupervisedProcess(Line("deaf", ("sh", "-c", script), {}))
        keeping = asyncio.create_task(kept.keep())
        await asyncio.to_thread(until, lambda: (tmp_path / "left").exists() and bool((tmp_path / "left").read_text()))
        await kept.stop(0.2)
        await keeping

    asyncio.run(scenario())

    until(lambda: not alive(int((tmp_path / "left").read_text())))
    assert "deaf did not stop within 0.2 s and is killed" in capfd.readouterr().err


def test_a_line_sets_its_own_environment(keep: Any) -> None:
    """And inherits the rest; it runs as often as the scale says."""
    keeper = keep("a: NOTE='hello world' sh -c 'echo $NOTE $HOME >> said; exec sleep 9999'\n", "--scale", "a=2")

    until(lambda: len(keeper.notes("said")) == 2)

    assert keeper.notes("said") == [f"hello world {os.environ['HOME']}"] * 2


def test_a_wrong_scale_is_a_sentence(keep: Any) -> None:
    """And the exit code is 1."""
    keeper = keep("a: true\n", "--scale", "b=2")

    assert keeper.process.wait(patience(10)) == 1
    assert keeper.notes("log") == ["coinslot: b: the Procfile has only a"]


def test_a_line_is_scaled_while_the_others_run(keep: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Up, and down from the newest. A count that cannot be is refused with a sentence, and changes nothing."""
    keeper = keep("one: " + SLEEPER.format(name="one") + "facilitator: " + SLEEPER.format(name="facilitator"))
    (first,), (other,) = keeper.pids("one", 1), keeper.pids("facilitator", 1)

    assert keeper.command("scale", "one=3") == 0
    assert all(map(alive, keeper.pids("one", 3)))
    assert keeper.command("scale", "one=1") == 0
    assert [alive(pid) for pid in keeper.pids("one", 3)] == [True, False, False]
    assert capsys.readouterr().out == "processes of one: 3\nprocesses of one: 1\n"

    for words, said in (
        (("scale", "none=2"), "none: the Procfile has only one, facilitator"),
        (("scale", "facilitator=2"), "there may be only one"),
        (("scale", "one"), "write NAME=N"),
        (("restart", "none"), "the Procfile has only one, facilitator"),
        (("dance",), "it is no command"),
    ):
        assert keeper.command(*words) == 1
        assert said in capsys.readouterr().err
    assert (keeper.pids("one", 3)[0], alive(first), alive(other)) == (first, True, True)


def test_a_restart_stops_no_process_before_its_successor_is_ready(
    keep: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """An API whose successor ends at once stays. A new facilitator starts when the old one has ended: there may be only one."""
    broken = "api: sh -c 'echo $$ >> api.pids; [ $(wc -l < api.pids) = 1 ] || exit 3; exec sleep 9999'\n"
    keeper = keep(broken + "facilitator: " + SLEEPER.format(name="facilitator"))
    (old,), (facilitator,) = keeper.pids("api", 1), keeper.pids("facilitator", 1)

    assert keeper.command("restart", "api") == 1
    assert "failed: a new api ended, as the log says; processes of api: 1" in capsys.readouterr().err
    assert alive(old)

    # A sleeper does not listen on the facilitator's port: it stays, and its restart waits until everything is stopped.
    waiting = threading.Thread(target=keeper.command, args=("restart",))
    waiting.start()
    assert keeper.pids("facilitator", 2)[0] == facilitator
    assert not alive(facilitator)
    assert keeper.command("scale", "api=2") == 1
    assert "another command is under way" in capsys.readouterr().err
    assert keeper.stop() == 0
    waiting.join(patience(10))
    assert "failed: everything is being stopped" in capsys.readouterr().err
    assert not any(map(alive, [old, *keeper.pids("facilitator", 2)]))
