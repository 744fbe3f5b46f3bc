"""A plain server of the ledger becomes a cluster of three shards while callers buy: `scripts/chaos --cluster --grow`, as root.

The steps are those of docs/scaling.md. No call may fail but with 503, and each is answered with the same payment. At the end
every answer is fetched again, and none has changed.
"""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from coincurve import PrivateKey

from compose.sandbox.child import ROOT
from tests.chaos.caller import Caller, calling, purchase
from tests.chaos.cluster import network
from tests.chaos.cluster.gaps import Disturbance
from tests.chaos.cluster.invariants import check_cluster
from tests.chaos.cluster.ledger import Ledger
from tests.chaos.cluster.run import MARGIN_S, ClusterFigures
from tests.chaos.cluster.server import bucket_slots
from tests.chaos.cluster.servers import ClusterService
from tests.chaos.history import read_history
from tests.chaos.run import MOST_EXECUTIONS
from tests.chaos.servers import SETTLE_TIMEOUT_S

BUYERS = 16
ANSWERED_WITHIN_S = 60.0
BETWEEN_S = 4.0
"""Of buying before the first step, and after each."""
PAUSE_S = 0.2
STOPPED_WITHIN_S = 30.0


class GrowingService(ClusterService):
    """All processes of one run. At the start the ledger is the first of its servers alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, seed="growth", faults=0.0, replicas=0, hosts=3)
        self._shop = "patient"
        self.grown = self.ledger.servers
        self.ledger = Ledger(self.grown[:1])
        self._seeds = self.ledger.url

    def start_first(self) -> None:
        """The plain server."""
        (first,) = self.ledger.servers
        self.spawn_on(first.host, first.name, first.plain_command(self.folder / first.name))

    def start_all(self) -> None:
        """Return when a paid call would be taken."""
        self.start_forks()
        self.start_first()
        for name in self.names:
            self.start(name)
        self.wait_selling()

    def stop_in_order(self, name: str) -> None:
        """SIGTERM, and wait for the end."""
        self.signal(name, signal.SIGTERM)
        give_up_at = time.monotonic() + STOPPED_WITHIN_S
        while self.is_alive(name):
            assert time.monotonic() < give_up_at, f"{name} does not stop"
            time.sleep(0.05)

    def know_cluster(self) -> None:
        """What is started from now on waits for a replica, and has seeds of every shard."""
        self._seeds = self.ledger.url
        self._more = {**self._more, "LEDGER_REPLICAS": "1"}

    def spread(self) -> None:
        """Give each shard its part of the buckets, as an operator does."""
        settings = {f"COINSLOT_{key}": value for key, value in self._settings("api-1").items()}
        subprocess.run(
            [Path(sys.executable).with_name("coinslot-ops"), "ledger", "spread"],
            env={**os.environ, **settings},
            check=True,
            cwd=ROOT,
        )


class Growth:
    """One run."""

    def __init__(self, service: GrowingService, figures: ClusterFigures) -> None:
        self._service = service
        self._figures = figures
        self._is_selling = True

    async def run(self) -> None:
        """All of it."""
        service = self._service
        async with calling(service.folder, service.origins) as caller:
            buying = [asyncio.create_task(self._buy(caller)) for _ in range(BUYERS)]
            await asyncio.sleep(BETWEEN_S)
            for name, step in self._steps(caller).items():
                began = self._figures.last_kill = time.time()
                await step()
                self._figures.disturbances.append(Disturbance(name, began, time.time(), frozenset(bucket_slots())))
                await asyncio.sleep(BETWEEN_S)
            self._is_selling = False
            await asyncio.gather(*buying)
            for bought in self._figures.purchases:
                await caller.ask(bought)
        self._judge()

    def _steps(self, caller: Caller) -> dict[str, Callable[[], Any]]:
        return {
            "1. restart as a cluster of one": lambda: asyncio.to_thread(self._become_cluster),
            "2. eight empty servers join": lambda: asyncio.to_thread(self._join),
            "3. APIs and workers wait for a replica": lambda: self._restart_others(caller),
            "4. coinslot-ops ledger spread": lambda: asyncio.to_thread(self._move),
        }

    def _become_cluster(self) -> None:
        service = self._service
        (first,) = service.ledger.servers
        service.stop_in_order(first.name)
        service.start_server(first)
        service.ledger.wait_answering(first)
        first.says("CLUSTER", "BUMPEPOCH")  # docs/scaling.md says why
        first.says("CONFIG", "SET", "min-replicas-to-write", 0)  # docs/scaling.md has it in the file from step 3 on
        service.wait_selling()

    def _join(self) -> None:
        service = self._service
        for server in service.grown[1:]:
            service.start_server(server)
        service.ledger.join(service.grown[1:])
        service.grown[0].says("CONFIG", "SET", "min-replicas-to-write", 1)

    async def _restart_others(self, caller: Caller) -> None:
        """One after the other; callers are led to the other API meanwhile, as a load balancer does."""
        service = self._service
        service.know_cluster()
        for name in ("worker-1", "worker-2"):
            await asyncio.to_thread(self._restart, name)
        for name, other in (("api-1", "api-2"), ("api-2", "api-1")):
            caller.lead_to([service.url(other)])
            await asyncio.to_thread(self._restart, name)
            caller.lead_to(service.origins)

    def _restart(self, name: str) -> None:
        self._service.stop_in_order(name)
        self._service.start(name)
        self._service.wait_selling()

    def _move(self) -> None:
        self._service.spread()
        self._service.ledger.wait_whole()

    async def _buy(self, caller: Caller) -> None:
        while self._is_selling:
            bought = purchase(PrivateKey(), endpoint=random.choice(("echo", "slow")), subject="growth")
            self._figures.purchases.append(bought)
            await caller.insist(bought, within_s=ANSWERED_WITHIN_S, pause_s=PAUSE_S)

    def _judge(self) -> None:
        service, figures = self._service, self._figures
        ledger = service.ledger
        figures.history = history = read_history(service.folder, ledger.any_url, most_executions=MOST_EXECUTIONS)
        digests = [ledger.digests(shard) for shard in ledger.shards]
        found = check_cluster(history, digests, settle_timeout_s=SETTLE_TIMEOUT_S + MARGIN_S)
        for answer in history.answers:
            if answer.status not in (200, 503):
                found.append(f"{answer.payment} got {answer.status} {answer.code}")
        states = ledger.states([bought.payment for bought in figures.purchases])
        found += [f"{payment} is {state or 'nothing'}" for payment, state in states.items() if state != "DONE"]
        shares = [len(ledger.buckets_of(server)) for server in ledger.primaries()]
        told = {f"buckets of shard {number}": share for number, share in enumerate(shares, 1)}
        for each in figures.disturbances:
            during = Counter(answer.status for answer in history.answers if each.began <= answer.at <= each.ended)
            told |= {f"answers in step {each.kind}, {status or 'lost'}": count for status, count in during.items()}
        figures.kills = Counter(told)
        figures.acknowledged, figures.violations = len(states), found
        if len(shares) != 3 or min(shares) < 20:
            found.append(f"the shards have {shares} buckets")


@contextlib.contextmanager
def running_growth() -> Iterator[GrowingService]:
    """The running servers. At the end all of them are stopped, and their files are removed."""
    network.make_hosts()
    with tempfile.TemporaryDirectory(prefix="coinslot-growth-") as folder:
        made = GrowingService(Path(folder))
        try:
            made.start_all()
            yield made
        finally:
            made.stop()


def grow() -> ClusterFigures:
    """One run, on hosts of its own."""
    figures = ClusterFigures(0.0, 0, 0.0)
    began = time.monotonic()
    with running_growth() as made:
        asyncio.run(Growth(made, figures).run())
    figures.seconds = round(time.monotonic() - began)
    return figures
