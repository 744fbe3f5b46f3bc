"""The service that clients which others wrote are run against."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from tests.clients.shop import Shop
from tests.e2e.running import Running


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The whole service, started as scripts/run starts it; at the end Ctrl-C, which must end it well."""
    running = Running(tmp_path_factory.mktemp("var"))
    running.wait_until_serving()
    yield Shop(running.base_url, json.loads((running.var / "sandbox.json").read_text()))
    status, said = running.end(signal.SIGINT)
    assert status == 0, said + running.log()
