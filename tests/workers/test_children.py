"""Real child processes: whatever happens to one, the pool is whole again and nothing is left behind."""

import dataclasses
import gc
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from jobs import echo
from jobs.ports import Context
from shared import outcome
from shared.outcome import Failed, Ok
from shared.pools import Pool
from shared.queue.replies import Cost
from tests.time_limits import SLACK_S, niceness, patience
from tests.workers.until import until
from tests.workers.warm_pool import fork_server_runs
from workers import children, fork_server
from workers.adapters.calculations import ChildCalculations
from workers.child import Work
from workers.children import Child, ChildFailure, ChildPool, Exhausted, Forbidden, Lost, NotStarted
from workers.confinement.child import MEMORY_BYTES, NICENESS, OPEN_FILES
from workers.execute import execute
from workers.fork_server import ForkServer

ROOT = Path(__file__).parents[2]
PATIENCE_S = patience(60.0)

STUNTS = """
# The real child, with one endpoint more: its message says what it does.
import dataclasses, fcntl, mmap, os, random, resource, signal, sys, time
from jobs import catalogue, echo
from jobs.regex_test import endpoint as regex_test
from shared.outcome import Unstoppable

seen = mmap.mmap(-1, 1)  # shared by all children

def is_open(fd):
    try:
        return fcntl.fcntl(fd, fcntl.F_GETFD) >= 0
    except OSError:
        return False

def run(request, context):
    what, _, argument = (request.message or "").partition(" ")
    match what:
        case "burn":
            while True:
                pass
        case "exit":
            os._exit(3)
        case "once":
            if not seen[0]:
                seen[0] = 1
                os._exit(3)
            said = "done at the second try"
        case "signal":
            signal.raise_signal(int(argument))
        case "abort":
            os.abort()
        case "memory":
            said = str(len(bytearray(2 << 30)))
        case "keep":
            sys.kept = getattr(sys, "kept", b"") + bytes(int(argument) << 20)
            said = str(os.getpid())
        case "sleep":
            time.sleep(float(argument))
            said = "slept"
        case "print":
            print("between the frames", flush=True)
            os.write(1, b"and below print")
            said = "printed"
        case "long":
            said = "x" * int(argument)
        case "fail":
            raise ValueError(argument)
        case "half":
            os.write(3, bytes([0, 0, 0, 100]) + b"x")
            time.sleep(60)
        case "half-burn":
            os.write(3, bytes([0, 0, 0, 100]) + b"x")
            while True:
                pass
        case "boast":
            os.write(3, bytes([255, 0, 0, 0]))
            time.sleep(60)
        case "pid":
            said = str(os.getpid())
        case "limits":
            limits = (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)
            said = " ".join(str(resource.getrlimit(limit)[1]) for limit in limits)
        case "random":
            time.sleep(0.3)
            said = f"{os.getpid()} {random.random()}"
        case "descriptors":
            said = " ".join(str(fd) for fd in range(64) if is_open(fd))
        case "socket":
            import _socket
            _socket.socket()
        case "print-much":
            for _ in range(10_000):
                print("x" * 100 + "\\x1b[31m")
            said = "printed"
        case "unstoppable":
            raise Unstoppable
        case _:
            said = f"{what} for {context.payer}"
    return echo.Response(ok=True, service="stunts", you_sent=said)

catalogue.installed_by_name()["stunts"] = dataclasses.replace(echo.ENDPOINT, name="stunts", run=run)
catalogue.installed_by_name()["regex-test"] = regex_test.ENDPOINT
from workers import fork_server
if "without-v8" in sys.argv:  # it takes longer to load than most of these tests take
    fork_server._load = lambda pools: None
fork_server.main()
"""


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes long to start Python."""
    monkeypatch.setattr(fork_server, "START_LIMIT_S", 60.0)
    monkeypatch.setattr(children, "START_LIMIT_S", 60.0)


@pytest.fixture
def stunts(patient: None) -> Iterator[None]:
    """Children that can do more than what is sold."""
    with fork_server_runs("-c", STUNTS, "without-v8"):
        yield


@pytest.fixture
def source(stunts: None) -> Iterator[ForkServer]:
    """Makes single children; closed at the end."""
    source = ForkServer()
    yield source
    source.close()


@pytest.fixture(scope="module")
def lasting() -> Iterator[ForkServer]:
    """A fork server for all pools of this module: a start takes longer than most of these tests. It runs on when a pool is
    closed, and where a test ends it, the next call starts another one, as it should."""
    lasting = ForkServer()
    end, lasting.close = lasting.close, lambda: None  # type: ignore[method-assign]
    yield lasting
    end()


@pytest.fixture
def pool(stunts: None, lasting: ForkServer) -> Iterator[ChildPool]:
    """Not started; closed at the end."""
    pool = ChildPool()
    pool._fork_server = lasting
    yield pool
    pool.close()


def work(message: str) -> Work:
    return Work("stunts", "0x1", msgspec.json.encode({"message": message}))


def said(raw: bytes) -> str:
    answer = outcome.decode(raw)
    assert isinstance(answer, Ok)
    text: str = msgspec.json.decode(answer.body)["youSent"]
    return text


def call(pool: ChildPool, message: str, *, limit_s: float = PATIENCE_S, wait_s: float = PATIENCE_S) -> str:
    return said(pool.call(work(message), limit_s=limit_s, wait_s=wait_s))


def is_alive(pid: int) -> bool:
    """Running, stopped or a zombie: anything but gone and waited for."""
    return Path(f"/proc/{pid}").exists()


def parent_of(pid: int) -> int:
    """Children may not ask."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def has_ended(pid: int) -> bool:
    """Whether a process that is not ours to wait for has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_child_runs_what_is_sold(patient: None) -> None:
    """The answer of a real child is what the handler returns, for one endpoint after the other."""
    pool = ChildPool()
    pool.start(1, (Pool.MICRO, Pool.FAST))
    try:
        echo, faker = b'{"message": "hi"}', b'{"template": {"n": "person.firstName"}, "seed": 7}'
        echoed = pool.call(Work("echo", "0x1", echo), limit_s=PATIENCE_S, wait_s=PATIENCE_S)
        made = pool.call(Work("faker", "0x1", faker), limit_s=PATIENCE_S, wait_s=PATIENCE_S)
    finally:
        pool.close()

    assert outcome.decode(echoed) == Ok(b'{"ok":true,"service":"coinslot","youSent":"hi"}')
    assert isinstance(outcome.decode(made), Ok)


def test_what_a_call_took_and_what_of_it_was_waiting(pool: ChildPool) -> None:
    """A child that sleeps uses no processor, as one that is given none. Each thread hears of its own calls, once."""
    pool.start(2)
    call(pool, "sleep 0.2")

    taken = pool.taken()

    assert taken.taken_s > taken.waited_s > 0.1
    assert taken.taken_s - taken.waited_s < taken.taken_s / 2
    assert pool.taken() == Cost()


def test_large_frames_go_both_ways(pool: ChildPool) -> None:
    """Bodies and answers beyond what a pipe holds."""
    pool.start(1)
    padded = Work("stunts", "0x1", b" " * 1_000_000 + b'{"message": "hello"}')

    assert said(pool.call(padded, limit_s=PATIENCE_S, wait_s=PATIENCE_S)) == "hello for 0x1"
    assert len(call(pool, "long 3000000")) == 3_000_000


def test_a_handlers_failure_is_an_answer(pool: ChildPool, caplog: pytest.LogCaptureFixture) -> None:
    """The child lives on, and what it writes to the log has nothing of the request."""
    pool.start(1)
    before = call(pool, "pid")

    answer = outcome.decode(pool.call(work("fail canary-77"), limit_s=PATIENCE_S, wait_s=PATIENCE_S))

    assert isinstance(answer, Failed)
    assert answer.code == "internal_error"
    assert call(pool, "pid") == before
    assert "ValueError" in caplog.text
    assert "canary" not in caplog.text


def test_what_a_handler_prints_is_logged_cut_and_escaped(pool: ChildPool, caplog: pytest.LogCaptureFixture) -> None:
    """Output never comes between the frames. A megabyte neither blocks the child nor fills the log, and no control character
    reaches a terminal."""
    pool.start(1)

    assert call(pool, "print") == "printed"
    assert call(pool, "hello") == "hello for 0x1"
    assert "between the frames" in caplog.text
    assert "and below print" in caplog.text
    caplog.clear()
    assert call(pool, "print-much") == "printed"
    assert 1_000 < len(caplog.text) < 20_000
    assert "\x1b" not in "".join(caplog.messages)  # caplog.text leaves such sequences out


def test_a_child_that_announces_too_much_is_lost(pool: ChildPool) -> None:
    """A child says how long its answer is. Its worker does not wait for four gigabytes."""
    pool.start(1)

    with pytest.raises(Lost):
        pool.call(work("boast"), limit_s=PATIENCE_S, wait_s=PATIENCE_S)
    assert call(pool, "hello") == "hello for 0x1"


def test_a_child_that_is_killed_for_a_system_call_is_forbidden(
    pool: ChildPool, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged with what it ran, it is no exhausted work, and it is not run again."""
    pool.start(1)
    call(pool, "hello")

    with pytest.raises(Forbidden):
        pool.call(work("socket"), limit_s=PATIENCE_S, wait_s=PATIENCE_S)

    assert len([line for line in caplog.messages if "killed for a system call" in line]) == 1
    assert "stunts" in caplog.text
    assert call(pool, "hello") == "hello for 0x1"


