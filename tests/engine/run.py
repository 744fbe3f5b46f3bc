"""compose.yaml in a container engine: it sells every call, on every rail, while its containers are scaled, replaced, killed and
stopped. `scripts/image --engine`.

Local chains and sites run outside of the containers, as others' do (tests/engine/outside.py).
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import re
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from coinslot.errors import CoinslotError
from jobs.catalogue import CATALOGUE
from shared.pools import Pool
from shared.x402.networks import Rail
from tests.chaos.caller import Caller, calling
from tests.chaos.history import read_history
from tests.engine.engine import HEALTHY_WITHIN_S, Engine
from tests.engine.outside import outside
from tests.upgrade.buying import Buying
from tests.upgrade.purchases import RAILS, WATCHES, Shop
from tests.upgrade.verdict import wrong_money, wrong_payments

SERVERS = ("ledger", "queue")
WORKERS = tuple(f"worker-{pool}" for pool in Pool)
BEHIND_API = ("facilitator", *WORKERS, "exporter", "dashboard")
SERVICES = (*SERVERS, *BEHIND_API, "api")
"""In an order in which they can be started."""
STOP_ORDER = (("api",), BEHIND_API, SERVERS)
"""Docker's `compose stop` has it from depends_on; podman-compose stops all at once."""
TWICE = (*WORKERS, "api")
"""What a rolling restart has two of."""
LOAD = (Rail.BASE, Rail.BASE, Rail.SOLANA, Rail.STELLAR)
"""The rails of those who buy meanwhile."""
ONE_OF_EACH_POOL = ("echo", "json-repair", "dns", "chain/chain-id", "whois", "youtube")
BUSY = {"answer_late", "pool_slow", "timeout"}
"""Why a call may have to be repeated on a busy machine, whether anything is restarted or not."""
STOP_S = 50
"""More than any container's own time to stop."""


