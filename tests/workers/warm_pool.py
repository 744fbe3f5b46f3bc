"""Children whose fork server has loaded everything, as a worker's have when it takes its first job."""

from __future__ import annotations

from shared.pools import Pool
from tests.workers.until import until
from workers.children import ChildPool


def warm_pool(size: int, *pools: Pool) -> ChildPool:
    """Started and ready, for the calls of these pools; of all when none is named."""
    started = ChildPool()
    started.start(size, pools)
    await_ready(started)
    return started


def await_ready(started: ChildPool) -> None:
    """Return when the fork server is ready."""
    until(started.confinement, 60.0)