def test_a_calculation_is_killed_at_its_limit(pool: ChildPool) -> None:
    """Given endless CPU work, then the child is killed on time, gone, and another one answers the next call."""
    pool.start(1)
    first = int(call(pool, "pid"))
    began = time.monotonic()

    with pytest.raises(Exhausted):
        pool.call(work("burn"), limit_s=0.3, wait_s=PATIENCE_S)

    assert 0.3 <= time.monotonic() - began < SLACK_S
    assert not is_alive(first)
    assert int(call(pool, "pid")) != first


@pytest.mark.parametrize("body", [0, 1_000_000])
def test_a_stopped_child_is_killed_when_nobody_waits_any_more(pool: ChildPool, body: int) -> None:
    """SIGKILL reaches what does not even run. It spends nothing, so nothing is known about its work. A body beyond what a pipe
    holds does not hold up its caller."""
    pool.start(1)
    stopped = int(call(pool, "pid"))
    os.kill(stopped, signal.SIGSTOP)

    with pytest.raises(TimeoutError):
        pool.call(Work("stunts", "0x1", b" " * body + b"{}"), limit_s=0.2, wait_s=0.3)

    assert not is_alive(stopped)
    assert call(pool, "hello") == "hello for 0x1"


BROKEN = [
    "abort",
    "unstoppable",
    "memory",
    *(f"signal {int(n)}" for n in (signal.SIGSEGV, signal.SIGTRAP, signal.SIGILL)),
]