class Proof(Buying):
    """One run."""

    def __init__(self, shop: Shop, caller: Caller, engine: Engine, origins: list[str]) -> None:
        super().__init__(shop, caller)
        self._engine = engine
        self._origins = origins
        self._names = itertools.cycle(ONE_OF_EACH_POOL)

    async def start(self, *options: str) -> None:
        """`docker compose up`: first the servers, for engines that do not wait for health by themselves."""
        for services in (SERVERS, ()):
            await asyncio.to_thread(self._engine.compose, "up", "-d", "--no-build", *options, *services)
            await self._healthy(*(services or SERVICES))
            await asyncio.to_thread(self._engine.keep_bridges)
        await self._ready(*self._engine.containers("api"))
        self._find_apis()

    async def sell_all(self) -> None:
        """Every call, and every rail."""
        for endpoint in CATALOGUE:
            began = time.monotonic()
            bought = await self.buy_one(Rail.XRPL_RLUSD if endpoint.name == WATCHES else Rail.BASE, endpoint.name)
            print(f"  {endpoint.name:<22} {bought.end} after {time.monotonic() - began:.1f} s", flush=True)
        for rail in RAILS:
            bought = await self.buy_one(rail, "echo")
            print(f"  {rail:<22} {bought.end} {bought.answers[-1].receipt}", flush=True)

    async def scale(self, service: str, count: int) -> None:
        """More containers of a service, which all read their queue."""
        await self._scale({service: count})
        assert len(self._engine.containers(service)) == count

    async def replace_one_by_one(self) -> None:
        """Restart every container under load. No call notices it where there are two; else it is an uncharged 503, and the same
        payment is answered later."""
        await self._scale(dict.fromkeys(TWICE, 2))
        self._find_apis()
        async with self._load("restart of what runs twice", refusals=False):
            for service in (*WORKERS, "api"):
                for name in self._engine.containers(service):
                    await self._restart(service, name)
        async with self._load("restart of what runs once", refusals=True):
            for service in ("facilitator", "exporter", "dashboard", "queue", "ledger"):
                for name in self._engine.containers(service):
                    await self._restart(service, name)

    async def kill_all(self) -> None:
        """SIGKILL for one container after the other. The engine starts it again."""
        async with self._load("kill -9 of every container", refusals=True):
            for service in SERVICES:
                for name in self._engine.containers(service):
                    pid = self._engine.inspect(name)["State"]["Pid"]
                    began = time.monotonic()
                    self._engine.kill(name)
                    await asyncio.to_thread(self._engine.await_healthy, name, pid=pid)
                    print(f"  {name} is back after {time.monotonic() - began:.1f} s", flush=True)
                if service == "api":
                    self._find_apis()

    async def stop_and_start(self) -> None:
        """Stop in order, remove the containers, and start others with the volumes: every answer is there."""
        began = time.monotonic()
        for services in STOP_ORDER:
            names = [name for service in services for name in self._engine.containers(service)]
            await asyncio.to_thread(self._engine, "stop", "-t", str(STOP_S), *names)
            for name in names:
                if (code := self._engine.inspect(name)["State"]["ExitCode"]) != 0:
                    self.violations.append(f"{name} ended with {code}: {self._engine.log_tail(name)}")
        print(f"  stopped in {time.monotonic() - began:.0f} s", flush=True)
        await asyncio.to_thread(self._engine.remove_containers)
        await self.start()
        await self.answer_again("after a new start with the volumes")

    async def judge(self, folder: Path, held: dict[Rail, Decimal]) -> None:
        """What was paid was answered, once; and what moved on the chains is what was paid."""
        [ledger], [facilitator] = (self._engine.containers(name) for name in ("ledger", "facilitator"))
        history = read_history(folder, f"redis://{self._engine.address(ledger)}:6379/0", most_executions=8)
        receipts = {answer.payment: answer.receipt for answer in history.answers if answer.receipt}
        settled_at = {entry.payment: entry.at for entry in history.journal if entry.event == "SETTLED"}
        moved = [
            msgspec.structs.replace(one, at=settled_at.get(one.payment, 0.0))
            for one in await self.shop.transfers(f"http://{self._engine.address(facilitator)}:4021", receipts)
        ]
        received = {rail: has - held[rail] for rail, has in (await asyncio.to_thread(self.shop.held)).items()}
        self.violations += wrong_money(self.shop, moved, received, 0)
        self.violations += wrong_payments(self, history, moved)
        print(f"  {len(self.bought)} calls, {len(moved)} moved money, {len(history.answers)} requests", flush=True)

    async def _healthy(self, *services: str) -> None:
        names = [name for service in services for name in self._engine.containers(service)]
        await asyncio.to_thread(self._engine.await_healthy, *names)

    async def _ready(self, *names: str) -> None:
        """An API is healthy before it knows what its facilitators support. A proxy asks for /readyz, too."""
        give_up_at = time.monotonic() + HEALTHY_WITHIN_S
        for name in names:
            while lacks := await asyncio.to_thread(self._lacks, name):
                assert time.monotonic() < give_up_at, f"{name} is not ready: {lacks}"
                await asyncio.sleep(0.3)

    def _lacks(self, name: str) -> list[str]:
        """What an API says does not work."""
        try:
            answer = urllib.request.urlopen(f"http://127.0.0.1:{self._port(name)}/readyz", timeout=10)
        except urllib.error.HTTPError as error:
            answer = error
        except OSError as error:
            return [str(error)]
        with answer:
            return [check for check, works in json.load(answer)["checks"].items() if not works]

    async def _scale(self, counts: dict[str, int]) -> None:
        up = ("up", "-d", "--no-build", "--no-recreate", "--no-deps")
        for service, count in counts.items():  # podman-compose takes the last --scale alone
            await asyncio.to_thread(self._engine.compose, *up, "--scale", f"{service}={count}", service)
        await self._healthy(*counts)

    async def _restart(self, service: str, name: str) -> None:
        began = time.monotonic()
        if service == "api":  # as a proxy does that knows which one is restarted
            self._origins[:] = [f"http://127.0.0.1:{self._port(other)}" for other in self._others(name)]
            self.shop.base_url = self._origins[0]
        await asyncio.to_thread(self._engine, "restart", "-t", str(STOP_S), name)
        await asyncio.to_thread(self._engine.await_healthy, name)
        if service == "api":
            await self._ready(name)
            self._find_apis()
        print(f"  {name} restarted in {time.monotonic() - began:.1f} s", flush=True)

    def _others(self, name: str) -> list[str]:
        return [other for other in self._engine.containers("api") if other != name]

    def _port(self, name: str) -> int:
        return self._engine.port(name, 4020)

    def _causes(self) -> Counter[str]:
        """Why paid calls were not answered, by the logs of the API's containers."""
        logs = "".join(self._engine.log(name) for name in self._engine.containers("api"))
        return Counter(re.findall(r"paid call not answered.*?\"?cause\"?[=:] ?\"?(\w+)", logs))

    def _find_apis(self) -> None:
        self._origins[:] = [f"http://127.0.0.1:{self._port(name)}" for name in self._engine.containers("api")]
        self.shop.base_url = self._origins[0]

    @asynccontextmanager
    async def _load(self, what: str, *, refusals: bool) -> AsyncIterator[None]:
        """Calls of all pools, as long as the block runs.

        Args:
            refusals: whether an uncharged 503 and a lost connection may come before the answer. Else only what is BUSY.
        """
        is_over = asyncio.Event()
        first, began, causes_before = len(self.bought), time.monotonic(), self._causes()
        buying = [asyncio.create_task(self._keep_buying(rail, is_over)) for rail in LOAD]
        try:
            yield
        finally:
            is_over.set()
            await asyncio.gather(*buying)
        bought = self.bought[first:]
        seen = Counter(f"{answer.status} {answer.code}".strip() for one in bought for answer in one.answers)
        print(f"  {what}: {len(bought)} calls in {time.monotonic() - began:.0f} s, answers {dict(seen)}", flush=True)
        causes = self._causes() - causes_before
        if causes:
            print(f"  {what}: repeated for {dict(causes)}", flush=True)
        if not refusals and (lost := {cause: count for cause, count in causes.items() if cause not in BUSY}):
            self.violations.append(f"{what}: calls were repeated for {lost}")
        if not refusals and (seen["0"] or sum(seen.values()) - seen["200"] > sum(causes.values())):
            self.violations.append(f"{what}: {dict(seen)}")

    async def _keep_buying(self, rail: Rail, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError, CoinslotError):  # no price while the API is away, nothing was signed
                await self.buy_one(rail, next(self._names))
                continue
            await asyncio.sleep(0.2)


