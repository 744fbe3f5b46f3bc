"""kill -9 of any one process while 200 paid calls run: everybody who repeats the same request gets 200, and pays once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import redis

from shared.ledger.keys import JOURNAL, in_every_bucket
from tests.chaos.caller import Caller, Purchase, calling, purchase
from tests.chaos.checker import check
from tests.chaos.history import MONEY_STATES, read_history
from tests.chaos.servers import Service, running_service

CALLS = 200
END_WITHIN_S = 30.0
RAMP_S = 1.2
KILL_AFTER_S = 0.5
"""The calls begin within that time, so that the kill meets them in every state."""
VICTIMS = {"api": "api-1", "worker": "worker-1", "facilitator": "facilitator", "ledger": "ledger", "queue": "queue"}


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    """One API process, one worker, a facilitator that takes its time and tells the truth."""
    with running_service(names=("api-1", "worker-1", "facilitator", "ledger", "queue")) as running:
        running.control(delay_s=0.1)
        yield running


async def kill_in_the_middle(running: Service, victim: str) -> list[tuple[Purchase, float]]:
    """All calls, with the seconds from the kill until each had its 200."""

    async def call(caller: Caller, number: int) -> tuple[Purchase, float]:
        bought = purchase(caller.key, endpoint="slow" if number % 10 == 0 else "echo")
        await asyncio.sleep(RAMP_S * number / CALLS)
        await caller.insist(bought, within_s=END_WITHIN_S, pause_s=0.1)
        return bought, time.monotonic()

    async with calling(running.folder, running.origins) as caller:
        calls = [asyncio.create_task(call(caller, number)) for number in range(CALLS)]
        await asyncio.sleep(KILL_AFTER_S)
        before = await asyncio.to_thread(recorded, running)
        assert not all(task.done() for task in calls)
        killed_at = time.monotonic()
        running.kill(victim)
        await asyncio.to_thread(running.start, victim)
        after = await asyncio.to_thread(recorded, running)
        assert lost(before, after, forgets=victim == "facilitator") == []
        return [(bought, ended_at - killed_at) for bought, ended_at in await asyncio.gather(*calls)]


@dataclass(frozen=True)
class Recorded:
    """What the ledger knows at one moment: the state of every payment, and its journal."""

    states: dict[str, str]
    journal: list[str]


def recorded(running: Service) -> Recorded:
    """Ask it."""
    with redis.Redis.from_url(running.ledger_url, decode_responses=True) as ledger:
        keys = list(ledger.scan_iter(in_every_bucket("payment:*"), 1000))
        pipeline = ledger.pipeline(transaction=False)
        for key in keys:
            pipeline.hget(key, "state")
        states = dict(zip(keys, pipeline.execute(), strict=True))
        return Recorded(states, [f"{key} {entry_id}" for key in JOURNAL for entry_id, _ in ledger.xrange(key)])


def lost(before: Recorded, after: Recorded, *, forgets: bool) -> list[str]:
    """What was known and is not.

    Args:
        forgets: a claim may be gone, because its settlement could not be asked for.
    """
    gone = [] if forgets else [key for key in before.states if key not in after.states]
    back = [
        f"{key} went from {state} to {after.states.get(key)}"
        for key, state in before.states.items()
        if state in MONEY_STATES and after.states.get(key) not in MONEY_STATES
    ]
    return [*gone, *back, *(entry for entry in before.journal if entry not in after.journal)]


@pytest.mark.parametrize("victim", VICTIMS)
def test_everybody_gets_what_was_paid_for(running: Service, victim: str) -> None:
    """Given 200 calls of which some are being settled and some are running, when a process is killed and started again, then
    every identical request ends with 200, none is charged twice, and the ledger knows every payment that it knew."""
    ended = asyncio.run(kill_in_the_middle(running, VICTIMS[victim]))

    statuses = Counter(bought.end for bought, _ in ended)
    at_once = sum(len(bought.answers) == 1 for bought, _ in ended)
    last_s = max(seconds for _, seconds in ended)
    tries = Counter(answer.status for bought, _ in ended for answer in bought.answers)
    print(
        f"{victim}: {at_once} at once, {CALLS - at_once} after repeating, the last after {last_s:.1f} s; {dict(tries)}"
    )
    assert statuses == {200: CALLS}, f"{statuses}\n{running.logs()}"
    history = read_history(running.folder, running.ledger_url)
    assert check(history) == []
    mine = {bought.payment for bought, _ in ended}
    assert sum(transfer.payment in mine for transfer in history.transfers) == CALLS
