"""Payers buy render-pro and web-diff for pages that change, while browsers, workers and API processes are killed. Every caller
repeats the same payment until it is answered. `python -m tests.chaos.render --calls 100 --seed 1`

What each answer says of the payer's last call is compared with a model: a map from payer, endpoint and URL to the last answer.
The seed plans the calls, the kills and what the pages say; when a kill meets a call is the machine's affair.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from coincurve import PrivateKey

from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests.bench import proc
from tests.chaos.caller import PAY_TO, Caller, Purchase, calling, purchase
from tests.chaos.checker import check
from tests.chaos.history import read_history
from tests.chaos.servers import Service, running_service
from tests.chaos.shop import CATALOGUES
from tests.time_limits import patience
from tests.workers.browser.namespaces import Namespaces, command
from tests.workers.browser.site import Content, Site

NAMES = ("ledger", "queue", "facilitator", "api-1", "api-2", "worker-1", "worker-2")
KINDS = ("worker", "browser", "api", "page")
"""What is killed. `browser`: its first process. `page`: a process that shows a page."""
MOST_PAYERS = 5
CALLS_PER_PAYER = 4
CALLS_PER_KILL = 3
PAGES = 2
ADDRESS, HOST = "127.77.60.2", "site.example.com"
END_WITHIN_S = patience(60.0)
FIND_WITHIN_S = patience(20.0)
MOST_EXECUTIONS = 8

_OFFERS = {
    endpoint.name: evm.offers(EVM_USDC["eip155:8453"], endpoint.price, PAY_TO)[0] for endpoint in CATALOGUES["render"]
}


class ChangingPages:
    """A site whose pages say another thing with about every seventh request.

    Attributes:
        said: the versions that were sent, by page.
    """

    def __init__(self, site: Site, seed: int) -> None:
        self.said: dict[str, list[int]] = {f"/page-{number}": [] for number in range(PAGES)}
        self._plans = {path: random.Random(f"{seed} {path}") for path in self.said}
        self._lock = threading.Lock()
        for path in self.said:
            site.pages[path] = Content(b"", raw=lambda path=path: [self._response(path)])

    def _response(self, path: str) -> bytes:
        with self._lock:
            plan, said = self._plans[path], self.said[path]
            said.append(said[-1] if said and plan.random() < 0.85 else plan.randrange(10))
            version = said[-1]
        lines = "".join(f"<p>The price of item {i} is {version * i} coins today.</p>" for i in range(1, 9))
        script = f"setTimeout(() => document.querySelector('h2').textContent = 'Version {version}', 200)"
        body = (
            f"<title>Prices</title><article><h1>Prices</h1><h2></h2>{lines}</article><script>{script}</script>".encode()
        )
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


@dataclass
class Call:
    """One call of a payer."""

    payer: str
    url: str
    bought: Purchase
    seconds: float = 0.0

    @property
    def subject(self) -> tuple[str, str, str]:
        """What its observation is about."""
        return self.payer, self.bought.endpoint, self.url


@dataclass
class Figures:
    """What happened."""

    calls: list[Call] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    transfers: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        """A few lines."""
        statuses = Counter(f"{a.status} {a.code}".strip() for call in self.calls for a in call.bought.answers)
        took = sorted(call.seconds for call in self.calls)
        lines = [
            f"calls {len(self.calls)} in {self.seconds:.0f} s, charged {self.transfers}; kills {dict(self.kills)}",
            f"answered at once {sum(len(call.bought.answers) == 2 for call in self.calls)}; "
            f"median {took[len(took) // 2]:.1f} s, slowest {took[-1]:.1f} s",
            f"answers {dict(statuses)}",
            f"comparisons {dict(self.compared)}",
            f"violations {len(self.violations)}",
            *self.violations,
        ]
        return "\n".join(lines)


class Deaths:
    """Kills processes of the service, and starts again what does not start itself.

    Attributes:
        namespaces: of the browsers' processes that were seen.
    """

    def __init__(self, service: Service, plan: random.Random, kills: Counter[str]) -> None:
        self._service, self._plan, self._kills = service, plan, kills
        self._kinds: list[str] = []
        self.namespaces = Namespaces()

    async def kill_one(self) -> None:
        """Kill after a moment, or as soon as there is a page; each kind once before any comes again."""
        after_s, back_s = self._plan.uniform(0, 1.2), self._plan.uniform(0, 0.8)
        self._kinds = self._kinds or self._plan.sample(KINDS, len(KINDS))
        kind, number = self._kinds.pop(), self._plan.choice("12")
        if kind != "page":
            await asyncio.sleep(after_s)
        await (self._kill_api(number, back_s) if kind == "api" else self._kill_behind(kind, number, back_s))
        self._kills[kind] += 1

    async def _kill_api(self, number: str, back_s: float) -> None:
        self._service.kill(f"api-{number}")
        await self._start(f"api-{number}", back_s)

    async def _kill_behind(self, kind: str, number: str, back_s: float) -> None:
        name, give_up_at = f"worker-{number}", time.monotonic() + FIND_WITHIN_S
        names = ("worker-1", "worker-2") if kind == "page" else (name,)
        while not (victims := [pid for each in names for pid in self._victims(each, kind)]):
            assert time.monotonic() < give_up_at, f"{names} have no {kind}\n{self._service.logs()}"
            await asyncio.sleep(0.02)
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if kind == "worker":
            # Its browser is left to end by itself.
            await asyncio.to_thread(self._service.wait_ended, name)
            await self._start(name, back_s)

    def _victims(self, name: str, kind: str) -> list[int]:
        family = {pid: line for pid in proc.family(self._service.pid(name)) if (line := command(pid))}
        self.namespaces.note(family)
        launchers = {pid for pid, line in family.items() if "browser/launcher.py" in line}
        browsers = [pid for pid, line in family.items() if "--remote-debugging-pipe" in line and pid not in launchers]
        if kind == "browser":
            return browsers[:1]
        if kind == "page":
            return [pid for pid, line in family.items() if "--type=renderer" in line][:1]
        # Only while it has a browser: what has just been started is not yet at work.
        own = [pid for pid, line in family.items() if "--type=" not in line and pid not in {*launchers, *browsers}]
        return own if browsers else []

    async def _start(self, name: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await asyncio.to_thread(self._service.start, name)


class Run:
    """One run.

    Args:
        calls: how many.
    """

    def __init__(self, service: Service, pages: ChangingPages, port: int, *, calls: int, seed: int) -> None:
        self._service, self._pages = service, pages
        self._plan = random.Random(f"calls {seed}")
        self._urls = [f"http://{HOST}:{port}{path}" for path in pages.said]
        self._left = calls
        self._begun = 0
        self._killing: list[asyncio.Task[None]] = []
        self.figures = Figures()
        self.deaths = Deaths(service, random.Random(f"deaths {seed}"), self.figures.kills)

    async def run(self) -> Figures:
        """All of it."""
        figures, began = self.figures, time.monotonic()
        payers = min(MOST_PAYERS, self._left // CALLS_PER_PAYER)
        async with calling(self._service.folder, self._service.origins) as caller:
            await asyncio.gather(*(self._pay(caller) for _ in range(payers)))
            await asyncio.gather(*self._killing)
            await asyncio.to_thread(self._service.wait_ready)
            for call in figures.calls:  # once more, when all is well
                await caller.insist(call.bought, within_s=END_WITHIN_S)
        figures.seconds = time.monotonic() - began
        history = read_history(self._service.folder, self._service.ledger_url, most_executions=MOST_EXECUTIONS)
        figures.transfers = len(history.transfers)
        figures.violations += check(history)
        figures.violations += self._wrong()
        return figures

    async def _pay(self, caller: Caller) -> None:
        """One call after the other by one payer."""
        key = PrivateKey()
        payer = evm.address_of(key.public_key)
        while self._left > 0:
            self._left -= 1
            self._begun += 1
            if self._begun % CALLS_PER_KILL == 2:
                await asyncio.gather(*self._killing)
                self._killing.append(asyncio.create_task(self.deaths.kill_one()))
            endpoint, url = self._plan.choice(list(_OFFERS)), self._plan.choice(self._urls)
            body = json.dumps({"url": url, "extract": "full"}).encode()
            bought = purchase(key, endpoint=endpoint, offer=_OFFERS[endpoint], body=body)
            call = Call(payer, url, bought)
            self.figures.calls.append(call)
            began = time.monotonic()
            await caller.insist(bought, within_s=END_WITHIN_S)
            call.seconds = time.monotonic() - began

    def _wrong(self) -> Iterator[str]:
        last: dict[tuple[str, str, str], dict[str, Any]] = {}
        for call in self.figures.calls:
            bought = call.bought
            if bought.end != 200:
                yield f"{bought.payment} ended with {bought.end}"
                continue
            answer: dict[str, Any] = json.loads(bought.content)
            version = _version(answer)
            if version not in self._pages.said[urlsplit(call.url).path]:
                yield f"{bought.payment} was answered with version {version}, which the page never had: {answer['markdown']}"
            previous = last.get(call.subject)
            said, expected = _said(bought.endpoint, answer), _expected(bought.endpoint, previous, answer)
            if said != expected:
                yield f"{bought.payment} was answered with {said}, not {expected}"
            self.figures.compared[f"{bought.endpoint} {expected['status']}"] += 1
            last[call.subject] = answer


def _version(answer: dict[str, Any]) -> int:
    found = re.search(r"Version (\d+)", answer["markdown"])
    prices = {int(a) // int(i) for i, a in re.findall(r"item (\d) is (\d+) coins", answer["markdown"])}
    # On a busy machine a page may be read before its script has written the version, and says so. Its prices are the same.
    versions = {int(found[1])} if found else prices if answer["timedOut"] else set()
    return versions.pop() if versions == prices and len(versions) == 1 else -1


def _said(endpoint: str, answer: dict[str, Any]) -> dict[str, Any]:
    """What an answer says of the payer's last call."""
    if endpoint == "render-pro":
        said = dict(answer["comparison"])
        del said["addedLines"], said["removedLines"], said["sinceCursorFound"]
        said["hasDiff"] = bool(answer["comparison"]["addedLines"])
    else:
        said = {name: answer[name] for name in ("status", "changed", "lastCheckedAt", "previousHash", "baseline")}
        said["hasDiff"] = bool(answer["diff"] and answer["diff"]["hunks"])
    return {**said, "cursor": answer["cursor"]}


