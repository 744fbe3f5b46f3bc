"""Section 9: pages in a browser. What a page takes beside Playwright, what a paid call of render-pro takes, and what callers of
echo notice of pages that want more than to be read."""

from __future__ import annotations

import contextlib
import json
import socket
import statistics
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import redis

from shared.endpoint import PATH_PREFIX, Pool
from shared.pools import POOLS
from shared.queue.streams import stream_key
from tests.bench.callers import CallerProcess, page_caller
from tests.bench.measure.load import sample
from tests.bench.payments import offered, write_payments
from tests.bench.processes import Broken, Running, Stand, absent, stand
from tests.bench.results import QUICK, Effort, Table
from tests.bench.systems import LOAD, NETWORK_IDLE, RENDER, RENDERERS, SITE, UNPAID, System
from tests.bench.systems.site import ADDRESS, EATER, ENDLESS, HOST, LAST, ORDINARY, WORKERS
from tests.bench.wrk import background
from workers.browser.program import find_program

IN_FLIGHT = (1, 4)
"""The render pool's worker has four threads."""
TURNS = {1: 2, 4: 6}
"""How often each page is rendered in one round."""
PAID_TURNS, QUICK_PAID_TURNS = 15, 5
ECHOES_IN_FLIGHT = 16
WAITS = {LOAD: "load", NETWORK_IDLE: "networkidle"}
PATH = PATH_PREFIX + "render-pro"
COLUMNS = {
    "per_s": "pages/s",
    "p50_ms": "p50, ms",
    "p95_ms": "p95, ms",
    "cpu_ms": "CPU with the browser's, ms/page",
    "complete": "with the whole text, %",
    "overhead": "beyond the browser's own time, %",
}
CALL_COLUMNS = {"per_s": "answers/s", "p50_ms": "p50, ms", "p95_ms": "p95, ms"}
CALLS = "ordinary pages"
QUIET = "no page is rendered"
HOSTILE = {
    "scripts that never end": ENDLESS,
    "pages that eat memory": EATER,
    "pages with 64 busy workers": WORKERS,
}
ECHO_COLUMNS = {"p50_ms": "p50, ms", "p99_ms": "p99, ms", "per_s": "answers/s", "ratio": "p99 with / without"}


def measure(effort: Effort) -> tuple[Table, Table, Table]:
    """The tables `render`, `render_call` and `render_isolation`."""
    pages = Table("Four kinds of pages from a site on loopback, and their articles", ("in flight", "system"), COLUMNS)
    calls = Table(f"Paid calls of render-pro, {IN_FLIGHT[-1]} in flight", ("of",), CALL_COLUMNS)
    echoes = Table(
        f"Isolation: echo at {ECHOES_IN_FLIGHT} in flight beside {IN_FLIGHT[-1]} hostile pages",
        ("echo, while",),
        ECHO_COLUMNS,
    )
    pages.notes.append("Ours loads no images, media and fonts unless a screenshot is asked for. The others load all.")
    pages.notes.append("Ours keeps Chromium's sandbox, in namespaces of its own. The others run without any.")
    program = find_program("")
    if program is None:
        for table in (pages, calls, echoes):
            table.absent["everything"] = "this machine has no browser"
        return pages, calls, echoes
    with stand() as here:
        port = start_site(here)
        ours = {"COINSLOT_HOSTS": f"{HOST}={ADDRESS}", "COINSLOT_EGRESS_ALLOW": f"{ADDRESS}/32"}
        ours |= {"COINSLOT_EGRESS_PORTS": str(port)}
        _measure_pages(here, port, ours, str(program), effort, pages)
        here.start_facilitator()
        running = here.start(UNPAID, **ours)
        environment = {"BENCH_POOL": Pool.RENDER.value, "BENCH_THREADS": str(POOLS[Pool.RENDER].threads)}
        here.spawn(UNPAID, "slow_worker", {**running.environment, **environment})
        running.wait_for(200)
        running.wait_for(200, path=PATH, body=_body(port, ORDINARY[0]))
        _measure_calls(here, running, port, effort, calls)
        _measure_echoes(here, running, port, effort, echoes)
    return pages, calls, echoes


def _measure_pages(here: Stand, port: int, ours: dict[str, str], program: str, effort: Effort, table: Table) -> None:
    with contextlib.ExitStack() as stack:
        callers: dict[System, CallerProcess] = {}
        for number, system in enumerate(RENDERERS):
            if reason := absent(system):
                table.absent[system.label] = reason
                continue
            more = ours if system is RENDER else {"BENCH_BROWSER": program, "BENCH_WAIT": WAITS[system]}
            log = here.folder / "sandbox" / "log" / f"renderer-{number}.log"
            callers[system] = stack.enter_context(page_caller(here.start(system, **more), log))
        for system, caller in callers.items():
            _render(system, caller, port, turns=1, in_flight=IN_FLIGHT[-1])
        for _ in range(effort.rounds):
            for in_flight in IN_FLIGHT:
                for system, caller in callers.items():
                    seen = _render(system, caller, port, turns=TURNS[in_flight], in_flight=in_flight)
                    table.add(str(in_flight), system.label, **seen)


