"""Connections that are open and quiet: they last, and are in nobody's way."""

import http.client
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import pytest

from tests.whole_service import Service

QUIET_S = 6
"""Longer than the five seconds after which a connection once was closed."""
MANY = 3_000
"""Well above granian's default of 1,024."""
PATH = "/v1/cdp/echo"


@pytest.fixture
def address(service: Service) -> tuple[str, int]:
    parts = urlsplit(service.base_url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


@pytest.fixture
def many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_quiet_connection_is_kept(address: tuple[str, int]) -> None:
    """The next call on it is answered: a client that reuses its connections sees no reset."""
    with closing(http.client.HTTPConnection(*address, timeout=10)) as connection:
        for pause_s in (0, QUIET_S):
            time.sleep(pause_s)
            connection.request("POST", PATH, b"{}")
            with connection.getresponse() as answer:
                assert answer.status == 402
                answer.read()


@pytest.mark.usefixtures("many_files")
def test_idle_connections_keep_nobody_waiting(address: tuple[str, int]) -> None:
    """One caller opens thousands and says nothing. Another one is answered meanwhile."""
    with ExitStack() as idle:
        for _ in range(MANY):
            idle.enter_context(socket.create_connection(address, timeout=10))
        connection = idle.enter_context(closing(http.client.HTTPConnection(*address, timeout=5)))
        connection.request("POST", PATH, b"{}")
        with connection.getresponse() as answer:
            assert answer.status == 402
