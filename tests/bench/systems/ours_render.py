"""Our pages without the queue: one worker's browser, and its child processes that read what the browser gives."""

from __future__ import annotations

import asyncio
import atexit
import os
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import workers.browser.pool
from jobs.engines.page.visit import visit
from jobs.ports import Context
from shared.pools import POOLS, Pool
from shared.settings.service import Settings
from tests.bench.caller import MEASURES, Call, pages, serve_calls
from tests.bench.roles import play
from workers.browser.page import Page
from workers.children import ChildPool
from workers.main import CHILDREN
from workers.ports import WorkerPorts

_visits: list[float] = []
"""Seconds of whole visits."""
_own: list[float] = []
"""Seconds of the browser's own work in them."""


def _timed(work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def timed(*arguments: Any, **named: Any) -> Any:
        started = time.monotonic()
        try:
            return await work(*arguments, **named)
        finally:
            _own.append(time.monotonic() - started)

    return timed


async def connect() -> Call:
    """As a worker of the render pool does it: the same ports, as many threads."""
    patch.object(Page, "open", _timed(Page.open)).start()
    patch.object(workers.browser.pool, "render", _timed(workers.browser.pool.render)).start()
    children = ChildPool()
    children.start(CHILDREN)
    ports = WorkerPorts(Settings.from_env(os.environ), children)
    ports.browser.start()
    atexit.register(children.close)
    atexit.register(ports.browser.close)
    if reason := ports.browser.unavailable_reason():
        raise SystemExit(f"no page can be rendered: {reason}")
    threads = ThreadPoolExecutor(POOLS[Pool.RENDER].threads)
    context = Context("nobody", ports)

    def call(url: str) -> str:
        started = time.monotonic()
        try:
            return visit(url, "article", context).reading.markdown
        finally:
            _visits.append(time.monotonic() - started)

    return lambda url: asyncio.get_running_loop().run_in_executor(threads, call, url)


async def pages_with_overhead(call: Call, **asked: Any) -> dict[str, float]:
    """Besides what is measured of every system: `overhead`, in percent of the browser's own time.

    The browser's own time of a visit begins when the visit has a browser with a free slot, and is opening the page's context
    and tab, navigating, waiting until the page rests (a look at the number of elements, twice, included), and reading the DOM.
    All the rest of `jobs.engines.page.visit` is overhead: the way to the browser's thread and back, the wait for a slot,
    the start of the next browser after 200 pages, the wait for a child process, reading the article, the hashes, comparing.
    """
    _visits.clear()
    _own.clear()
    seen = await pages(call, **asked)
    return {**seen, "overhead": 100 * (sum(_visits) / sum(_own) - 1)}


if __name__ == "__main__":
    play({"call": lambda: serve_calls(connect, MEASURES | {"pages": pages_with_overhead})})
