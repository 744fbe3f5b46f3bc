"""Every place at which a process can die, under everything that a facilitator can do: found one by one, not by luck."""

import asyncio
from collections import Counter

import pytest

from shared import failpoints
from tests.chaos.servers import running_service
from tests.chaos.slots import OUTCOMES, Case, Result, run_cases

UNPAID = {"refused", "somebody else was paid"}
"""These end with 402, unless what died took the refusal with it. With all others the caller gets what was asked for."""
EVERY = set(OUTCOMES)
DOUBTFUL = EVERY - {"paid", "refused"}
# Where a call comes to: the other cases would be like the ones in which nothing dies.
CASES: dict[str, set[str]] = {
    "": EVERY,
    "claimed": EVERY,
    "before-settle": EVERY,
    "declined": {"refused", "cut off and paid, then refused"},
    "rejected": {"refused"},
    "undecided": DOUBTFUL,
    "evidence-read": DOUBTFUL,
    "unknown": DOUBTFUL - {"silent but paid", "somebody else was paid"},
    **dict.fromkeys(("facilitator-answered", "settled", "enqueued", "reply-received"), EVERY - UNPAID),
    **dict.fromkeys(failpoints.WORKER, EVERY - UNPAID),
}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """The whole matrix."""
    named = {
        f"{place or 'nothing'} | {outcome}": Case(OUTCOMES[outcome], place)
        for place, outcomes in CASES.items()
        for outcome in sorted(outcomes)
    }
    with running_service(names=("ledger", "queue", "facilitator")) as made:
        return dict(zip(named, asyncio.run(run_cases(list(named.values()), made)), strict=True))


@pytest.mark.timeout(300)  # it takes a fifth of that on two cores that are free
def test_no_invariant_is_violated(results: dict[str, Result]) -> None:
    """Whatever dies where, and whatever the facilitator does."""
    print(f"{len(results)} cases, {sum(result.was_reached for result in results.values())} deaths")
    for what, counts in {
        "settle calls": Counter(len(result.history.settles) for result in results.values()),
        "executions": Counter(len(result.history.executions) for result in results.values()),
        "requests": Counter(len(result.history.answers) for result in results.values()),
    }.items():
        print(f"{what} per case: {dict(sorted(counts.items()))}")
    assert [f"{name}: {text}" for name, result in results.items() for text in result.violations] == []


def test_every_place_is_died_at(results: dict[str, Result]) -> None:
    """A case in which nothing died would prove nothing about its place."""
    assert set(CASES) == {"", *failpoints.API, *failpoints.WORKER}
    survived = {name for name, result in results.items() if not result.was_reached}
    assert survived == {f"nothing | {outcome}" for outcome in OUTCOMES}


def test_every_call_has_its_end(results: dict[str, Result]) -> None:
    """200 for what could be paid; 402 only where a refusal, or the chain, spoke first."""
    unpaid = {name for name, result in results.items() if result.end == 402}
    assert {name.partition(" | ")[2] for name in unpaid} == UNPAID
    assert {result.end for name, result in results.items() if name not in unpaid} == {200}


LEFT = {
    "": ("failed but paid", "silent and paid late", "pending and paid"),
    "facilitator-answered": ("paid", "silent but paid"),
    "undecided": ("silent but paid", "silent and paid late"),
    "unknown": ("failed but paid", "pending and paid"),
}


@pytest.mark.timeout(300)
def test_a_payment_is_found_without_its_caller() -> None:
    """Given a caller who never comes back, when the payment was made and nobody recorded it, then the API finds it by itself,
    settles nothing for that, and the call is there to be had later."""
    cases = [Case(OUTCOMES[outcome], place, is_left=True) for place, outcomes in LEFT.items() for outcome in outcomes]
    with running_service(names=("ledger", "queue", "facilitator")) as made:
        results = asyncio.run(run_cases(cases, made))
    assert [text for result in results for text in result.violations] == []
    assert {result.end for result in results} == {200}
    assert {len(result.history.settles) for result in results} == {1}
