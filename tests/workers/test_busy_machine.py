"""Work is measured in CPU time: on a busy machine short calls take long, and none of them is too much.

In CI the machine is a little busy and the calls are few. The whole trial takes ten minutes:

    BUSY_PROCESSES=16 BUSY_CALLS=500 BUSY_LIMIT_S=1800 python -m pytest --timeout 2000 tests/workers/test_busy_machine.py
"""

import contextlib
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from jobs.catalogue import BY_NAME
from shared import outcome
from shared.outcome import Ok
from shared.pools import Pool
from tests.workers.warm_pool import warm_pool
from workers import children
from workers.child import Work
from workers.children import ChildPool, Exhausted
from workers.warming import examples, isolated

PROCESSES = int(os.environ.get("BUSY_PROCESSES", "4"))
CALLS = int(os.environ.get("BUSY_CALLS", "40"))
LIMIT_S = float(os.environ.get("BUSY_LIMIT_S", "15"))
PATIENCE_S = 60.0
SPENT = {"too_complex", "regex_timeout"}
# A busy process ends with the one that started it.
BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"

ALL = tuple(Pool)
CHEAPEST_S = 1.5
"""The smallest limit that a handler gives to a calculation is larger."""
WORKS = [
    *(
        (Work(item.name, "0x1", msgspec.json.encode(item.example.request)), item.child_limit_s)
        for item in isolated(ALL)
    ),
    *((Work(name, "", argument), CHEAPEST_S) for name, argument in examples(ALL)),
]


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    """Processes that calculate at niceness 0, where children have 5 and more."""
    burning = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(PROCESSES)]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


def how_it_ended(pool: ChildPool, work: Work, limit_s: float) -> str:
    try:
        answer = outcome.decode(pool.call(work, limit_s=limit_s, wait_s=PATIENCE_S))
    except Exhausted:
        return "exhausted"
    except TimeoutError:
        return "late"
    if not isinstance(answer, Ok):
        return answer.code
    if work.name not in BY_NAME:
        return "answered"
    error = msgspec.json.decode(answer.body).get("error")
    return str(error) if error in SPENT else "answered"


def test_short_calls_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every endpoint and calculation that runs in children, again and again: none is too much, and none fails."""
    monkeypatch.setattr(children, "RECYCLE_AFTER", 20)  # first calls of new children are among them
    pool = warm_pool(2)
    try:
        for work, limit_s in WORKS:
            assert how_it_ended(pool, work, limit_s) == "answered", work.name
        give_up_at = time.monotonic() + LIMIT_S
        ended: Counter[tuple[str, str]] = Counter()

        def call(each: tuple[Work, float]) -> None:
            if time.monotonic() < give_up_at:
                work, limit_s = each
                ended[work.name, how_it_ended(pool, work, limit_s)] += 1

        with busy_machine(), ThreadPoolExecutor(2) as callers:
            list(callers.map(call, WORKS * CALLS))
    finally:
        pool.close()
    print(f"{ended.total()} calls", dict(ended))
    assert {name for name, _ in ended} == {work.name for work, _ in WORKS}
    assert {how for _, how in ended} == {"answered"}, ended
