"""Chaos with the ledger on a Valkey Cluster: callers buy while its servers are killed, stopped, cut off and split, and while
slots move. All other processes are killed and cut off, too. After each fault of the ledger every answer that was given is
looked for in it. At the end all is put right, every caller repeats its request, and the history is checked.
`scripts/chaos --cluster --seconds 300 --seed 7`, as root. With `--no-fence` nothing waits for a replica: then payments must be
lost, and the run fails when none is.
"""

import argparse
import asyncio
import contextlib
import os
import random
import shutil
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shared.ledger.keys import bucket_of
from tests.chaos.caller import Caller
from tests.chaos.cluster import network
from tests.chaos.cluster.faults import SHARD_AWAY, LedgerFaults
from tests.chaos.cluster.gaps import Disturbance, longest_gaps
from tests.chaos.cluster.invariants import check_cluster, lost
from tests.chaos.cluster.server import bucket_slots
from tests.chaos.cluster.servers import ClusterService, running_cluster
from tests.chaos.history import History, read_history
from tests.chaos.run import MOST_EXECUTIONS, Chaos, Figures
from tests.chaos.servers import SETTLE_TIMEOUT_S

OTHERS = network.SERVICES
"""Hosts of which one at a time is cut off, or its process killed, whatever happens to the ledger."""
OTHERS_EVERY_S = (2.0, 6.0)
CUT_S = (0.5, 3.0)
MARGIN_S = 0.5


@dataclass
class ClusterFigures(Figures):
    """What happened.

    Attributes:
        acknowledged: answers with 200 that were looked for in the ledger after a fault.
        lost: those that it did not have, in words.
        unready: when an API was not ready and should have been.
    """

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    unready: list[str] = field(default_factory=list)
    disturbances: list[Disturbance] = field(default_factory=list)

    def __str__(self) -> str:
        """A report."""
        return "\n".join(
            [
                super().__str__(),
                f"acknowledged {self.acknowledged}, of which the ledger had lost {len(self.lost)} after a fault",
                *self.lost[:10],
                "longest time without an answer of 200, seconds: payers of what was hit; all others",
                *longest_gaps(self.disturbances, self.history.answers),
                f"load {os.getloadavg()[0]:.1f}",
            ]
        )