def _expected(endpoint: str, previous: dict[str, Any] | None, answer: dict[str, Any]) -> dict[str, Any]:
    """What it has to say: the model."""
    status = "new" if previous is None else "same" if _version(previous) == _version(answer) else "changed"
    before = previous or {}
    expected = {
        "status": status,
        "hasDiff": status == "changed",
        "cursor": before["cursor"] if status == "same" else answer["cursor"],
    }
    if endpoint == "render-pro":
        names = {"previousObservationId": "observationId", "previousObservedAt": "observedAt"}
    else:
        names = {"lastCheckedAt": "checkedAt", "previousHash": "markdownHash"}
        expected |= {"changed": status == "changed", "baseline": "stored" if previous else "none"}
    return expected | {name: before.get(other) for name, other in names.items()}


def run(calls: int, seed: int) -> Figures:
    """Make one run, with new servers."""
    site = Site(ADDRESS)
    settings = {
        "HOSTS": f"{HOST}={ADDRESS}",
        "EGRESS_ALLOW": f"{ADDRESS}/32",
        "EGRESS_PORTS": str(site.port),
    }
    pages = ChangingPages(site, seed)
    try:
        # With every other seed, observations are on a Redis of their own.
        options = {"seed": str(seed), "names": NAMES, "is_observing_apart": seed % 2 == 1}
        with running_service(shop="render", settings=settings, **options) as made:
            one = Run(made, pages, site.port, calls=calls, seed=seed)
            figures = asyncio.run(one.run())
            for name in ("worker-1", "worker-2"):
                made.kill(name)
        until = time.monotonic() + patience(10)
        while (left := one.deaths.namespaces.left()) and time.monotonic() < until:
            time.sleep(0.05)
        figures.violations += left
        one.deaths.namespaces.close()
        return figures
    finally:
        site.close()


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    options = parser.parse_args()
    figures = run(options.calls, random.randrange(10**6) if options.seed is None else options.seed)
    print(figures)
    sys.exit(1 if figures.violations else 0)


if __name__ == "__main__":
    main()
