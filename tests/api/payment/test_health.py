"""When a rail takes new payments: what its facilitator says that it supports, and how settling through it goes."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from api.payment import health as module
from api.payment.circuit import Circuit
from api.payment.facilitator import Facilitator
from api.payment.health import Health
from shared.x402.networks import Rail
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

KIND = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453"}


class Watched:
    """A facilitator and its rail's health, started and stopped together."""

    def __init__(self, url: str) -> None:
        circuit = Circuit(failures=3, pause_s=0.1, longest_pause_s=0.4)
        self.facilitator = Facilitator(url, settle_timeout_s=1.0, circuit=circuit)
        self.health = Health(Rail.BASE, self.facilitator, scheme="exact", network="eip155:8453")
        self.told: list[bool] = []
        self.health.on_change(lambda: self.told.append(self.health.is_up))

    async def start(self) -> None:
        await self.facilitator.start()
        self.health.start()

    async def stop(self) -> None:
        await self.health.stop()
        await self.facilitator.stop()

    def fail(self, times: int) -> None:
        for _ in range(times):
            self.facilitator.circuit.failed(self.facilitator.circuit.openings)

    async def is_up(self, is_up: bool) -> None:
        """Wait until it is, or is not."""
        await self.until(lambda: self.health.is_up is is_up)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for a change that makes it true."""
        changed = asyncio.Event()
        self.health.on_change(changed.set)
        async with asyncio.timeout(patience(5)):
            while not true():
                changed.clear()
                await changed.wait()


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every minute."""
    monkeypatch.setattr(module, "FINE_S", 0.1)
    monkeypatch.setattr(module, "SOON_S", 0.05)


async def test_what_is_listed_is_offered_and_its_extra_is_kept(stranger: Any, started: Any) -> None:
    """Among others, and also when it cannot be asked later."""
    stranger.supports({**KIND, "x402Version": 1, "network": "base"}, {**KIND, "extra": {"feePayer": "F"}})
    async with started(Watched(stranger.url)) as watched:
        await stranger.saw(2)
        assert watched.health.is_up
        stranger.supports(status=503)
        await stranger.saw(5)
        assert watched.health.is_up
        assert watched.health.terms == {"feePayer": "F"}
    assert watched.told == [True]


@pytest.mark.parametrize(
    "kinds",
    [
        [],
        [{**KIND, "x402Version": 1}],
        [{**KIND, "network": "base"}],
        [{**KIND, "network": "eip155:84532"}],
        [{**KIND, "scheme": "upto"}],
    ],
    ids=range(5),
)
async def test_what_is_not_listed_is_not_offered_until_it_is(
    stranger: Any, started: Any, caplog: pytest.LogCaptureFixture, kinds: list[Any]
) -> None:
    """However often it is asked, the log says so once, in plain words."""
    stranger.supports(*kinds)
    with caplog.at_level(logging.INFO, "api"):
        async with started(Watched(stranger.url)) as watched:
            await watched.is_up(False)
            await stranger.saw(5)
            assert watched.told == [False]
            assert watched.health.terms == {}
            stranger.supports(KIND)
            await watched.is_up(True)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("api.")] == [
        "base takes no new payments: its facilitator does not list exact on eip155:8453 in /supported",
        "base takes new payments again",
    ]
    assert watched.told == [False, True]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>"),
        (200, b""),
        (200, b"{}"),
        (200, b'{"kinds":null}'),
        (200, b'{"kinds":[{"x402Version":"2"}]}'),
        (200, b'{"kinds":[],"x":"' + b"a" * 70_000 + b'"}'),
        (404, b'{"kinds":[]}'),
        (308, b'{"kinds":[]}'),
        (401, b"{}"),
        (429, b"{}"),
        (500, b"{}"),
    ],
    ids=range(11),
)
async def test_who_cannot_be_understood_is_taken_to_support_us(
    stranger: Any, started: Any, status: int, body: bytes
) -> None:
    """We go on selling what we are configured for."""
    stranger.paths["/supported"] = status, body
    async with started(Watched(stranger.url)) as watched:
        await stranger.saw(4)
        assert (watched.health.is_up, watched.told) == (True, [])


