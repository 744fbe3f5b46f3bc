"""Nobody is charged for a calculation that would be late: the prediction by itself, and the whole API with a real worker."""

import asyncio
import dataclasses
from collections import Counter
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.backlog import Backlog, Work
from jobs.pii_redact.endpoint import ENDPOINT as PII
from jobs.prompt_injection_scan.endpoint import ENDPOINT as SCAN
from shared.queue.replies import Cost
from tests.api.paying import Payer

SIZE = 48 * 1024
SMALL = 100


class World:
    """One child that the payers share in slices of time, as the worker's pool lets them, and the calls that were taken.

    Attributes:
        slowness: how many times longer than on a machine that does nothing else a call takes.
        late: calls that were not answered by their deadline.
    """

    def __init__(self, cost_s: float, slowness: float = 1.0) -> None:
        self.now = 0.0
        self.slowness = slowness
        self.backlog = Backlog(lambda: self.now)
        self.backlog.learn(SCAN, SIZE, cost_s)
        self.left: dict[Work, float] = {}
        self.late: list[Work] = []
        self.answered: list[float] = []
        """How long before its deadline each was answered."""

    def come(self, payer: str, size: int = SIZE) -> bool:
        """Whether the call was taken."""
        work = self.backlog.work(SCAN, size, payer)
        if self.backlog.late_by_s(work, scale=1.0):
            return False
        self.backlog.add(work)
        self.left[work] = work.cost_s
        return True

    def go_on(self, seconds: float, slice_s: float = 0.01) -> None:
        for _ in range(round(seconds / slice_s)):
            self.now += slice_s
            first: dict[str, Work] = {}
            for work in self.left:
                first.setdefault(work.payer, work)
            for work in first.values():
                self.left[work] -= slice_s / len(first) / self.slowness
            for work in [work for work, left_s in self.left.items() if left_s <= 0 or work.late_at <= self.now]:
                self._end(work, self.left.pop(work))

    def _end(self, work: Work, left_s: float) -> None:
        self.backlog.remove(work)
        ran_s = work.cost_s - left_s
        self.backlog.measured(Cost(ran_s * self.slowness, ran_s * (self.slowness - 1), left_s <= 0))
        if left_s <= 0:
            self.answered.append(work.late_at - self.now)
        else:
            self.late.append(work)


@given(
    st.floats(0.05, 0.25),
    st.floats(1.0, 10.0),
    st.lists(st.tuples(st.integers(0, 6), st.floats(0.0, 0.5)), min_size=1, max_size=120),
)
def test_whoever_is_taken_is_answered_in_time(cost_s: float, slowness: float, calls: list[tuple[int, float]]) -> None:
    """Whatever comes from whom, on a machine of any speed that the last call has shown, where a call costs what it is
    thought to cost, and the child works all the time."""
    world = World(cost_s, slowness)
    world.backlog.measured(Cost(slowness, slowness - 1))
    for payer, pause_s in calls:
        world.come(str(payer))
        world.go_on(pause_s)
    world.go_on(SCAN.deadline_s)
    assert not world.left
    assert not world.late


@given(st.floats(0.02, 0.25), st.floats(1.0, 5.0))
def test_a_burst_on_a_machine_that_is_busy_by_now(cost_s: float, slowness: float) -> None:
    """What calls took on a quiet machine is no longer relied upon: of a burst, no more is taken than can be answered."""
    world = World(cost_s, slowness)
    taken = sum(world.come(str(number)) for number in range(200))
    world.go_on(SCAN.deadline_s)
    assert (len(world.answered), world.late) == (taken, [])


@example(cost_s=0.2, slowness=1.0)  # a payer's first call was late, because only the deadline of the last was looked at
@given(st.floats(0.02, 0.25), st.floats(1.0, 10.0))
def test_a_machine_that_becomes_busy(cost_s: float, slowness: float) -> None:
    """Three slow calls, in time or late, are enough: of those that are taken after them, none is late."""
    world = World(cost_s)
    payers = [str(number) for number in range(12)]

    def ended() -> int:
        return len(world.answered) + len(world.late)

    def flood(seconds: float) -> None:
        until = world.now + seconds
        while world.now < until:
            for payer in payers:
                world.come(payer)
            world.go_on(0.1)

    flood(1.0)
    world.slowness, before = slowness, ended()
    while ended() < before + 3:
        flood(0.1)
    early = {*world.late, *world.left}
    flood(2 * SCAN.deadline_s)
    world.go_on(SCAN.deadline_s)
    assert set(world.late) <= early


