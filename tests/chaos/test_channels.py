"""Channels under kills: a short run of what `scripts/chaos channels` does for longer; planted bugs have their places."""

from pathlib import Path

import pytest

from tests.chaos.channel_bugs import PLANTED, planted
from tests.chaos.channels import run


@pytest.mark.timeout(200)
def test_nothing_is_lost_or_taken_twice() -> None:
    """Ledger, answers and chain agree, to the unit, after some kills."""
    chaos, found = run(6.0, 20_261_124)
    assert found == []
    assert chaos.killed.total() >= 2
    assert sum(buyer.answered for buyer in chaos.buyers) > 100


def test_each_bug_has_its_place(tmp_path: Path) -> None:
    """The guard that it removes is there: otherwise `scripts/chaos channels --planted` would look for nothing."""
    for number, bug in enumerate(bug for bug in PLANTED.values() if bug.path):
        planted(tmp_path / str(number), bug)
