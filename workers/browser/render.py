"""Renders one page: navigate, wait until it rests, read it. The order is that of `_Rendering.run`.

A page rests when five seconds of virtual time are over. Virtual time stands still while requests are pending and jumps over
what the page only waits for, so an ordinary page takes as long as its requests. All of 12 test pages were complete, in a third
of the time of `load + 2 s`. Where it does not end (a script without end, polling), the page is read after SETTLE_S.
"""

import asyncio
import base64
import contextlib
import json
import time
from pathlib import Path
from typing import Any, TypeVar

from jobs.hosts import PublicUrl
from jobs.ports.browser import MAX_HTML, Area, RenderedPage
from workers.browser import verdicts
from workers.browser.cdp import BrowserEnded, CdpError
from workers.browser.page import Page, Stop
from workers.browser.screenshot import take_screenshot
from workers.egress.allowance import Job

VIRTUAL_MS = 5_000
SETTLE_S = 5.0
"""Seconds of real time, from the first document on."""
PENDING_S = 2.0
"""A loaded page whose requests have been silent for so long only listens (long polling, server-sent events): its virtual time
continues without them."""
LOOK_S = 0.25
"""Between two looks at whether the main document is too large: nobody waits for the rest of it."""
QUIET_S = 0.06
"""Between two looks at a page that rests: what comes with the next frames is not in virtual time."""
MAX_QUIET_S = 0.6
READ_S = 1.0
"""For a page whose scripts leave the browser time. Then they are terminated."""
READ_AGAIN_S = 2.5
RESERVED_S = 4.0
"""Of the deadline, for reading the page and for the answer's way back."""
PICTURE_S = 3.0
"""Of the deadline, for the picture: a page that does not rest is read so much earlier."""
LEAST_SETTLE_S = 1.0
"""A document that came late has so much time all the same."""
RETURN_S = 0.5
"""Of that, for the way back: nothing is waited for any longer."""
MAX_DEPTH = 250
"""Of elements: libxml2's parser ends at 256."""
MAX_VALUE = 2_000
"""Characters of an attribute."""

_READ = Path(__file__).with_name("read_dom.js").read_text("utf-8")
T = TypeVar("T")

_COUNT = "document.getElementsByTagName('*').length"


async def render(page: Page, url: PublicUrl, job: Job, *, area: Area | None, deadline: float) -> RenderedPage:
    """Render in a page that is open.

    Raises:
        BlockedAddress, UpstreamFailed: as the port says (jobs/ports/browser.py).
        BrowserEnded: not by the page, as far as is known.
    """
    return await _Rendering(page, job, deadline, area).run(url)


