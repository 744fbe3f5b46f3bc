"""The scheduling hints that processes give to Linux."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shared.process.scheduling import SLICE_NS
from tests.time_limits import niceness

ROOT = Path(__file__).parents[2]
AUTOGROUP = Path("/proc/self/autogroup")

REPORT = """
import ctypes, json, os, pathlib, platform, struct, sys, threading
from shared.process.scheduling import give_way

os.sched_setscheduler(0, int(sys.argv[1]), os.sched_param(0))

def seen():
    attributes = ctypes.create_string_buffer(56)
    number = {"x86_64": 315, "aarch64": 275}.get(platform.machine())
    known = number and ctypes.CDLL(None).syscall(number, 0, attributes, 56, 0) == 0
    return [os.sched_getscheduler(0), struct.unpack_from("=Q", attributes, 24)[0] if known else 0]

def group():
    file = pathlib.Path("/proc/self/autogroup")
    return file.read_text().split()[-1] if file.exists() else None

give_way(int(sys.argv[2]))
report = {"self": seen(), "nice": os.nice(0), "group": group()}
thread = threading.Thread(target=lambda: report.update(thread=seen()))
thread.start()
thread.join()
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, json.dumps(seen()).encode())
    os._exit(0)
os.wait()
report["child"] = json.loads(os.read(reader, 100))
print(json.dumps(report))
"""

BUSY_CALLERS = """
import json, os, sys, threading
from shared.process.scheduling import BatchScheduling

os.sched_setscheduler(0, int(sys.argv[1]), os.sched_param(0))
is_over, seen = threading.Event(), []
other = threading.Thread(target=is_over.wait)
other.start()
scheduling = BatchScheduling(many=24, few=8)
for waiting in (0, 23, 24, 100, 8, 7, 23, 24):
    scheduling.adjust(waiting)
    seen.append([os.sched_getscheduler(thread) for thread in (0, other.native_id)])
is_over.set()
print(json.dumps(seen))
"""

not_nice = pytest.mark.skipif(os.nice(0) > 0, reason="these tests were themselves started with nice")


def report(*before: str, niceness: int, policy: int = os.SCHED_OTHER) -> Any:
    """What a process says of itself that was started like this, and then gave way."""
    command = [*before, sys.executable, "-c", REPORT, str(policy), str(niceness)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True, start_new_session=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("policy", [os.SCHED_OTHER, os.SCHED_BATCH])
def test_who_is_nice_gives_way_with_all_threads_and_children(policy: int) -> None:
    """As far as this kernel goes: without slices of one's own the length is 0."""
    seen = report(niceness=niceness(10), policy=policy)
    assert seen["nice"] == niceness(10)
    for one in ("self", "thread", "child"):
        seen_policy, slice_ns = seen[one]
        assert seen_policy == os.SCHED_BATCH
        assert slice_ns in (0, SLICE_NS)
    if AUTOGROUP.exists():
        assert seen["group"] == str(seen["nice"])


@not_nice
@pytest.mark.parametrize("policy", [os.SCHED_OTHER, os.SCHED_BATCH])
def test_others_do_not(policy: int) -> None:
    """A process without niceness keeps its scheduling."""
    seen = report(niceness=0, policy=policy)
    assert [seen[one][0] for one in ("self", "thread", "child")] == [policy] * 3
    assert seen["self"][1] != SLICE_NS
    assert seen["group"] in (None, "0")


def test_a_policy_of_another_kind_is_kept() -> None:
    """An idle process that becomes SCHED_BATCH would take more than it was given."""
    seen = report(niceness=10, policy=os.SCHED_IDLE)
    assert [seen[one][0] for one in ("self", "thread", "child")] == [os.SCHED_IDLE] * 3
    assert seen["group"] in (None, "0")


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="a kernel without autogroups")
def test_a_session_of_others_is_left_alone() -> None:
    """That of a terminal, where whoever else was started there would be slowed down too."""
    seen = report("sh", "-c", 'sh -c "\\"\\$@\\"; exit" - "$@"; exit', "-", niceness=niceness(10))
    assert (seen["nice"], seen["self"][0], seen["group"]) == (niceness(10), os.SCHED_BATCH, "0")


@pytest.mark.parametrize(
    ("started_as", "while_many_wait"),
    [(os.SCHED_OTHER, os.SCHED_BATCH), (os.SCHED_BATCH, os.SCHED_BATCH), (os.SCHED_IDLE, os.SCHED_IDLE)],
)
def test_batch_scheduling_from_many_until_few(started_as: int, while_many_wait: int) -> None:
    """For all threads of the process; in between nothing changes. A policy that somebody chose for it is kept."""
    done = subprocess.run(
        [sys.executable, "-c", BUSY_CALLERS, str(started_as)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    batch = while_many_wait
    expected = [started_as, started_as, batch, batch, batch, started_as, started_as, batch]
    assert json.loads(done.stdout) == [[each, each] for each in expected]