@pytest.mark.parametrize("how", BROKEN)
def test_work_that_breaks_its_child_is_exhausted(pool: ChildPool, how: str) -> None:
    """Abort, overflow of the stack, V8's trap, two gigabytes and giving up are the work's doing: it is not tried again."""
    pool.start(1)
    call(pool, "hello")
    began = time.monotonic()

    with pytest.raises(Exhausted):
        pool.call(work(how), limit_s=PATIENCE_S, wait_s=PATIENCE_S)

    assert time.monotonic() - began < patience(5)
    assert call(pool, "hello") == "hello for 0x1"


@pytest.mark.parametrize("how", ["exit", f"signal {int(signal.SIGKILL)}"])
def test_a_child_that_ends_by_itself_is_lost(pool: ChildPool, how: str) -> None:
    """That says nothing of the work; when it happens twice the caller hears of it, and the next call is answered."""
    pool.start(1)
    began = time.monotonic()

    with pytest.raises(Lost):
        pool.call(work(how), limit_s=PATIENCE_S, wait_s=PATIENCE_S)

    assert time.monotonic() - began < 8
    assert call(pool, "hello") == "hello for 0x1"


def test_lost_work_is_done_by_another_child(pool: ChildPool) -> None:
    """Given a child that ends in the middle, then the same call is answered all the same."""
    pool.start(1)

    assert call(pool, "once") == "done at the second try"


