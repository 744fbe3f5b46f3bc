"""Playwright beside our own client of the DevTools protocol: `python tests/bench/bench_playwright.py [rounds]`.

Both drive the same browser. Playwright is used as well as it can be: without those of its default options that weaken a bound,
and with a CDP session beside it. It needs the rivals' environment (scripts/bench makes it). Its browser runs without Chromium's
sandbox, which root could not give it; it sees only the pages of tests/bench/systems/site.py. Prints one row for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import proc
from tests.bench.systems.site import ADDRESS, DIALOGS, ENDLESS, HOST, LAST, MANY, POPUPS, WORKERS

WEAKENING = [
    "--disable-popup-blocking",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--enable-unsafe-swiftshader",
]
"""Of Playwright's default options."""
PAGE = "/static"
LIMIT_S = 20.0
"""Seconds after which a page is given up. Ours gives a page that never rests five seconds before it reads it."""
SETTLE_S = 5.0
POPUPS_S = 3.0
"""Seconds that popups are given to send their requests."""


def main(rounds: int = 5) -> None:
    """Start the site, then each of the two in a process of its own."""
    from tests.bench.measure.render import start_site
    from tests.bench.stand import RIVALS_PYTHON, stand
    from workers.browser.program import find_program

    with stand() as here:
        port = start_site(here)
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "BENCH_SITE_PORT": str(port),
            "BENCH_BROWSER": str(find_program("")),
            "COINSLOT_HOSTS": f"{HOST}={ADDRESS}",
            "COINSLOT_EGRESS_ALLOW": f"{ADDRESS}/32",
            "COINSLOT_EGRESS_PORTS": str(port),
        }
        for name, python in (("playwright", RIVALS_PYTHON), ("ours", sys.executable)):
            command = [python, __file__, name, str(rounds)]
            subprocess.run(command, env=environment, check=True)


