"""What several files of tests share: the sandbox's upstreams, and a warm child."""

from collections.abc import Iterator

import pytest
import pytest_socket

from compose.sandbox.upstream_server import Upstreams, start_upstreams
from shared.pools import Pool
from tests.workers.warm_pool import warm_pool
from workers.children import ChildPool


@pytest.fixture(scope="session")
def upstreams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstreams]:
    """As `scripts/run` starts them."""
    pytest_socket.enable_socket()
    running = start_upstreams(tmp_path_factory.mktemp("upstreams"))
    yield running
    running.child.stop()


@pytest.fixture(scope="session")
def net_children() -> Iterator[ChildPool]:
    """One child, for the pool `net`."""
    pool = warm_pool(1, Pool.NET)
    yield pool
    pool.close()
