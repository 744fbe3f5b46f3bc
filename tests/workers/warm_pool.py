"""Children whose fork server has loaded everything, as a worker's have when it takes its first job."""

from __future__ import annotations

import time

from shared.pools import Pool
from tests.time_limits import patience
from workers.children import ChildPool

PATIENCE_S = patience(60.0)


def warm_pool(size: int, *pools: Pool) -> ChildPool:
    """Started and ready, for the calls of these pools; of all when none is named."""
    started = ChildPool()
    started.start(size, pools)
    await_ready(started)
    return started


def await_ready(started: ChildPool) -> None:
    """Return when the fork server is ready."""
    give_up_at = time.monotonic() + PATIENCE_S
    while started.confinement() is None:
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