class ClusterChaos(Chaos):
    """One run."""

    purchases_of_a_key = 5

    def __init__(self, service: ClusterService, figures: ClusterFigures, kinds: Sequence[str]) -> None:
        super().__init__(service, figures)
        self._cluster = service
        self._seen = figures
        self._kinds = kinds
        self._looked_for: set[str] = set()
        self._calm = asyncio.Lock()

    async def _kill(self) -> None:
        await asyncio.gather(self._disturb_others(), self._disturb_ledger())

    async def _disturb_ledger(self) -> None:
        plan = random.Random(f"ledger {self._figures.seed}")
        faults = LedgerFaults(self._cluster, plan)
        ledger = self._cluster.ledger
        for kind in faults.in_turn(self._kinds):
            await asyncio.sleep(plan.uniform(1.0, 2.0))
            if time.monotonic() > self._until:
                return
            self._note(kind)
            before = await asyncio.to_thread(ledger.primaries)
            began, slots = time.time(), {s: frozenset(await asyncio.to_thread(ledger.slots_of, s)) for s in before}
            if kind == SHARD_AWAY and self._figures.kills[kind] % 2:  # each other time all that fails goes on failing
                async with self._calm, self._watched_readiness():
                    await faults.kinds[kind]()
            else:
                await faults.kinds[kind]()
            await asyncio.to_thread(ledger.wait_whole)
            after = await asyncio.to_thread(ledger.primaries)
            self._figures.kills["failovers"] += sum(one != other for one, other in zip(before, after, strict=True))
            hit = frozenset().union(*(slots[server] for server in before if server in faults.hit))
            self._seen.disturbances.append(Disturbance(kind, began, time.time(), hit))
            await self._look_for_answers()
            await faults.heal()

    @contextlib.asynccontextmanager
    async def _watched_readiness(self) -> AsyncIterator[None]:
        """While a shard is away the others sell, so a load balancer must not take the APIs away. Nothing else is disturbed: an
        API whose only facilitator fails several times in a row is rightly not ready for seconds."""
        control = self._cluster.control
        await asyncio.to_thread(self._cluster.wait_selling)
        await asyncio.to_thread(control, faults=0.0)
        await asyncio.sleep(SETTLE_TIMEOUT_S + MARGIN_S)  # what fails of the calls from before has failed then
        await asyncio.to_thread(self._cluster.wait_selling)
        watching = asyncio.create_task(self._watch_readiness())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            await asyncio.to_thread(control, faults=self._figures.faults)

    async def _watch_readiness(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            for origin in self._cluster.origins:
                status, body = await asyncio.to_thread(_got, origin + "/readyz")
                self._figures.kills[f"/readyz while a shard was away: {status}"] += 1
                if status != 200:
                    self._seen.unready.append(
                        f"(17) {origin} is not ready while a shard is away: {status} {body[:300]}"
                    )

    async def _look_for_answers(self) -> None:
        """Every answer that was given is in the ledger, before its caller asks again and makes it anew."""
        answered = {
            answer.payment
            for bought in self._figures.purchases
            for answer in bought.answers
            if answer.status == 200 and answer.payment not in self._looked_for
        }
        self._looked_for |= answered
        states = await asyncio.to_thread(self._cluster.ledger.states, sorted(answered))
        self._seen.acknowledged += len(states)
        self._seen.lost += lost(states, self._seen.disturbances[-1].kind)

    async def _disturb_others(self) -> None:
        plan = random.Random(f"others {self._figures.seed}")
        names: list[str] = []
        while time.monotonic() < self._until:
            await asyncio.sleep(plan.uniform(*OTHERS_EVERY_S))
            names = names or plan.sample(OTHERS, len(OTHERS))
            host, is_cut, lasting_s = names.pop(), plan.random() < 0.5, plan.uniform(*CUT_S)
            async with self._calm:
                self._note(f"{host} {'cut' if is_cut else 'kill'}")
                await self._disturb_other(host, is_cut, lasting_s)

    async def _disturb_other(self, host: str, is_cut: bool, lasting_s: float) -> None:
        if is_cut:
            with network.cut(host):
                await asyncio.sleep(lasting_s)
        else:
            self._cluster.kill(host)
            await asyncio.sleep(lasting_s / 3)
            await asyncio.to_thread(self._cluster.start, host)

    async def _end(self, caller: Caller) -> None:
        # A job that failed four times, because its worker could not read the ledger, is run again ten minutes later.
        await asyncio.to_thread(self._cluster.ledger.let_jobs_run_again)
        await super()._end(caller)

    def _note(self, fault: str) -> None:
        self._figures.kills[fault] += 1
        self._figures.last_kill = time.time()

    def _read(self) -> History:
        ledger = self._cluster.ledger
        return read_history(self._cluster.folder, ledger.any_url, most_executions=MOST_EXECUTIONS)

    def _judged(self, history: History) -> list[str]:
        ledger = self._cluster.ledger
        ledger.wait_whole()
        digests = [ledger.digests(shard) for shard in ledger.shards]
        found = (
            self._seen.lost
            + self._seen.unready
            + check_cluster(history, digests, settle_timeout_s=SETTLE_TIMEOUT_S + MARGIN_S)
        )
        slots = bucket_slots()
        paid = {slots[bucket_of(payment)] for payment in history.records}
        return found + [
            f"{server.name} had no payment" for server in ledger.primaries() if not paid & {*ledger.slots_of(server)}
        ]


def _got(url: str) -> tuple[int, str]:
    """Status and body; 0 without an answer."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)


def run(options: argparse.Namespace, seed: int) -> ClusterFigures:
    """One run, on hosts of its own."""
    figures = ClusterFigures(options.seconds, seed, random.Random(f"faults {seed}").uniform(0.1, 0.5))
    replicas = 0 if options.no_fence else options.replicas
    with running_cluster(seed=str(seed), faults=figures.faults, replicas=replicas, hosts=options.ledger_hosts) as made:
        has_ended = False
        try:
            asyncio.run(ClusterChaos(made, figures, options.only).run())
            has_ended = True
        finally:
            if options.keep is not None and (figures.violations or not has_ended):
                shutil.copytree(made.folder, options.keep, dirs_exist_ok=True)
    return figures


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether the run showed what it has to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    parser.add_argument("--no-fence", action="store_true", help="COINSLOT_LEDGER_REPLICAS=0; it must lose payments")
    parser.add_argument(
        "--grow", action="store_true", help="instead: a plain server becomes a cluster while callers buy"
    )
    parser.add_argument("--replicas", type=int, default=1, help="COINSLOT_LEDGER_REPLICAS")
    parser.add_argument("--ledger-hosts", type=int, choices=(3, 9), default=9, help="for its nine servers")
    parser.add_argument(
        "--only", nargs="*", default=(), help="these faults of the ledger alone, by their names in the report"
    )
    parser.add_argument(
        "--keep", type=Path, help="folder for files and logs of a run with violations, or that broke off"
    )
    options = parser.parse_args()
    # The first process of a namespace gets no signal that it has no handler for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.grow:
        # It has this module's figures.
        from tests.chaos.cluster.growth import grow

        print(figures := grow())
        sys.exit(1 if figures.violations else 0)
    figures = run(options, random.randrange(10**6) if options.seed is None else options.seed)
    print(figures)
    if options.no_fence:
        # A text begins with the number of its invariant and the payment.
        lost_payments = {text.split()[1] for text in figures.violations if text.startswith(("(13)", "(16)"))}
        print(f"without the fence {len(lost_payments)} acknowledged payments were lost")
        sys.exit(0 if lost_payments else "nothing was lost without the fence: this run proves nothing")
    sys.exit(1 if figures.violations else 0)


if __name__ == "__main__":
    main()
