"""A few calls for pages, with one death of each kind. `python -m tests.chaos.render` makes more."""

import os

import pytest

from tests.chaos.render import KINDS, run
from tests.workers.browser.conftest import installed

CALLS = 12


@pytest.mark.timeout(300)  # it takes a tenth of that on two cores that are free
def test_no_page_is_lost_paid_twice_or_compared_with_another() -> None:
    """Given payers who repeat each payment until it is answered, when a worker, a browser, a page's process and an API process
    are killed, then each call is answered and charged once, says what changed since the payer's last call, and no process of
    a browser is left."""
    installed()
    seed = int(os.environ.get("CHAOS_SEED", "1"))
    figures = run(CALLS, seed)
    print(figures)
    assert not figures.violations, f"CHAOS_SEED={seed}\n{figures}"
    assert (len(figures.calls), figures.transfers) == (CALLS, CALLS)
    assert set(figures.kills) == set(KINDS)
