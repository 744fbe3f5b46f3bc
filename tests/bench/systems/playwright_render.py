"""Playwright and trafilatura: one browser, launched once, and a new context for each call.

BENCH_WAIT says until when it waits: `load`, or `networkidle`, which is half a second without requests. The browser is the one
that ours drives. It has no sandbox, which root could not give it and which costs time: it sees this site's own pages only.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from playwright.async_api import async_playwright
from trafilatura import extract

from tests.bench.caller import Call, serve_calls
from tests.bench.roles import play

manager = async_playwright()


async def connect() -> Call:
    """Start the driver and the browser."""
    playwright = await manager.start()
    browser = await playwright.chromium.launch(executable_path=os.environ["BENCH_BROWSER"], chromium_sandbox=False)
    wait: Any = os.environ["BENCH_WAIT"]

    async def call(url: str) -> str:
        context = await browser.new_context()
        try:
            page = await context.new_page()
            await page.goto(url, wait_until=wait)
            html = await page.content()
        finally:
            await context.close()
        return await asyncio.to_thread(_article, html, url) or ""

    return call


def _article(html: str, url: str) -> str | None:
    return extract(html, url=url, output_format="markdown", include_comments=False)


if __name__ == "__main__":
    play({"call": lambda: serve_calls(connect, close=manager.__aexit__)})
