"""Children whose fork server has loaded everything, as a worker's have when it takes its first job."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shared.pools import Pool
from tests.workers.until import until
from workers import fork_server
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


@contextlib.contextmanager
def fork_server_runs(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[None]:
    """In the place of the product's fork server, Python runs these arguments."""

    def popen(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        assert command[:3] == [sys.executable, "-m", "workers.fork_server"]
        options["env"] |= environment or {}
        return subprocess.Popen([sys.executable, *arguments], cwd=Path(__file__).parents[2], **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fork_server, "subprocess", SimpleNamespace(Popen=popen))
        yield
