"""The block of seven days ago is found on chains of every rhythm, with four probes at most."""

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

import pytest

from jobs.approval_safety.age import CLOSE_S, MAX_PROBES, WINDOW_S, Bracket, week_ago
from jobs.engines.evm.reader import Reader
from jobs.ports.chains import MAX_READS, BlockTime, Chain
from tests.each import each
from tests.jobs.engines.evm.fake_chains import NOW, FakeChains, context

DAY_S = 86_400
Runs = list[tuple[int, int]]
"""How many blocks come how many seconds apart, from the first block on."""


def sandbox(age_s: int) -> Runs:
    """compose/sandbox/fixture_transactions.py: some blocks of 30 days, and a dense row since the start."""
    days = [21, 14, 10, 8, *(7 - 1 / 24 - 4 / 24 * n for n in range(30)), 2, 1, 1 / 24]
    steps = [int((before - after) * DAY_S) for before, after in zip([30, *days], [*days, 0], strict=False)]
    return [*((1, step) for step in steps), (max(age_s // 2, 1), 2)]


LAYOUTS: dict[str, tuple[Chain, Runs]] = {
    "Base": ("base", [(40_000_000, 2)]),
    "Base, which stood still for six hours": ("base", [(30_000_000, 2), (1, 21_600), (200_000, 2)]),
    "Base, which stood still for ten days": ("base", [(30_000_000, 2), (1, 864_000), (1_000, 2)]),
    "Base, which became ten times as fast": ("base", [(30_000_000, 2), (1_000_000, 0), (150_000, 2)]),
    "Ethereum": ("ethereum", [(23_000_000, 12)]),
    "Ethereum, with every 100th slot missed": ("ethereum", [(99, 12), (1, 24)] * 10_000),
    "Ethereum, with every tenth slot missed": ("ethereum", [(9, 12), (1, 24)] * 20_000),
    "Ethereum, when blocks took 14 s": ("ethereum", [(10_000_000, 14)]),
    "dense first, and few blocks since": ("base", [(500_000, 2), (40, 43_200)]),
    "a block a day": ("base", [(40, DAY_S)]),
    "nothing for a year": ("base", [(1_000, 2), (1, 365 * DAY_S)]),
    "the sandbox after a minute": ("base", sandbox(60)),
    "the sandbox after an hour": ("base", sandbox(3_600)),
    "the sandbox after a day": ("base", sandbox(DAY_S)),
    "the sandbox after five days": ("base", sandbox(5 * DAY_S)),
    "the sandbox after a month": ("base", sandbox(30 * DAY_S)),
    "the sandbox's Ethereum after an hour": ("ethereum", sandbox(600)),
}


def found(chain: Chain, runs: Runs) -> tuple[Bracket, list[int]]:
    """The blocks that were found, and how many each probe asked for."""
    numbers = [0, *accumulate(count for count, _ in runs)]
    seconds = [0, *accumulate(count * step for count, step in runs)]

    def time_of(block: int) -> int | None:
        if not 0 <= block <= numbers[-1]:
            return None
        run = min(bisect_right(numbers, block), len(runs)) - 1
        return NOW - seconds[-1] + seconds[run] + (block - numbers[run]) * runs[run][1]

    chains = FakeChains()
    fake = chains.base if chain == "base" else chains.ethereum
    fake.head = numbers[-1]
    patched: Callable[[int], int | None] = time_of
    fake.time_of = patched  # type: ignore[method-assign]
    reader = Reader(context(chains), chain)
    reader.read()
    bracket = week_ago(reader)
    return bracket, [len(calls) for _, calls, _ in chains.reads if any(isinstance(call, BlockTime) for call in calls)]


@each("layout", LAYOUTS)
def test_it_is_found_whatever_the_rhythm(layout: str) -> None:
    """A block that is older by an hour at most, or the one just before the moment."""
    bracket, probes = found(*LAYOUTS[layout])
    assert bracket.before is not None
    assert bracket.before.time <= bracket.target < bracket.after.time
    adjacent = bracket.after.number - bracket.before.number == 1
    assert bracket.target - bracket.before.time <= CLOSE_S or adjacent, bracket
    assert (bracket.is_close, bracket.target) == (True, NOW - WINDOW_S)
    assert len(probes) <= MAX_PROBES
    assert max(probes) <= MAX_READS // 2


@pytest.mark.parametrize("layout", ["Base", "Ethereum", "Ethereum, with every 100th slot missed"])
def test_regular_chains_take_two_calls_at_most(layout: str) -> None:
    """Nodes count calls."""
    _, probes = found(*LAYOUTS[layout])
    assert sum(probes) <= 2


def test_a_chain_that_began_this_week_has_no_such_block() -> None:
    """And that is known after one probe or two."""
    bracket, probes = found("base", [(100_000, 2)])
    assert (bracket.before, bracket.after.number, bracket.is_close) == (None, 0, False)
    assert len(probes) <= 2
