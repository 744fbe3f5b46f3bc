"""Regular expressions in real children: V8 within the limits of a process, and patterns that it does not stop by itself."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jobs.regex_test import endpoint as regex_test
from shared import outcome
from shared.outcome import Ok
from shared.pools import Pool
from tests.time_limits import SLACK_S, patience
from tests.workers.warm_pool import fork_server_runs, warm_pool
from workers import fork_server as fork_server
from workers.child import Work
from workers.children import ChildPool, Exhausted

ROOT = Path(__file__).parents[2]
PATIENCE_S = patience(60.0)

# The endpoint may not be sold yet. A message to echo that looks like JavaScript is run.
SOLD = """
import dataclasses
from jobs import catalogue, echo
from jobs.regex_test import endpoint as regex_test
from jobs.regex_test.v8 import Isolate

def run(request, context):
    return echo.Response(True, "v8", Isolate(request.message).call("f", limit_s=30).text.decode())

catalogue.installed_by_name()["regex-test"] = regex_test.ENDPOINT
catalogue.installed_by_name()["javascript"] = dataclasses.replace(echo.ENDPOINT, name="javascript", run=run)
from workers.fork_server import main
main()
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[ChildPool]:
    """Two children."""
    with fork_server_runs("-c", SOLD):
        pool = warm_pool(2, Pool.FAST)
        yield pool
        pool.close()


def ask(pool: ChildPool, pattern: str, text: str, flags: str = "") -> dict[str, Any]:
    """The answer, as an actor would give it."""
    body = msgspec.json.encode({"pattern": pattern, "input": text, "flags": flags})
    try:
        answer = outcome.decode(pool.call(Work("regex-test", "0x1", body), limit_s=5, wait_s=PATIENCE_S))
    except Exhausted:
        request = msgspec.json.decode(body, type=regex_test.Request)
        return msgspec.to_builtins(regex_test.exhausted(request)) | {"killed": True}
    assert isinstance(answer, Ok)
    decoded: dict[str, Any] = msgspec.json.decode(answer.body)
    return decoded


def test_a_first_pattern_is_answered(pool: ChildPool) -> None:
    """A cold child does not make the time limit fire."""
    for _ in range(3):
        answer = ask(pool, "(a+)b", "caab")
        assert (answer["matched"], answer["matches"][0]["index"]) == (True, 1)
        assert answer["elapsedMs"] < 50


def test_the_fork_server_has_one_thread(pool: ChildPool) -> None:
    """V8 starts none of its own there: what a fork would leave behind, a child could wait for."""
    ask(pool, "a", "a")
    assert pool._fork_server._running is not None
    assert len(os.listdir(f"/proc/{pool._fork_server._running.process.pid}/task")) == 1


def test_many_catastrophic_patterns_at_once(pool: ChildPool) -> None:
    """Each is answered with regex_timeout by a child that lives on, within the time that their limits add up to."""
    began = time.monotonic()
    with ThreadPoolExecutor(80) as callers:
        answers = list(callers.map(lambda _: ask(pool, "(a+)+$", "a" * 40 + "b"), range(80)))

    assert [answer["error"] for answer in answers] == ["regex_timeout"] * 80
    assert not any("killed" in answer for answer in answers)
    assert all(50 <= answer["elapsedMs"] < 250 for answer in answers)
    assert time.monotonic() - began < PATIENCE_S
    assert ask(pool, "b", "b")["matched"]


UNSTOPPABLE = {
    "optional": ("a?" * 40 + "a" * 40, "a" * 39),
    "captures": ("(?:" + "|".join(["(a)"] * 1240) + ")*$", "ab"),
    "nested": ("(" * 1600 + "a" + ")*" * 1600, "ab"),
}


@pytest.mark.parametrize("name", UNSTOPPABLE)
def test_patterns_that_v8_compiles_for_seconds(pool: ChildPool, name: str) -> None:
    """Their child is ended long before V8 is done, and the next pattern finds another."""
    began = time.monotonic()

    answer = ask(pool, *UNSTOPPABLE[name])

    assert answer["error"] == "regex_timeout"
    assert answer["killed"]
    assert time.monotonic() - began < SLACK_S
    assert ask(pool, "b", "b")["matched"]


@pytest.mark.parametrize("groups", [100, 600, 2000])
def test_patterns_that_need_much_memory(pool: ChildPool, groups: int) -> None:
    """What V8 remembers of each repetition fills its 64 MB before the time is over, or after: the answer is the same."""
    assert ask(pool, "(?:a" + "()" * groups + ")*", "a" * 100_000)["error"] == "regex_timeout"
    assert ask(pool, "b", "b")["matched"]


def assert_the_worst_answer(pool: ChildPool) -> None:
    answer = ask(pool, "(?=(?<all>.*))" + "()" * 20, "x" * 1_100, "gd")

    assert answer["ok"]
    assert answer["matchCount"] == 1_101
    assert answer["truncated"]
    assert len(msgspec.json.encode(answer)) < 1_100_000


def test_the_worst_answer(pool: ChildPool) -> None:
    """A thousand matches with all that may be in them: bounded, and written in time."""
    assert_the_worst_answer(pool)


def ends_by_itself(pool: ChildPool, work: Work) -> bool:
    """Whether the child ended, or answered that it failed, before its deadline."""
    try:
        answer = pool.call(work, limit_s=PATIENCE_S, wait_s=PATIENCE_S / 3)
    except Exhausted:
        return True
    except TimeoutError:
        return False
    assert not isinstance(outcome.decode(answer), Ok)
    return True


@pytest.mark.parametrize(
    "program",
    [
        "({ f: () => { const all = []; for (;;) all.push({ n: all.length }); } })",
        '({ f: () => { const all = []; for (;;) all.push(JSON.stringify("ab".repeat(1e6)) + all.length); } })',
        "({ f: () => { const all = []; for (;;) all.push(new ArrayBuffer(1e7)); } })",
    ],
)
def test_v8s_memory_is_limited(pool: ChildPool, program: str) -> None:
    """Heap, strings and what lies beside the heap: the child ends or V8 throws, and the machine's memory stays. The next call
    has all of its own: a child that V8 left with 24 MB had answered it with regex_timeout. Without memory V8 seldom hangs,
    until the deadline ends the child: not three times in a row."""
    work = Work("javascript", "0x1", msgspec.json.encode({"message": program}))
    assert any(ends_by_itself(pool, work) for _ in range(3))
    assert_the_worst_answer(pool)
