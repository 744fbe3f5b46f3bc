"""The service that clients which others wrote are run against."""

from __future__ import annotations

import pytest

from tests.clients.shop import Shop
from tests.whole_service import Service


@pytest.fixture(scope="session")
def shop(service: Service) -> Shop:
    """The whole service, started as scripts/run starts it."""
    return Shop(service.base_url, service.sandbox)
