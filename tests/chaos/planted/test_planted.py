"""The proof is proved: with any one guard removed, the enumeration's checker finds what goes wrong."""

import asyncio
import dataclasses
import re

import pytest

from compose.sandbox.child import ROOT
from tests.chaos.planted.table import BUGS, Bug
from tests.chaos.servers import running_service
from tests.chaos.slots import Result, run_cases


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[Result, Result]]:
    """Each case with its guard, and without."""
    with_guards = [bug.case for bug in BUGS.values()]
    without = [dataclasses.replace(bug.case, patches=(bug.patch,)) for bug in BUGS.values()]
    with running_service(names=("ledger", "queue", "facilitator")) as made:
        found = asyncio.run(run_cases([*without, *with_guards], made))
    return dict(zip(BUGS, zip(found[len(BUGS) :], found[: len(BUGS)], strict=True), strict=True))


@pytest.mark.parametrize("bug", BUGS.values(), ids=list(BUGS))
def test_the_guard_is_there(bug: Bug) -> None:
    """Exactly once. Where this fails, the guard was rewritten: tests/chaos/planted/table.py has to follow it."""
    bug.patch.apply((ROOT / bug.path).read_text())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", BUGS)
def test_a_removed_guard_is_missed(results: dict[str, tuple[Result, Result]], name: str) -> None:
    """By the invariant that it serves; and with it, the same case violates none."""
    guarded, unguarded = results[name]
    assert guarded.violations == []
    found = {int(number) for text in unguarded.violations for number in re.findall(r"^\((\d+)\)", text)}
    assert found & set(BUGS[name].invariants), unguarded.violations