class _Rendering:
    def __init__(self, page: Page, job: Job, deadline: float, area: Area | None) -> None:
        self._page = page
        self._cdp = page.browser.cdp
        self._job = job
        self._deadline = deadline
        self._area = area

    async def run(self, url: PublicUrl) -> RenderedPage:
        await self._navigate(str(url))
        stopped = await self._settle()
        self._check()
        if stopped is not Stop.RESTED:
            await self._halt()
        document = self._page.document
        read = await self._read()
        if stopped is not Stop.RESTED and not read["hasBegun"]:
            raise verdicts.failed("timeout")  # an empty text would be sold, and compared with the last one
        source = await self._source(document.loader)
        picture = await self._screenshot(self._area) if self._area else None
        self._check()
        if self._page.document.loader != document.loader:
            raise verdicts.failed(
                "too_many_redirects"
            )  # what was read may be of another document than what was checked
        response = self._page.response
        assert response is not None
        return RenderedPage(
            final_url=read["url"].partition("#")[0],
            http_status=response.status,
            html=read["html"][:MAX_HTML],
            source=source,
            title=read["title"] or None,
            language=read["language"] or None,
            screenshot=picture,
            requests=max(0, self._page.requests),
            received_bytes=self._job.received_bytes,
            timed_out=stopped is not Stop.RESTED,
            exit=self._job.route.number if self._job.route else 0,
        )

    async def _navigate(self, url: str) -> None:
        """Until the first document is shown.

        The browser answers when the response has begun. On a busy machine the page's process shows the document seconds later,
        and until then an empty page.
        """
        page = self._page
        result = await self._result(self._cdp.post("Page.navigate", page.session, url=url))
        if error := result.get("errorText"):
            await self._check_process()
            raise verdicts.of_error("" if result.get("isDownload") else error, page.asked, self._job)
        if result.get("isDownload"):
            raise verdicts.failed("not_a_page", is_final=True)
        await self._result(page.shown)
        self._start_time()

    async def _check_process(self) -> None:
        """Raise when the page's process has ended. Its navigation is aborted, which is known before its end."""
        with contextlib.suppress(CdpError, TimeoutError):
            await self._page.send("Runtime.evaluate", expression="0", limit_s=self._within(READ_S))
        self._check_stop()

    async def _result(self, awaited: asyncio.Future[T]) -> T:
        waited: set[asyncio.Future[Any]] = {awaited, self._page.stop, self._cdp.ended}
        limit_s = max(0.1, self._deadline - RESERVED_S - time.monotonic())
        await asyncio.wait(waited, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if not awaited.done():
            self._check_stop()
            raise verdicts.failed("timeout")
        return awaited.result()

    def _start_time(self, policy: str = "pauseIfNetworkFetchesPending") -> None:
        self._cdp.post(
            "Emulation.setVirtualTimePolicy",
            self._page.session,
            policy=policy,
            budget=VIRTUAL_MS,
            maxVirtualTimeTaskStarvationCount=1_000,
        )

    async def _settle(self) -> Stop | None:
        """Wait until the page rests. Returns why it is not waited for any longer; None: the time is up."""
        page, stop, is_forced = self._page, self._page.stop, False
        now, last = time.monotonic(), self._deadline - RESERVED_S
        if self._area:
            last = max(last - PICTURE_S, min(last, now + LEAST_SETTLE_S))
        until = min(now + SETTLE_S, last)
        while not stop.done():
            left_s = until - time.monotonic()
            if left_s <= 0:
                return None
            await asyncio.wait({stop}, timeout=min(left_s, LOOK_S))
            self._check_size()
            if not is_forced and page.is_loaded and time.monotonic() - page.active_at >= PENDING_S:
                is_forced = True
                self._start_time("advance")
        if stop.result() is Stop.RESTED:
            await self._wait_for_quiet()
        return stop.result()

    async def _wait_for_quiet(self) -> None:
        """Wait until the number of elements stays the same."""
        until = time.monotonic() + MAX_QUIET_S
        before = None
        with contextlib.suppress(CdpError, TimeoutError):
            while time.monotonic() < until:
                limit_s = self._within(until - time.monotonic())
                now = (self._page.document.loader, await self._evaluate(_COUNT, limit_s=limit_s))
                if now == before:
                    return
                before = now
                await asyncio.sleep(QUIET_S)

    async def _halt(self) -> None:
        """End the page's scripts, and keep new ones from starting. What they have made of the document stays."""
        if self._page.is_halted:
            return
        session, self._page.is_halted = self._page.session, True
        self._cdp.post("Emulation.setScriptExecutionDisabled", session, value=True)
        self._cdp.post("Emulation.setVirtualTimePolicy", session, policy="pause")
        self._cdp.post("Page.stopLoading", session)
        self._job.disconnect()  # a script that waits for a synchronous request cannot be terminated
        with contextlib.suppress(CdpError, TimeoutError):
            await self._page.send("Runtime.terminateExecution", limit_s=self._within(READ_S))

    async def _read(self) -> dict[str, Any]:
        script = f"({_READ.rstrip().removesuffix(';')})({MAX_HTML}, {MAX_DEPTH}, {MAX_VALUE})"
        try:
            return dict(await self._evaluate(script, limit_s=self._within(READ_S)))
        except BrowserEnded:
            raise
        except (CdpError, TimeoutError):
            self._check_stop()
        await self._halt()
        try:
            return dict(await self._evaluate(script, limit_s=self._within(READ_AGAIN_S)))
        except BrowserEnded:
            raise
        except (CdpError, TimeoutError):
            self._check_stop()
            raise verdicts.failed("page_crashed") from None

    async def _evaluate(self, script: str, *, limit_s: float) -> Any:
        """The value of an expression in an isolated world, which the page's scripts cannot change."""
        page = self._page
        until = time.monotonic() + limit_s
        made = await page.send("Page.createIsolatedWorld", frameId=page.target, worldName="coinslot", limit_s=limit_s)
        result = await page.send(
            "Runtime.evaluate",
            expression=script,
            contextId=made["executionContextId"],
            returnByValue=True,
            limit_s=max(0.05, until - time.monotonic()),
        )
        if "exceptionDetails" in result:
            raise CdpError(json.dumps(result["exceptionDetails"])[:200])
        return result["result"].get("value")

    async def _source(self, loader: str) -> str:
        """The main document's own text; "" when the browser has not kept it."""
        try:
            body = await self._page.send("Network.getResponseBody", requestId=loader, limit_s=self._within(READ_S))
        except (CdpError, TimeoutError):
            return ""
        text: str = body["body"]
        if body["base64Encoded"]:
            return base64.b64decode(text[: 4 * MAX_HTML]).decode("utf-8", "replace")[:MAX_HTML]
        return text[:MAX_HTML]

    async def _screenshot(self, area: Area) -> Any:
        return await take_screenshot(self._page, area, until=self._deadline - 1)

    def _check(self) -> None:
        """Raise what keeps the document from being sold."""
        self._check_stop()
        if failure := verdicts.of_document(self._page, self._job):
            raise failure

    def _check_size(self) -> None:
        response = self._page.response
        if self._job.exhausted == "too_many_bytes" and response is not None and not response.is_loaded:
            raise verdicts.failed("too_large", is_final=True)

    def _check_stop(self) -> None:
        stop = self._page.stop
        if self._cdp.ended.done():
            raise BrowserEnded("the browser has ended")
        if stop.done() and stop.result() is Stop.CRASHED:
            raise verdicts.failed("page_crashed")
        if stop.done() and stop.result() is Stop.LOOPED:
            raise verdicts.failed("too_many_redirects", is_final=True)

    def _within(self, limit_s: float) -> float:
        """So many seconds, or what is left of them."""
        return max(0.05, min(limit_s, self._deadline - RETURN_S - time.monotonic()))
