"""V8 by its C interface: what is called returns, throws or is stopped, and a limit is one of CPU time."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.regex_test import v8
from jobs.regex_test.v8 import Isolate, LimitReached, ScriptError
from shared.outcome import Unstoppable

ROOT = Path(__file__).parents[3]
PROGRAM = """(() => { let calls = 0; return {
  echo: (...all) => all.join("|"),
  count: () => String(++calls),
  burn: () => { for (;;); },
  number: () => 7,
  fail: () => { throw new TypeError("canary"); },
  length: (text) => String(text.length),
  spend: (ms) => { const end = Date.now() + Number(ms); while (Date.now() < end); return "spent"; },
} })()"""


@pytest.fixture(scope="module")
def isolate() -> Iterator[Isolate]:
    """One for all tests, as in a child."""
    isolate = Isolate(PROGRAM)
    yield isolate
    isolate.close()


def call(isolate: Isolate, name: str, *arguments: str, limit_s: float = 5.0) -> str:
    return isolate.call(name, *arguments, limit_s=limit_s).text.decode()


def test_strings_go_in_and_out(isolate: Isolate) -> None:
    """As data: quotes, NUL, any Unicode, none and many."""
    for arguments in (("a", "b"), ("",), ('"`\\${x}</script>\0\n', "é😀\u2028\uffff"), ("x" * 400_000,)):
        assert call(isolate, "echo", *arguments) == "|".join(arguments)
    assert call(isolate, "length", "😀" * 100_000) == "200000"


def test_the_program_stays(isolate: Isolate) -> None:
    """Between calls that end by themselves."""
    first = int(call(isolate, "count"))
    assert int(call(isolate, "count")) == first + 1


@pytest.mark.parametrize("name", ["fail", "number", "missing"])
def test_what_the_program_must_not_do(isolate: Isolate, name: str) -> None:
    """Throwing, returning no string, a function that is not there: each is an error, and the next call is answered."""
    with pytest.raises(ScriptError):
        call(isolate, name)
    assert call(isolate, "echo", "still there") == "still there"


def test_a_program_that_is_none() -> None:
    """Every call raises an error."""
    isolate = Isolate("({")
    for _ in range(2):
        with pytest.raises(ScriptError):
            call(isolate, "echo")


def test_a_call_is_stopped_at_its_limit(isolate: Isolate) -> None:
    """Close to it, and the next call finds the program as new."""
    call(isolate, "count")
    for _ in range(3):
        with pytest.raises(LimitReached) as caught:
            call(isolate, "burn", limit_s=0.05)

        assert caught.value.cpu_s >= 0.05
        assert call(isolate, "count") == "1"


def test_a_busy_machine_does_not_stop_a_call(isolate: Isolate) -> None:
    """Given three busy processes on V8's core, then a call that waits for longer than its limit is not stopped."""
    (core, *_) = cores = os.sched_getaffinity(0)
    busy = f"import os, time; os.sched_setaffinity(0, [{core}]); print(flush=True); end = time.time() + 30"
    command = [sys.executable, "-c", busy + "\nwhile time.time() < end: pass"]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    try:
        for other in others:
            assert other.stdout is not None
            assert other.stdout.readline() == b"\n"
        isolate.close()
        os.sched_setaffinity(0, {core})  # the isolate's thread, which starts with the next call, inherits it
        call(isolate, "echo")
        began = time.monotonic()
        answer = isolate.call("spend", "301", limit_s=0.25)  # Date.now() cuts off up to one
        waited_s = time.monotonic() - began
    finally:
        os.sched_setaffinity(0, cores)
        for other in others:
            other.kill()
            other.communicate()
        isolate.close()

    assert answer.text == b"spent"
    assert waited_s >= 0.3 > 0.25 > answer.cpu_s


def test_a_call_that_does_not_stop(isolate: Isolate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given V8 that does not stop, then the error says that the process must end."""
    monkeypatch.setattr(v8, "GRACE_S", 0.0)
    stubborn = Isolate(PROGRAM)

    with pytest.raises(Unstoppable):
        stubborn.call("burn", limit_s=0.01)

    # It does stop: only the grace was too short. A caller that continues all the same gets another isolate.
    assert call(stubborn, "echo", "next") == "next"
    stubborn.close()


def test_values_do_not_pile_up(isolate: Isolate) -> None:
    """After a call V8 keeps nothing for us but the program."""
    for _ in range(5):
        call(isolate, "echo", "a", "b")
        with pytest.raises(ScriptError):
            call(isolate, "fail")

    assert isolate._dll.mr_value_count(isolate._context) == 1


def test_isolates_do_not_pile_up() -> None:
    """Neither the threads of stopped calls nor their memory stays."""
    isolate = Isolate(PROGRAM)
    before = isolate._dll.mr_context_count()
    threads = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        with pytest.raises(LimitReached):
            call(isolate, "burn", limit_s=0.001)
    call(isolate, "echo")
    assert isolate._dll.mr_context_count() == before + 1
    isolate.close()
    assert isolate._dll.mr_context_count() == before
    assert len(os.listdir("/proc/self/task")) == threads


@pytest.mark.parametrize("ending", ["", "isolate.call('echo', limit_s=1)", "isolate.close()"])
def test_a_process_ends_after_a_stopped_call(ending: str) -> None:
    """With an isolate or without, at once and well."""
    program = f"""
from jobs.regex_test.v8 import Isolate, LimitReached
isolate = Isolate({PROGRAM!r})
try:
    isolate.call("burn", limit_s=0.01)
except LimitReached:
    {ending or "pass"}
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=20)


def test_the_library_is_the_one_that_was_read(isolate: Isolate) -> None:
    """The functions that are used are not promised to stay. With another version look at mini-racer's _context.py again."""
    from importlib.metadata import version

    assert version("mini-racer") == "0.14.1"
