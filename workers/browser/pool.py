"""The warm browser of a worker process, and its successors.

A browser is replaced after a crash of a page, the watchdog's kill, a context that could not be closed, and after
instance.MAX_JOBS jobs. It shows its open pages to their end while the next one already gets the new jobs.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from jobs.hosts import PublicUrl
from jobs.ports.browser import Area, RenderedPage
from shared.observability.metrics import metrics
from shared.outcome import DeadlineExceeded, JobFailure, UpstreamFailed
from shared.process import machine
from workers.browser import verdicts
from workers.browser.cdp import BrowserEnded, CdpError
from workers.browser.instance import RunningBrowser
from workers.browser.page import Page
from workers.browser.process import NotStarted
from workers.browser.render import RESERVED_S, render
from workers.egress.allowance import Job
from workers.egress.proxy import Proxy

log = logging.getLogger(__name__)

MAX_PAGES = 4
PAGE_BYTES = 600 << 20
"""Memory of the machine or container for each page at once. A page takes 190 MB, and a hostile one 1.2 GB for a moment."""
JOB_S = 25.0
TRIES = 2
"""When the browser ends during a job, another page may have ended it."""
LEAST_S = 1.0
"""A site is not called with less time for its answer."""


class NotCalled(Exception):
    """The browser has not called the site, or not in time: the machine is too busy, or the browser is stuck."""


def pages_at_once(memory_bytes: int | None = None) -> int:
    """How many pages one browser shows at once: 1 to 4, by the machine's memory."""
    if memory_bytes is None:
        memory_bytes = machine.memory_bytes()
    return max(1, min(MAX_PAGES, memory_bytes // PAGE_BYTES - 1))


class BrowserPool:
    """Renders pages. It belongs to one event loop.

    Args:
        agent: who sends the requests, in the user agent's last words.
        authorities: certificates in PEM that browsers trust beside their own.
    """

    def __init__(
        self, program: Path, proxy: Proxy, *, agent: str, authorities: Sequence[str] = (), pages: int | None = None
    ) -> None:
        self._program = program
        self._proxy = proxy
        self._agent = agent
        self._authorities = authorities
        self._pages = pages or pages_at_once()
        self._room = asyncio.Semaphore(self._pages)
        self._starting = asyncio.Lock()
        self._current: RunningBrowser | None = None
        self._browsers: set[RunningBrowser] = set()
        self._jobs: set[asyncio.Task[RenderedPage]] = set()
        self._closing: set[asyncio.Task[None]] = set()

    async def warm_up(self) -> RunningBrowser:
        """The browser for the next job, which is started if need be. Raises NotStarted."""
        async with self._starting:
            if self._current is not None and (self._current.is_spent or self._current.has_ended):
                await self._retire(self._current)
                self._current = None
            if self._current is None:
                started = await RunningBrowser.start(
                    self._program, self._proxy, slots=self._pages, agent=self._agent, authorities=self._authorities
                )
                self._browsers.add(started)
                self._current = started
            return self._current

    async def render(self, url: PublicUrl, *, area: Area | None, deadline: float) -> RenderedPage:
        """Render a page, as the port says (jobs/ports/browser.py)."""
        job = asyncio.ensure_future(self._render(url, area, deadline))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        try:
            page = await job
        except JobFailure as failure:
            metrics.page(failure.reason or failure.code)
            raise
        metrics.page("rendered")
        return page

    async def _render(self, url: PublicUrl, area: Area | None, deadline: float) -> RenderedPage:
        for left in range(TRIES - 1, -1, -1):
            try:
                return await self._render_once(url, area, deadline)
            except (BrowserEnded, NotCalled) as failure:
                if left and deadline - time.monotonic() >= 2 * RESERVED_S:
                    continue
                if isinstance(failure, NotCalled):
                    raise DeadlineExceeded("The browser did not call the site in time.") from None
                raise verdicts.failed("page_crashed") from None
            except (CdpError, TimeoutError):
                raise verdicts.failed("timeout") from None
        raise AssertionError

    async def close(self) -> None:
        """End every browser and every job."""
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        await asyncio.gather(*(browser.kill() for browser in self._browsers))
        await asyncio.gather(*self._closing, return_exceptions=True)
        self._browsers.clear()

    async def _render_once(self, url: PublicUrl, area: Area | None, deadline: float) -> RenderedPage:
        browser = await self._browser_with_room(deadline)
        slot, address = browser.take()
        page = Page(browser, with_images=area is not None)
        ended = contextlib.ExitStack()
        seconds = min(JOB_S, deadline - time.monotonic())
        job = ended.enter_context(self._proxy.serving(Job(self._proxy.route(url.host), seconds), slot))
        try:
            try:
                async with asyncio.timeout(max(LEAST_S, deadline - RESERVED_S - time.monotonic())):
                    await page.open(address)
            except (CdpError, TimeoutError):
                browser.is_spent = True  # perhaps there is a context now whose id nobody knows
                raise NotCalled from None
            if deadline - RESERVED_S - time.monotonic() < LEAST_S:
                raise NotCalled
            try:
                return await render(page, url, job, area=area, deadline=deadline)
            except UpstreamFailed as failure:
                if failure.reason == "timeout" and not job.has_asked:
                    raise NotCalled from None
                raise
        finally:
            # The caller does not wait for it.
            ended.callback(self._room.release)
            ended.callback(browser.give_back, slot)
            closing = asyncio.create_task(self._close_page(page, browser, ended))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _browser_with_room(self, deadline: float) -> RunningBrowser:
        """A browser with a free slot. `_room` is acquired then."""
        left_s = deadline - RESERVED_S - time.monotonic()
        try:
            async with asyncio.timeout(left_s):
                if left_s <= 0:  # a free one would be taken without waiting
                    raise TimeoutError
                await self._room.acquire()
        except TimeoutError:
            raise DeadlineExceeded("No browser was free in time.") from None
        try:
            return await self.warm_up()
        except NotStarted as error:
            self._room.release()
            log.error("no browser: %s", error)
            raise DeadlineExceeded("No browser could be started.") from None
        except BaseException:
            self._room.release()
            raise

    async def _close_page(self, page: Page, browser: RunningBrowser, ended: contextlib.ExitStack) -> None:
        with ended:  # its callbacks are called last
            try:
                await page.close()
            except (CdpError, TimeoutError):
                browser.is_spent = True
                await browser.kill()
        if browser.is_spent and browser.is_idle:
            await self._retire(browser)

    async def _retire(self, browser: RunningBrowser) -> None:
        """End a browser that gets no more jobs, unless it still shows pages. Their end retires it."""
        if browser.is_idle or browser.has_ended:
            await browser.kill()
            self._browsers.discard(browser)