async def _run(engine: Engine, folder: Path, sandbox: dict[str, Any]) -> list[str]:
    (folder / "key").write_bytes((folder / "secrets" / "coinslot.key").read_bytes())
    origins: list[str] = []
    async with calling(folder, origins) as caller:
        with _timed("up, every call once, every rail once"):
            shop = Shop("http://127.0.0.1", sandbox)
            proof = Proof(shop, caller, engine, origins)
            await proof.start()
            held = await asyncio.to_thread(shop.held)
            await proof.sell_all()
        for what, step in (
            ("--scale worker-fast=3", proof.scale("worker-fast", 3)),
            ("rolling restart", proof.replace_one_by_one()),
            ("kill -9", proof.kill_all()),
            ("stop, and start with the volumes", proof.stop_and_start()),
            ("payments, ledger and chains", proof.judge(folder, held)),
        ):
            with _timed(what):
                await step
        return proof.violations


@contextlib.contextmanager
def _timed(what: str) -> Iterator[None]:
    began = time.monotonic()
    print(what, flush=True)
    yield
    print(f"= {what}: {time.monotonic() - began:.0f} s", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Read the command line, run, remove the containers. Exit code 1: something was wrong."""
    parser = argparse.ArgumentParser(prog="scripts/image --engine", description=__doc__)
    parser.add_argument("program", choices=("podman", "docker"))
    parser.add_argument("logs", type=Path, help="a folder for the containers' output")
    parser.add_argument("compose", nargs="+", help="the command that runs a compose file")
    options = parser.parse_args(argv)
    os.environ["COINSLOT_PUBLISH"] = "127.0.0.1:"  # any free port for each API
    with tempfile.TemporaryDirectory(prefix="coinslot-engine-") as name:
        folder, var = Path(name) / "shop", Path(name) / "var"
        folder.mkdir()
        Path(name).chmod(0o755)
        engine = Engine(folder, options.program, options.compose, options.logs)
        with outside(folder, var) as sandbox:
            try:
                engine.clear()
                found = asyncio.run(_run(engine, folder, sandbox))
            finally:
                engine.clear()
    print(f"violations {len(found)}", *found[:50], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
