"""Whose turn it is, with a clock that stands until a test moves it."""

import math
import threading
import time
from collections.abc import Iterator

import pytest

from tests.workers.until import until
from workers import fair_pool as module
from workers.fair_pool import HALF_LIFE_S, FairPool


class Line:
    """Those who wait, each in a thread, and the order in which they were served."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pool: FairPool[str] = FairPool(lambda: self.now)
        self.served: list[str] = []
        self.threads: list[threading.Thread] = []

    def comes(self, payer: str, give_up_at: float = math.inf) -> None:
        """Return when it waits."""

        def wait() -> None:
            self.pool.get(payer, give_up_at)
            self.served.append(payer)

        self.threads.append(threading.Thread(target=wait))
        self.threads[-1].start()
        self._until(len(self.threads) - len(self.served))

    def serve(self) -> str:
        """Give what is free to one of them, and say to whom."""
        self.pool.put("free")
        self._until(len(self.threads) - len(self.served) - 1)
        return self.served[-1]

    def _until(self, waiting: int) -> None:
        until(lambda: self.pool.waiting == waiting and len(self.served) == len(self.threads) - waiting)


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    for _ in line.threads:
        line.pool.put("free")
    for thread in line.threads:
        thread.join(30)


def used(line: Line, payer: str, seconds: float) -> None:
    """The payer has had something for so long."""
    line.pool.put("free", payer, seconds)
    assert line.pool.get("", math.inf) == "free"


def test_equals_in_the_order_of_their_coming(line: Line) -> None:
    """Nobody has used anything; two of them are one payer's."""
    for payer in "abac":
        line.comes(payer)

    assert [line.serve() for _ in range(4)] == ["a", "b", "a", "c"]


def test_who_used_least_is_first(line: Line) -> None:
    """However many others came before."""
    used(line, "greedy", 3.0)
    used(line, "modest", 0.1)
    for payer in ("greedy", "greedy", "modest", "new"):
        line.comes(payer)

    assert [line.serve() for _ in range(4)] == ["new", "modest", "greedy", "greedy"]


def test_who_has_waited_for_half_his_time_is_first(line: Line) -> None:
    """However much he has used: he would wait for ever while others come and go."""
    used(line, "greedy", 3.0)
    line.comes("greedy", line.now + 10)
    line.now += 4
    line.comes("new")
    assert line.serve() == "new"
    line.now += 1
    line.comes("newer")
    assert [line.serve(), line.serve()] == ["greedy", "newer"]


def test_what_was_used_is_forgotten(line: Line) -> None:
    """Half of it after each half-life."""
    used(line, "early", 3.0)
    line.now += 2 * HALF_LIFE_S
    used(line, "late", 1.0)
    line.comes("late")
    line.comes("early")

    assert line.serve() == "early"


def test_the_last_that_was_given_back_is_the_first_that_is_taken(line: Line) -> None:
    """It is warm."""
    line.pool.put("cold")
    line.pool.put("warm")

    assert [line.pool.get("a", math.inf), line.pool.get("a", math.inf)] == ["warm", "cold"]


def test_the_highest_rank_is_taken_first(line: Line) -> None:
    """And of equals the last that was given back."""
    for free in ("b1", "a1", "a2", "b2"):
        line.pool.put(free)

    ranked = [line.pool.get("a", math.inf, lambda free: free.startswith("a")) for _ in range(4)]

    assert ranked == ["a2", "a1", "b2", "b1"]


def test_waiting_ends() -> None:
    """At its time, also when it is over before it begins and somebody else's turn is next; nobody waits afterwards."""
    turns: FairPool[str] = FairPool()
    for left_s in (0.05, 0.0, -1.0):
        with pytest.raises(TimeoutError):
            turns.get("a", time.monotonic() + left_s)
    assert turns.waiting == 0


def test_those_who_give_up_hold_up_nobody(line: Line) -> None:
    """Given one whose turn it was and who went away, then the next gets what is free."""
    used(line, "b", 1.0)
    line.comes("b")
    with pytest.raises(TimeoutError):
        line.pool.get("a", line.now)

    assert line.serve() == "b"


def test_payers_are_forgotten(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who have used little, when there are many: memory has a bound."""
    monkeypatch.setattr(module, "MAX_PAYERS", 10)
    for number in range(100):
        used(line, str(number), 0.5)
        line.now += HALF_LIFE_S

    assert len(line.pool._used) <= 11
