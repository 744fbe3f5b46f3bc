"""The whole service and Debian's browser, without a window, over its pages."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.clients import environments
from tests.whole_service import Service
from tests.workers.browser.conftest import installed

HERE = Path(__file__).parent


class Shop(NamedTuple):
    """The service, and what is in its var/sandbox.json."""

    base_url: str
    sandbox: dict[str, Any]


@pytest.fixture(scope="session")
def shop(service: Service) -> Shop:
    """The service, started as scripts/run starts it."""
    assert f"pages          {service.base_url}/bazaar\n" in service.told
    return Shop(service.base_url, service.sandbox)


@pytest.fixture(scope="module")
def tools() -> Path:
    """The folder with what package-lock.json here pins."""
    try:
        return environments.node(manifest=HERE, name="pages-npm") / "node_modules"
    except environments.Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for the module: Playwright's event loop would be in the way of other tests' loops."""
    # As root it starts only without its sandbox, which these pages of our own do not need.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, shop: Shop) -> Iterator[Callable[..., BrowserContext]]:
    """Makes visitors: ``visit(width, color_scheme="dark")``. Whatever they load comes from the shop, and nothing is logged."""
    made: list[BrowserContext] = []
    wrong: list[str] = []

    def visit(width: int = 1280, height: int = 900, **options: Any) -> BrowserContext:
        context = browser.new_context(
            base_url=shop.base_url, viewport={"width": width, "height": height}, reduced_motion="reduce", **options
        )
        context.on("console", lambda message: wrong.append(message.text))
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on(
            "request",
            lambda asked: None if asked.url.startswith(f"{shop.base_url}/") else wrong.append(f"loads {asked.url}"),
        )
        made.append(context)
        return context

    yield visit
    for context in made:
        context.close()
    # A browser logs a 404 that was asked for.
    assert [text for text in wrong if "status of 404" not in text] == []
