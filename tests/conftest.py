"""Which tests may open sockets: those of the parts that talk to something, and only to this machine."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import pytest_socket
import redis

from compose.sandbox.redis_server import start_redis
from tests.scheduling import EndOfService, SharedServices, order
from tests.time_limits import CROWD, patience
from tests.whole_service import sell, service

__all__ = ["sell", "service"]

TESTS = Path(__file__).parent

# The same examples in every run, so that a change is judged by what it changes. HYPOTHESIS_PROFILE=explore looks for new ones.
# How long they take is the machine's affair.
hypothesis.settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("explore")
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
UNIT = ("shared", "jobs", "contract")
"""Folders whose tests are calculations: no socket at all."""


def pytest_configure(config: pytest.Config) -> None:
    """A conftest's own hooks are not called for fixtures of the session. And Ctrl-C reaches what tests start: shells start with
    it ignored what runs in the background."""
    config.pluginmanager.register(EndOfService())
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedServices:
    """How tests are handed to several processes."""
    return SharedServices(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """As they are handed out to several processes; with more time each on a busy machine."""
    place = {nodeid: number for number, nodeid in enumerate(order([item.nodeid for item in items]))}
    items.sort(key=lambda item: place[item.nodeid])
    for item in items if CROWD > 1 else ():
        own = item.get_closest_marker("timeout")
        limit = float(own.args[0] if own else item.config.getini("timeout"))
        item.add_marker(pytest.mark.timeout(patience(limit)), append=False)


def pytest_collection_finish() -> None:
    """Libraries that tests import (web3) raise the recursion limit to where nested JSON overflows the C stack. Ours do not.
    And the collector does not look at thousands of tests and modules again and again."""
    sys.setrecursionlimit(1_000)
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def sockets(request: pytest.FixtureRequest) -> Iterator[None]:
    """Unit tests cannot open a socket; all others reach loopback only."""
    folder = Path(str(request.path)).relative_to(TESTS).parts[0]
    if folder in UNIT:
        pytest_socket.disable_socket(allow_unix_socket=True)
    else:
        pytest_socket.socket_allow_hosts(["127.0.0.0/8", "::1", "localhost"], allow_unix_socket=True)
    yield
    pytest_socket.enable_socket()
    pytest_socket._remove_restrictions()


@pytest.fixture(autouse=True, scope="session")
def payments_of_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What buyers save is not the user's."""
    os.environ["COINSLOT_STATE_DIR"] = str(tmp_path_factory.getbasetemp() / "buyers")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of tests marked anyio."""
    return "asyncio"


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis, for the ledger and the queue alike."""
    pytest_socket.enable_socket()
    server = start_redis("queue", tmp_path_factory.mktemp("redis"))
    yield server.url
    server.stop()


@pytest.fixture
def clean_redis(redis_url: str) -> str:
    """The same Redis, empty."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url