def test_a_crash_between_calls_is_nobodys_failure(pool: ChildPool) -> None:
    """Given children that were killed while they were free, then every call after that is answered."""
    pool.start(1)
    for _ in range(3):
        os.kill(int(call(pool, "pid")), signal.SIGKILL)

        assert call(pool, "hello") == "hello for 0x1"


def _stopped_while_it_starts(source: ForkServer) -> Child:
    """A child that has not said that it is ready. One that was quicker than the signal is not taken."""
    while True:
        child = Child(source)
        os.kill(child.pid, signal.SIGSTOP)
        while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            pass
        if not select.select([child._stdout], [], [], 0)[0]:
            return child
        child.kill()


def test_a_slow_start_is_not_the_works_fault(source: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit counts from when the child is ready; one that never is, is lost and not exhausted."""
    child = _stopped_while_it_starts(source)
    wake = threading.Timer(0.6, os.kill, (child.pid, signal.SIGCONT))
    wake.start()
    try:
        assert said(child.call(work("hello"), limit_s=0.5)) == "hello for 0x1"
    finally:
        wake.join()
        child.kill()
    monkeypatch.setattr(children, "START_LIMIT_S", 0.1)
    child = _stopped_while_it_starts(source)
    try:
        with pytest.raises(Lost):
            child.call(work("hello"), limit_s=PATIENCE_S)
    finally:
        child.kill()


@pytest.mark.parametrize("message", ["burn", "half", "sleep 60"])
def test_what_had_less_time_than_its_limit_was_not_too_much(pool: ChildPool, message: str) -> None:
    """Nobody waits any more, and that is all that is known: an answer that it is too much would be kept for good."""
    pool.start(1)
    call(pool, "hello")

    with pytest.raises(TimeoutError):
        pool.call(work(message), limit_s=PATIENCE_S, wait_s=0.2)

    assert call(pool, "hello") == "hello for 0x1"


def test_a_child_that_is_not_ready_in_time_is_not_lost(pool: ChildPool, source: ForkServer) -> None:
    """Given a caller whose time is over while his child starts, then he is late; its fork may have been slow."""
    child = Child(source)
    os.kill(child.pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError):
            child.call(work("hello"), limit_s=PATIENCE_S, give_up_at=time.monotonic() + 0.1)
    finally:
        child.kill()


def test_one_payers_long_calls_do_not_hold_up_anothers(pool: ChildPool) -> None:
    """Given five calls of one payer that wait for the only child, then another's that comes last is the next."""
    pool.start(1)
    call(pool, "hello")
    ended: list[str] = []

    def buy(payer: str) -> None:
        said(pool.call(Work("stunts", payer, b'{"message": "sleep 0.2"}'), limit_s=PATIENCE_S, wait_s=PATIENCE_S))
        ended.append(payer)

    with ThreadPoolExecutor(7) as callers:
        for number in range(6):
            callers.submit(buy, "0xa")
            until(lambda busy=number: pool._free_children.waiting == busy)
        callers.submit(buy, "0xb")

    assert ended.index("0xb") <= 1
    assert ended.count("0xa") == 6


def test_the_limits_of_a_child(pool: ChildPool) -> None:
    """Memory, open files and core dumps, as hard limits that it cannot raise again; a low priority; no open files."""
    pool.start(1)

    memory, files, core = (int(limit) for limit in call(pool, "limits").split())
    assert 0 < memory - MEMORY_BYTES < 200 << 20  # beside what the fork server has, here without V8
    assert (files, core) == (OPEN_FILES, 0)
    assert os.getpriority(os.PRIO_PROCESS, int(call(pool, "pid"))) == niceness(NICENESS)
    # Standard input, output and error, and the pipe of the answers.
    assert call(pool, "descriptors") == "0 1 2 3"


def test_a_child_is_replaced_after_its_share(pool: ChildPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing a library leaks grows for ever; the old process is gone."""
    monkeypatch.setattr(children, "RECYCLE_AFTER", 3)
    pool.start(1)

    pids = [int(call(pool, "pid")) for _ in range(7)]

    assert [len(set(pids[n : n + 3])) for n in (0, 3)] == [1, 1]
    assert len(set(pids)) == 3
    assert [is_alive(pid) for pid in (pids[0], pids[3], pids[6])] == [False, False, True]


def test_a_child_that_has_grown_is_replaced(pool: ChildPool) -> None:
    """So that a call has all of its memory, whatever the calls before it were. A little is nobody's loss."""
    pool.start(1)

    pids = [int(call(pool, f"keep {megabytes}")) for megabytes in (20, 20, 40, 1)]

    assert len(set(pids[:3])) == 1
    assert pids[3] not in pids[:3]
    assert not is_alive(pids[0])


def descriptors() -> int:
    gc.collect()  # of what earlier tests left
    return len(os.listdir("/proc/self/fd"))


def test_closing_leaves_nothing(stunts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a process, a zombie nor a file descriptor, after crashes, kills and replacements as well."""
    monkeypatch.setattr(children, "RECYCLE_AFTER", 4)
    before = descriptors()
    pool = ChildPool()
    pool.start(2)
    pids = set()
    for message in ("exit", "burn", "exit"):
        pids |= {int(call(pool, "pid")) for _ in range(4)}
        with pytest.raises(ChildFailure):
            pool.call(work(message), limit_s=0.3, wait_s=PATIENCE_S)
    pids |= {int(call(pool, "pid")) for _ in range(4)}

    pool.close()

    assert len(pids) >= 3
    assert [pid for pid in pids if is_alive(pid)] == []
    assert descriptors() == before


def test_closing_waits_for_calls(pool: ChildPool) -> None:
    """A call in progress is answered before its child is killed."""
    pool.start(1)
    call(pool, "hello")
    with ThreadPoolExecutor(1) as caller:
        slow = caller.submit(call, pool, "sleep 0.3")
        time.sleep(0.1)
        pool.close()

        assert slow.result() == "slept"


def test_waiting_for_a_free_child_ends(pool: ChildPool) -> None:
    """A caller who finds all children busy is told so in time, and the busy call is not disturbed."""
    pool.start(1)
    call(pool, "hello")
    with ThreadPoolExecutor(1) as caller:
        slow = caller.submit(call, pool, "sleep 2")
        time.sleep(0.2)
        with pytest.raises(TimeoutError):
            pool.call(work("hello"), limit_s=PATIENCE_S, wait_s=0.1)
        assert not slow.done()
        with pytest.raises(TimeoutError):
            pool.call(work("hello"), limit_s=PATIENCE_S, wait_s=-1)

        assert slow.result() == "slept"
    assert call(pool, "hello") == "hello for 0x1"


def test_one_callers_crash_is_not_anothers(pool: ChildPool) -> None:
    """Given crashes among good calls, then every good call is answered."""
    pool.start(2)

    def one(n: int) -> str:
        try:
            return call(pool, "exit" if n % 4 == 0 else f"number{n}")
        except Lost:
            return "lost"

    with ThreadPoolExecutor(4) as callers:
        answers = list(callers.map(one, range(16)))
        assert answers == ["lost" if n % 4 == 0 else f"number{n} for 0x1" for n in range(16)]


def test_a_child_outlives_the_thread_that_started_it(pool: ChildPool) -> None:
    """A child that a worker thread replaced serves on when that thread has ended."""
    pool.start(1)
    with ThreadPoolExecutor(1) as thread, pytest.raises(Exhausted):
        thread.submit(pool.call, work("abort"), limit_s=PATIENCE_S, wait_s=PATIENCE_S).result()
    time.sleep(0.1)
    child = int(call(pool, "pid"))

    assert int(call(pool, "pid")) == child


PARENT = """
import subprocess, sys, threading, time
from types import SimpleNamespace
from workers import fork_server
from workers.child import Work
from workers.children import Child

def popen(command, **options):
    return subprocess.Popen([sys.executable, "-c", sys.argv[1], "without-v8"], **options)

fork_server.subprocess = SimpleNamespace(Popen=popen)
source = fork_server.ForkServer()
idle, busy = Child(source), Child(source)
for child in (idle, busy):
    child.call(Work("stunts", "0x1", b"{}"), limit_s=20)
burn = Work("stunts", "0x1", b'{"message": "burn"}')
threading.Thread(target=busy.call, args=(burn,), kwargs={"limit_s": 60}, daemon=True).start()
time.sleep(0.1)
print(source._running.process.pid, idle.pid, busy.pid, flush=True)
time.sleep(60)
"""


def test_children_die_with_a_killed_parent() -> None:
    """Given a worker that is killed, then its fork server ends, and all children with it, the busy ones too."""
    command = [sys.executable, "-c", PARENT, STUNTS]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        source, idle, busy = (int(pid) for pid in parent.stdout.readline().split())

        parent.kill()
        parent.wait()

        until(lambda: has_ended(source))
        until(lambda: has_ended(idle))
        until(lambda: has_ended(busy))


def test_a_child_that_nobody_watches_ends_by_its_own_clock(source: ForkServer) -> None:
    """The kernel ends it, and nothing that it does can stop that."""
    impatient = "import workers.confinement.child as c\nc.ORPHAN_CPU_S = 0.3\n" + STUNTS
    with fork_server_runs("-c", impatient, "without-v8"):
        child = Child(source)
    try:
        with pytest.raises(Lost):
            child.call(work("burn"), limit_s=PATIENCE_S)
    finally:
        child.kill()
        child.kill()  # which is harmless


def test_a_child_is_replaced_after_its_share_of_cpu_time(pool: ChildPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before the kernel would end it."""
    monkeypatch.setattr(children, "RECYCLE_AFTER_CPU_S", 0.0)
    pool.start(1)

    assert call(pool, "pid") != call(pool, "pid")


def test_signals_to_a_group_are_the_workers_affair(source: ForkServer) -> None:
    """Ctrl-C goes to a terminal's whole group, SIGTERM to a supervisor's: a child goes on, so that its call is answered."""
    child = Child(source)
    try:
        child.call(work("hello"), limit_s=PATIENCE_S)
        parent = parent_of(child.pid)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(child.pid, number)
            os.kill(parent, number)

        assert said(child.call(work("hello"), limit_s=PATIENCE_S)) == "hello for 0x1"
    finally:
        child.kill()


def test_an_answer_that_stops_half_way_is_late(pool: ChildPool) -> None:
    """Both limits are for the whole answer and not for its first byte."""
    pool.start(1)
    call(pool, "hello")
    began = time.monotonic()

    with pytest.raises(Exhausted):
        pool.call(work("half-burn"), limit_s=0.2, wait_s=PATIENCE_S)
    with pytest.raises(TimeoutError):
        pool.call(work("half"), limit_s=PATIENCE_S, wait_s=0.2)

    assert time.monotonic() - began < patience(5)
    assert call(pool, "hello") == "hello for 0x1"


def test_a_call_of_children_that_were_not_started_is_an_error_at_once(stunts: None) -> None:
    """It does not wait until its deadline, which would look like a slow call; nor after the pool was closed."""
    pool = ChildPool()
    for _ in range(2):
        with pytest.raises(NotStarted):
            pool.call(work("hello"), limit_s=1, wait_s=1_000)
        pool.close()
        pool.start(1)
        pool.close()


def test_a_handler_that_calculates_without_children_fails_inside() -> None:
    """The call is an internal error and not a late one."""

    def run(request: Any, context: Any) -> Any:
        return context.ports.calculations.run("read_feed", b"", limit_s=1)

    ports = SimpleNamespace(calculations=ChildCalculations(ChildPool()))
    answer = execute(dataclasses.replace(echo.ENDPOINT, run=run), b"{}", Context("0x1", ports))
    assert isinstance(answer, Failed)
    assert answer.code == "internal_error"


def test_children_end_with_their_fork_server(pool: ChildPool) -> None:
    """Given that the fork server is killed, then its children end with it, and another one forks for the next call."""
    pool.start(1)
    first = int(call(pool, "pid"))
    parent = parent_of(first)
    os.kill(parent, signal.SIGKILL)

    until(lambda: has_ended(first))
    second = int(call(pool, "pid"))
    assert parent_of(second) != parent


def test_a_fork_server_that_hangs_is_replaced(pool: ChildPool) -> None:
    """Given one that is stopped, then another forks the child, and the first one has ended."""
    pool.start(1)
    parent = parent_of(int(call(pool, "pid")))
    os.kill(parent, signal.SIGSTOP)
    assert pool._fork_server._running is not None
    pool._fork_server._running.control.settimeout(0.2)

    with pytest.raises(Exhausted):
        pool.call(work("burn"), limit_s=0.1, wait_s=PATIENCE_S)

    assert parent_of(int(call(pool, "pid"))) != parent
    assert not is_alive(parent)


@pytest.mark.parametrize("program", ["import sys; sys.exit(3)", "import os; os.abort()", "def", None])
def test_without_a_fork_server_calls_are_lost(monkeypatch: pytest.MonkeyPatch, program: str | None) -> None:
    """One that ends as soon as it starts, or cannot be started, is no reason to wait. Nothing is left after closing."""

    def popen(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        if program is None:
            raise BlockingIOError("no more processes")
        return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL, **options)

    before = descriptors()
    monkeypatch.setattr(fork_server, "subprocess", SimpleNamespace(Popen=popen))
    pool = ChildPool()
    pool.start(1)
    for _ in range(2):
        with pytest.raises(Lost):
            pool.call(work("hello"), limit_s=1, wait_s=10)
    pool.close()
    assert descriptors() == before


def test_exit_codes_of_strangers_are_not_known(source: ForkServer) -> None:
    """Nor those of children that still run, or were asked for before."""
    assert source.reap(1) is None  # not started
    child = source.fork()
    assert source.reap(child.pid) is None
    assert source.reap(1) is None
    os.close(child.requests)
    until(lambda: has_ended(child.pid))
    assert (source.reap(child.pid), source.reap(child.pid)) == (0, None)
    for descriptor in (child.process, child.answers):
        os.close(descriptor)


def test_children_do_not_share_chance(pool: ChildPool) -> None:
    """They are forked from one process, and still each has random numbers of its own."""
    pool.start(2)
    with ThreadPoolExecutor(2) as callers:
        one, other = callers.map(lambda _: call(pool, "random"), range(2))

    assert one.split()[0] != other.split()[0]  # two children
    assert one.split()[1] != other.split()[1]
