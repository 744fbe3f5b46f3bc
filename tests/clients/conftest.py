"""The service that clients which others wrote are run against, and what generators make of its document."""

import shutil
from pathlib import Path

import httpx
import pytest

from tests.clients import environments, generators
from tests.clients.generators import Tools
from tests.clients.shop import Shop
from tests.whole_service import Service


@pytest.fixture(scope="session")
def shop(service: Service) -> Shop:
    """The whole service, started as scripts/run starts it."""
    return Shop(service.base_url, service.sandbox)


@pytest.fixture(scope="session")
def tools() -> Tools:
    """Made from the locks when first asked for; skipped where they are not, and no registry answers."""
    try:
        return Tools(environments.python("openapi"), environments.node(), shutil.which("node") or "")
    except environments.Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def folder(tmp_path: Path, tools: Tools, shop: Shop) -> Path:
    """A folder with the service's document, as a developer has it, and the packages of npm."""
    return _furnished(tmp_path, tools, shop)


@pytest.fixture(scope="session")
def python_client(tmp_path_factory: pytest.TempPathFactory, tools: Tools, shop: Shop) -> Path:
    """A folder with the package `generated`, of which openapi-python-client warns of nothing."""
    return generators.python_client(_furnished(tmp_path_factory.mktemp("python"), tools, shop), tools)


@pytest.fixture(scope="session")
def typescript_client(tmp_path_factory: pytest.TempPathFactory, tools: Tools, shop: Shop) -> Path:
    """A folder with generated.d.ts, of which openapi-typescript warns of nothing."""
    return generators.typescript_client(_furnished(tmp_path_factory.mktemp("typescript"), tools, shop), tools)


def _furnished(folder: Path, tools: Tools, shop: Shop) -> Path:
    document = httpx.get(f"{shop.base_url}/openapi.json", trust_env=False).content
    return generators.furnished(folder, tools, document)
