"""The browser of a worker process: an event loop in its own thread, with the pool of browsers and their proxy."""

import asyncio
import logging
import re
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, TypeVar

from jobs.hosts import PublicUrl
from jobs.ports.browser import Area, RenderedPage
from jobs.site import Site
from shared.outcome import DeadlineExceeded
from workers.browser.pool import BrowserPool
from workers.browser.process import NotStarted
from workers.browser.program import find_program
from workers.egress.connect import Connector
from workers.egress.proxy import Proxy

NO_BROWSER = "no_browser"
"""This machine has none."""
NOT_STARTED = "browser_not_started"
"""There is one, but it cannot be started. Mostly, this machine allows no namespaces; the log says what it is."""
START_AGAIN_S = 5.0
"""Seconds between two attempts to start it."""
START_S = 30.0
CLOSE_S = 8.0
LATE_S = 1.0
"""Seconds after its deadline at which a job that should have ended is given up."""

log = logging.getLogger(__name__)

T = TypeVar("T")


class ChromiumBrowser:
    """Implements jobs.ports.browser.Browser and workers.port_lifecycle.LivePort.

    Args:
        configured: the setting COINSLOT_CHROMIUM.
        agent: who sends the requests.
        ca_file: certificate authorities that are trusted beside the browser's own.
        pages: how many at once; None: by the machine's memory.

    Raises:
        InvalidSetting: the configured program cannot be run.
    """

    def __init__(
        self,
        connector: Connector,
        site: Site,
        *,
        configured: str,
        agent: str,
        ca_file: Path | None = None,
        pages: int | None = None,
    ) -> None:
        self._connector = connector
        self._site = site
        self._program = find_program(configured)
        self._agent = agent
        self._authorities = _certificates(ca_file.read_text("ascii", "replace")) if ca_file else []
        self._pages = pages
        self._pool: BrowserPool | None = None
        self._proxy: Proxy | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._reason = NO_BROWSER if self._program is None else ""
        self._start_again_at = 0.0

    def start(self) -> None:
        """Start the event loop and a browser. Without a program it does nothing: `unavailable_reason` says why."""
        if self._program is None:
            return
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)
            self._thread.start()
            self._proxy = Proxy(self._connector, self._site)
            self._pool = BrowserPool(
                self._program, self._proxy, agent=self._agent, authorities=self._authorities, pages=self._pages
            )
        self._check()

    def unavailable_reason(self) -> str:
        """Why no page can be rendered; "" when it can. A browser that has ended is replaced."""
        if self._pool is not None and time.monotonic() >= self._start_again_at:
            self._check()
        return self._reason

    def close(self) -> None:
        """End the browsers and the event loop. Jobs that still run fail."""
        if self._loop is None or self._thread is None:
            return
        try:
            self._submit(self._closed()).result(CLOSE_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_S)
            if not self._thread.is_alive():
                self._loop.close()
            self._loop = self._thread = self._pool = self._proxy = None
            self._reason = NO_BROWSER

    def render(self, url: PublicUrl, *, screenshot: Area | None, deadline: float) -> RenderedPage:
        """Render a page, as the port says."""
        pool = self._pool
        if pool is None:
            raise DeadlineExceeded("There is no browser.")
        rendering = self._submit(pool.render(url, area=screenshot, deadline=deadline))
        try:
            return rendering.result(max(0.0, deadline - time.monotonic()) + LATE_S)
        except TimeoutError:
            rendering.cancel()
            raise DeadlineExceeded("The page took too long.") from None
        except CancelledError:
            raise DeadlineExceeded("The worker ends.") from None

    def refused(self, url: PublicUrl, page: RenderedPage) -> bool:
        """Note a refusal, as the port says."""
        route = self._connector.route(url.host)
        route.number = page.exit
        return route.refused()

    def _check(self) -> None:
        assert self._pool is not None
        warming = self._submit(self._pool.warm_up())
        try:
            warming.result(START_S)
            self._reason = ""
        except (NotStarted, TimeoutError) as error:
            if not self._reason:
                log.error("no browser: %s", str(error) or "it does not start in time")
            self._reason = NOT_STARTED
            self._start_again_at = time.monotonic() + START_AGAIN_S

    async def _closed(self) -> None:
        assert self._pool is not None
        assert self._proxy is not None
        await self._pool.close()
        await self._proxy.close()
        await asyncio.get_running_loop().shutdown_default_executor()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)


def _certificates(pem: str) -> list[str]:
    return re.findall(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", pem, re.DOTALL)