async def measure_playwright(rounds: int) -> dict[str, Any]:
    """Playwright's row."""
    from playwright.async_api import async_playwright

    started = time.monotonic()
    async with async_playwright() as playwright:
        driver_s = time.monotonic() - started
        driver_bytes = sum(proc.proportional_bytes(pid) for pid in proc.family(os.getpid())[1:])
        started = time.monotonic()
        browser = await playwright.chromium.launch(
            executable_path=os.environ["BENCH_BROWSER"], chromium_sandbox=False, ignore_default_args=WEAKENING
        )
        launch_s = time.monotonic() - started

        @contextlib.asynccontextmanager
        async def opened() -> AsyncIterator[Any]:
            context = await browser.new_context()
            try:
                yield await context.new_page()
            finally:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(context.close(), 5)

        async def warm() -> float:
            began = time.monotonic()
            async with opened() as page:
                await page.goto(_url(PAGE), wait_until="load")
                assert LAST in await page.content()
            return time.monotonic() - began

        await warm()
        page_s = statistics.median([await warm() for _ in range(rounds)])

        async def endless(path: str = ENDLESS, *, by_protocol: bool) -> str:
            """Wait for the document, give its scripts some seconds, and read. By the protocol: end them first, as ours."""
            began = time.monotonic()
            async with opened() as page:
                session = await page.context.new_cdp_session(page)
                try:
                    async with asyncio.timeout(LIMIT_S):
                        await page.goto(_url(path), wait_until="commit")
                        await asyncio.sleep(SETTLE_S)
                        running = _running_workers()
                        if by_protocol:
                            await session.send("Emulation.setScriptExecutionDisabled", {"value": True})
                            await session.send("Runtime.terminateExecution")
                        content = await page.content()
                except Exception as error:
                    return f"none within {time.monotonic() - began:.1f} s ({type(error).__name__})"
                whole = "" if LAST in content else " without the text"
                busy = f", {running} workers running" if path == WORKERS else ""
                return f"after {time.monotonic() - began:.1f} s{whole}{busy}"

        async def popups(prepare: Callable[[Any], Awaitable[object]] | None = None, by: Any = None) -> int:
            before = _popups()
            context = await (by or browser).new_context()
            page = await context.new_page()
            if prepare is not None:
                await prepare(page)
            with contextlib.suppress(Exception):
                await page.goto(_url(POPUPS), wait_until="load", timeout=LIMIT_S * 1000)
            await asyncio.sleep(POPUPS_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(context.close(), 10)
            return _popups() - before

        async def close_seen(page: Any) -> None:
            page.context.on("page", lambda popup: asyncio.ensure_future(popup.close()))

        async def route(page: Any) -> None:
            async def decide(route: Any) -> None:
                await (route.abort() if "/popup?" in route.request.url else route.continue_())

            await page.context.route("**/*", decide)

        found: dict[str, Any] = {
            "driver, start": f"{driver_s:.2f} s",
            "driver, memory": f"{driver_bytes / 1e6:.0f} MB",
            "browser, start": f"{launch_s:.2f} s",
            "warm page": f"{page_s:.3f} s",
            f"requests of {MANY} popups": await popups(),
            "the same, closed when they are seen": await popups(close_seen),
            "the same, their requests routed and aborted": await popups(route),
        }
        blocking = await playwright.chromium.launch(
            executable_path=os.environ["BENCH_BROWSER"],
            chromium_sandbox=False,
            ignore_default_args=WEAKENING,
            args=["--block-new-web-contents"],
        )
        found["the same, --block-new-web-contents"] = await popups(by=blocking)
        await blocking.close()
        found["page without end, Playwright alone"] = await endless(by_protocol=False)
        found["page without end, ended by the protocol"] = await endless(by_protocol=True)
        found["endless dialogs, ended by the protocol"] = await endless(DIALOGS, by_protocol=True)
        found["64 busy workers"] = await endless(WORKERS, by_protocol=True)
    return found


def measure_ours(rounds: int) -> dict[str, Any]:
    """Our row."""
    from jobs import hosts
    from jobs.hosts import public_url
    from shared.settings import Settings
    from workers.children import ChildPool
    from workers.ports import WorkerPorts

    ports = WorkerPorts(Settings.from_env(os.environ), ChildPool())
    hosts.configure(hosts.Local(ports.settings.ports, ports.settings.hosts))
    started = time.monotonic()
    ports.browser.start()
    launch_s = time.monotonic() - started

    def render(path: str) -> float:
        began = time.monotonic()
        url = public_url(_url(path, HOST))
        page = ports.browser.render(url, screenshot=None, deadline=began + LIMIT_S)
        assert LAST in page.html
        return time.monotonic() - began

    try:
        render(PAGE)
        page_s = statistics.median([render(PAGE) for _ in range(rounds)])
        before = _popups()
        render(POPUPS)
        time.sleep(POPUPS_S)
        requests = _popups() - before
        return {
            "driver, start": "none",
            "driver, memory": "none",
            "browser, start": f"{launch_s:.2f} s",
            "warm page": f"{page_s:.3f} s",
            f"requests of {MANY} popups": requests,
            "page without end, ended by the protocol": f"after {render(ENDLESS):.1f} s",
            "endless dialogs, ended by the protocol": f"after {render(DIALOGS):.1f} s",
            "64 busy workers": _with_workers(render),
        }
    finally:
        ports.browser.close()


def _with_workers(render: Callable[[str], float]) -> str:
    with ThreadPoolExecutor(1) as thread:
        rendering = thread.submit(render, WORKERS)
        most = 0
        while not rendering.done():
            most = max(most, _running_workers())
            time.sleep(0.05)
    return f"after {rendering.result():.1f} s, {most} workers running"


def _running_workers() -> int:
    """Threads of workers that calculate now, in all processes that this one has started."""
    count = 0
    for pid in proc.family(os.getpid()):
        for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
                count += name.startswith("DedicatedWorker") and rest.split()[0] == "R"
    return count


def _url(path: str, host: str = ADDRESS) -> str:
    return f"http://{host}:{os.environ['BENCH_SITE_PORT']}{path}"


def _popups() -> int:
    with urllib.request.urlopen(_url("/count"), timeout=10) as answer:
        return int(answer.read())


if __name__ == "__main__":
    if sys.argv[1:2] == ["playwright"]:
        print(json.dumps({"playwright": asyncio.run(measure_playwright(int(sys.argv[2])))}, indent=1))
    elif sys.argv[1:2] == ["ours"]:
        print(json.dumps({"ours": measure_ours(int(sys.argv[2]))}, indent=1))
    else:
        main(*map(int, sys.argv[1:]))