def _render(system: System, caller: CallerProcess, port: int, *, turns: int, in_flight: int) -> dict[str, float]:
    host = HOST if system is RENDER else ADDRESS
    urls = [f"http://{host}:{port}{path}" for path in ORDINARY] * turns
    cpu_s = caller.cpu_s()
    seen = caller.measure("pages", urls=urls, in_flight=in_flight, expected=LAST)
    return {**seen, "cpu_ms": (caller.cpu_s() - cpu_s) / len(urls) * 1e3}


def _measure_calls(here: Stand, running: Running, port: int, effort: Effort, table: Table) -> None:
    """The whole call: signature, facilitator, ledger, queue, browser, reading, comparing with the call before, answer."""
    bodies = [_body(port, path) for path in ORDINARY] * (QUICK_PAID_TURNS if effort is QUICK else PAID_TURNS)
    payments = here.folder / "payments"
    url = running.origin + PATH
    for _ in range(effort.rounds):
        write_payments(payments, offered(url, "GET"), len(bodies))
        started = time.monotonic()
        with ThreadPoolExecutor(IN_FLIGHT[-1]) as threads:
            took = list(threads.map(lambda body, payment: _paid(url, body, payment), bodies, payments.open()))
        table.add(
            CALLS,
            per_s=len(bodies) / (time.monotonic() - started),
            p50_ms=statistics.median(took),
            p95_ms=statistics.quantiles(took, n=20, method="inclusive")[-1],
        )


def _paid(url: str, body: str, payment: str) -> float:
    """Milliseconds of one call. Raises Broken when its answer is not the page."""
    headers = {"Content-Type": "application/json", "PAYMENT-SIGNATURE": payment.strip()}
    started = time.monotonic()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers), timeout=40) as answer:
            said = json.load(answer)
    except urllib.error.HTTPError as answer:
        with answer:
            raise Broken(f"render-pro answered {answer.code}: {answer.read().decode()[:500]}") from None
    took = time.monotonic() - started
    if said["markdown"].find(LAST) < 0:
        raise Broken(f"render-pro did not find the text of {said['url']}")
    return took * 1e3


def _measure_echoes(here: Stand, running: Running, port: int, effort: Effort, table: Table) -> None:
    """Loads with and without, in turns; each pair gives one ratio."""
    queue = redis.Redis.from_url(running.environment["BENCH_QUEUE_URL"])
    _wait_until_idle(queue)
    _echo(here, running, table, 1)
    for _ in range(effort.pairs):
        quiet = _echo(here, running, table, effort.seconds)
        table.add(QUIET, **quiet)
        for row, path in HOSTILE.items():
            with _hostile(running, queue, _body(port, path)):
                busy = _echo(here, running, table, effort.seconds)
            table.add(row, **busy, ratio=busy["p99_ms"] / quiet["p99_ms"])
            _wait_until_idle(queue)


def _echo(here: Stand, running: Running, table: Table, seconds: int) -> dict[str, float]:
    seen = sample(here, running, table, in_flight=ECHOES_IN_FLIGHT, seconds=seconds)
    return {name: seen[name] for name in ("p50_ms", "p99_ms", "per_s")}


@contextlib.contextmanager
def _hostile(running: Running, queue: redis.Redis, body: str) -> Iterator[None]:
    """As many calls as the worker has threads, all the time."""
    with background(running.origin + PATH, in_flight=IN_FLIGHT[-1], body=body):
        time.sleep(1)
        if not queue.xlen(stream_key(Pool.RENDER)):
            raise Broken("no hostile page is being rendered")
        yield


def _wait_until_idle(queue: redis.Redis) -> None:
    while queue.xlen(stream_key(Pool.RENDER)):
        time.sleep(0.1)


def _body(port: int, path: str) -> str:
    return json.dumps({"url": f"http://{HOST}:{port}{path}"})


def start_site(here: Stand) -> int:
    """The port of its HTTP."""
    site = here.start(SITE)
    port = int(site.environment["BENCH_PORT"])

    def answers() -> bool:
        socket.create_connection((ADDRESS, port), timeout=1).close()
        return True

    site.children["serve"].wait_ready(answers)
    return port
