"""Waits for a condition."""

import time
from collections.abc import Callable

from tests.time_limits import patience


def until(condition: Callable[[], object], within_s: float = 30.0) -> None:
    """Return when the condition holds."""
    give_up_at = time.monotonic() + patience(within_s)
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.005)