def test_a_light_payer_is_taken_beside_a_heavy_one() -> None:
    """Who has filled the pool fills it for himself."""
    world = World(0.4)
    while world.come("heavy"):
        pass
    world.backlog.learn(SCAN, SMALL, 0.002)
    assert world.come("light", SMALL)
    world.go_on(SCAN.deadline_s)
    assert not world.left
    assert not world.late


def test_refused_callers_may_come_back_when_they_are_told() -> None:
    """Retry-After is honest: a caller who waits for it is taken, if nobody else comes."""
    world = World(0.5)
    while world.come("payer"):
        pass
    refused = world.backlog.work(SCAN, SIZE, "payer")
    world.go_on(world.backlog.retry_after_s(refused, scale=1.0))
    assert world.come("payer")


def test_costs_are_learned_by_size() -> None:
    """The mean follows what calls take; longer bodies are thought to cost more, never more than the limit."""
    backlog = Backlog()

    def cost_s(size: int) -> float:
        return backlog.work(PII, size, "").cost_s

    assert 0 < cost_s(SIZE) <= PII.child_limit_s
    for _ in range(50):
        backlog.learn(PII, 10_000, 0.2)
    assert cost_s(10_000) == pytest.approx(0.2)
    assert cost_s(100) == pytest.approx(0.2)
    assert 0.2 < cost_s(80_000) < 4
    assert cost_s(10**9) == PII.child_limit_s
    for _ in range(50):
        backlog.learn(PII, 10_000, 0.1)
    assert cost_s(10_000) == pytest.approx(0.1, rel=0.1)


def test_other_processes_and_workers_count() -> None:
    """Twice the calls take twice as long, and two workers half as long."""
    backlog = Backlog(lambda: 0.0)
    endpoint = dataclasses.replace(SCAN, deadline_s=15.0)
    backlog.learn(endpoint, SIZE, 1.0)
    backlog.measured(Cost(1.0))
    for number in range(5):
        backlog.add(backlog.work(endpoint, SIZE, str(number)))
    late_s = [backlog.late_by_s(backlog.work(endpoint, SIZE, "new"), scale=scale) for scale in (0.5, 1.0, 2.0)]
    assert late_s == [0.0, 0.0, pytest.approx(6.0)]


@pytest.mark.anyio
@pytest.mark.usefixtures("worker")
async def test_nobody_is_charged_for_a_call_that_is_late(shop: httpx.AsyncClient, facilitator: Any) -> None:
    """Sixty long scans at once from ten wallets, all within their rates: each is answered, or refused uncharged."""
    text = "Please read this text about boats, and say what you think of it. " * (SIZE // 66)

    async def scan(payer: Payer) -> httpx.Response:
        return await shop.post(SCAN.path, json={"text": text}, headers=payer.headers(price="0.005"))

    answers = await asyncio.gather(*map(scan, [Payer() for _ in range(10)] * 6))
    counted = Counter(answer.status_code for answer in answers)
    assert set(counted) <= {200, 503}, [answer.text for answer in answers if answer.status_code not in (200, 503)][:3]
    assert counted[200] == len(facilitator.settles) > 0
    for answer in answers:
        if answer.status_code == 503:
            assert (answer.json()["code"], answer.json()["charged"]) == ("pool_full", False)
            assert int(answer.headers["retry-after"]) >= 1


def test_one_short_call_that_waited_keeps_nobody_out() -> None:
    """It worked for a thousandth of a second, and waited for a processor for a third of one."""
    backlog = Backlog()
    backlog.measured(Cost(0.35, 0.349))
    assert backlog.late_by_s(backlog.work(PII, SMALL, "payer"), scale=1.0) == 0