async def test_who_cannot_be_reached_is_taken_to_support_us(started: Any) -> None:
    """No payment has failed yet."""
    async with started(Watched("http://127.0.0.1:1")) as watched:
        await asyncio.sleep(0.2)
        assert watched.health.is_up
        assert not await watched.health.is_ready()


async def test_failures_take_it_down_and_a_question_brings_it_back(
    stranger: Any, started: Any, offer: Any, payment: Any
) -> None:
    """Given settlements that fail, when there were enough in a row, then only /supported is asked, and that not at once."""
    stranger.supports(KIND)
    stranger.says(b"", 502)
    async with started(Watched(stranger.url)) as watched:
        for _ in range(3):
            assert watched.health.is_up
            with pytest.raises(Exception, match="502"):
                await watched.facilitator.settle(payment, offer, payer="0xa")
        assert not watched.health.is_up
        stranger.paths["/supported"] = 503, b""
        seen = len(stranger.seen)
        assert not await watched.health.is_ready()
        await asyncio.sleep(0.05)
        assert len(stranger.seen) == seen
        await stranger.saw(seen + 2)
        assert (watched.health.is_up, watched.facilitator.circuit.pause_s > 0.1) == (False, True)
        stranger.supports(KIND)
        await watched.is_up(True)
        assert set(stranger.asked[seen:]) == {"/supported"}
        assert watched.told == [False, True]
        assert await watched.health.is_ready()


async def test_one_that_is_away_stays_in_the_challenges_for_a_moment(
    stranger: Any, started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a facilitator that fails, then its rail takes nothing and is offered first; when it has been away for longer it is
    not, however often it comes and goes, until it has settled something."""
    monkeypatch.setattr(module, "OFFERED_S", 0.3)
    stranger.paths["/supported"] = 503, b""
    async with started(Watched(stranger.url)) as watched:
        health = watched.health
        watched.fail(3)
        assert (health.is_up, health.is_offered) == (False, True)
        await watched.until(lambda: not health.is_offered)
        stranger.supports(KIND)
        await watched.is_up(True)
        assert health.is_offered
        watched.fail(1)
        assert (health.is_up, health.is_offered) == (False, False)
        await watched.is_up(True)
        watched.facilitator.circuit.worked()
        watched.fail(3)
        assert (health.is_up, health.is_offered) == (False, True)
        health.hold(is_held=True)
        assert not health.is_offered


async def test_any_answer_is_a_trial_that_passes(stranger: Any, started: Any) -> None:
    """Not every facilitator has a /supported that can be read; it is one that answers."""
    stranger.paths["/supported"] = 404, b"not found"
    async with started(Watched(stranger.url)) as watched:
        await stranger.saw(1)
        watched.fail(3)
        assert not watched.health.is_up
        await watched.is_up(True)


async def test_one_that_is_not_listed_stays_down_when_its_circuit_closes(stranger: Any, started: Any) -> None:
    """Both have to be well."""
    stranger.supports()
    async with started(Watched(stranger.url)) as watched:
        await watched.is_up(False)
        watched.fail(3)
        await stranger.saw(len(stranger.seen) + 3)
        assert (watched.facilitator.circuit.is_open, watched.health.is_up, watched.told) == (False, False, [False])


async def test_an_answer_to_an_earlier_question_is_no_trial(
    stranger: Any, started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a question that is under way, when the circuit opens, then its pause is kept; and /readyz makes no trial either."""
    monkeypatch.setattr(module, "FRESH_S", 0.0)
    stranger.supports(KIND)
    stranger.go_on.clear()
    async with started(Watched(stranger.url)) as watched:
        await stranger.saw(1)
        watched.facilitator.circuit._first_s = watched.facilitator.circuit._longest_s = 60.0
        watched.fail(3)
        stranger.go_on.set()
        await watched.health._asking
        assert not await watched.health.is_ready()
        assert (watched.health.is_up, len(stranger.seen)) == (False, 1)
        assert watched.health.retry_after_s > 50


async def test_callers_are_told_when_it_is_looked_at_again(stranger: Any, started: Any) -> None:
    """Whole seconds, and one at least."""
    stranger.supports(KIND)
    watched = Watched(stranger.url)
    assert watched.health.retry_after_s == 1
    async with started(watched):
        watched.facilitator.circuit.pause_s, watched.facilitator.circuit._longest_s = 3.7, 100.0
        watched.fail(3)
        assert watched.health.retry_after_s == 8


async def test_what_a_settlement_costs_is_asked_for_often(
    stranger: Any, started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a second after the last question when the facilitator has refused one for its cost. Junk is no cost."""
    for name in ("FINE_S", "SOON_S"):
        monkeypatch.setattr(module, name, 60.0)
    monkeypatch.setattr(module, "COST_SOON_S", 0.0)
    stranger.supports({**KIND, "extra": {"settlementCost": "258"}})
    async with started(Watched(stranger.url)) as watched:
        await stranger.saw(1)
        await watched.until(lambda: watched.health.costs.cost == 258)
        assert watched.health._next_at - watched.health._asked_at == module.COST_S
        for junk in (7, "-7", "x", None, "9" * 31):
            stranger.supports({**KIND, "extra": {"settlementCost": junk}})
            await watched.health._asking  # what is under way is not asked again
            watched.health.ask_soon()
            await stranger.saw(len(stranger.seen) + 1)
        await watched.health._asking
        assert (watched.health.costs.cost, watched.health.terms, watched.health.is_up) == (258, {}, True)


async def test_readiness_asks_one_question_for_all_who_want_to_know(
    stranger: Any, started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may call /readyz can have a stranger called by us."""
    monkeypatch.setattr(module, "FINE_S", 60.0)
    stranger.supports(KIND)
    stranger.go_on.clear()
    async with started(Watched(stranger.url)) as watched:
        asking = asyncio.gather(*(watched.health.is_ready() for _ in range(50)))
        await stranger.saw(1)
        stranger.go_on.set()
        assert await asking == [True] * 50
        assert await watched.health.is_ready()
        assert len(stranger.seen) == 1


async def test_a_failure_of_our_own_does_not_end_the_watch(
    stranger: Any, started: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A rail that nobody watches would never come back."""
    stranger.supports(KIND)
    watched = Watched(stranger.url)
    supported = watched.facilitator.supported

    async def broken() -> Any:
        monkeypatch.setattr(watched.facilitator, "supported", supported)
        raise ZeroDivisionError

    monkeypatch.setattr(watched.facilitator, "supported", broken)
    async with started(watched):
        await stranger.saw(2)
    assert caplog.text.count("could not be asked") == 1


class Clock:
    """What time it is, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


def test_the_pace_of_a_network_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never too slow: from ledgers that were seen, over the last minutes, and anew on a network that began again."""
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    health = Watched("http://127.0.0.1:9").health

    def known(number: int, after_s: float) -> tuple[int, float, float | None]:
        clock.now += after_s
        health._see(number, clock.now)
        clock.now += 4.0
        told = health.ledger()
        assert told is not None
        return told.number, told.age_s, told.ledger_s

    assert health.ledger() is None
    assert known(100, 0) == (100, 4.0, None)
    assert known(109, 6.0) == (109, 4.0, 1.0)  # ten seconds, nine ledgers and one that is nearly closed
    assert known(119, 6.0) == (119, 4.0, 1.0)
    for step in range(1, 30):  # it slows down, and this is noticed
        *_, ledger_s = known(119 + 2 * step, 6.0)
    assert ledger_s is not None
    assert 4.0 < ledger_s <= 5.0
    assert known(5, 6.0) == (5, 4.0, None)
    clock.now += module.CURRENT_S
    assert health.ledger() is None
