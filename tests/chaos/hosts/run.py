"""Chaos on several hosts: callers buy while hosts are cut off, the ledger's primary is split from its replicas, and processes
are killed; then all is put right, every caller repeats its request, and the history is checked.
`scripts/chaos --hosts --seconds 60 --seed 7`, as root. With `--replicas 0` nothing waits for a replica, and this finds it.
"""

import argparse
import asyncio
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from shared.ledger.keys import bucket_of, server_of
from tests.chaos.caller import Caller
from tests.chaos.history import History, read_history
from tests.chaos.hosts import network
from tests.chaos.hosts.invariants import check_hosts
from tests.chaos.hosts.ledgers import Ledger
from tests.chaos.hosts.servers import ROUTED, HostService, running_host_service
from tests.chaos.run import MOST_EXECUTIONS, Chaos, Figures
from tests.chaos.servers import SETTLE_TIMEOUT_S

OTHERS = (*ROUTED, "facilitator", "queue")
"""Hosts of which one at a time is cut off, or its process killed, whatever happens to the ledger."""
CUT_S = (0.5, 3.0)
LEDGER_FAULTS = ("split", "cut", "kill", "hang")
LEDGER_FAULT_S = 6.0
"""Long enough for a failover, and for the old primary to take writes meanwhile if it could."""
MARGIN_S = 0.5


def ledger_faults(plan: random.Random) -> Iterator[str]:
    """Each kind once, in an order of the plan's, then all again."""
    while True:
        yield from plan.sample(LEDGER_FAULTS, len(LEDGER_FAULTS))


class HostChaos(Chaos):
    """One run on several hosts."""

    def __init__(self, service: HostService, figures: Figures) -> None:
        super().__init__(service, figures)
        self._hosts = service
        self._failovers = 0

    async def _kill(self) -> None:
        await asyncio.gather(self._disturb_others(), *(self._disturb(ledger) for ledger in self._hosts.ledgers))

    async def _disturb(self, ledger: Ledger) -> None:
        """One fault of the primary after the other, each when the ledger is whole again: it is made to survive one."""
        plan = random.Random(f"ledger {self._figures.seed}" + " and another" * ledger.number)
        for fault in ledger_faults(plan):
            await asyncio.sleep(plan.uniform(1.0, 2.0))
            host = await asyncio.to_thread(ledger.primary)
            if time.monotonic() > self._until or host is None:
                return
            self._note(f"ledger {fault}")
            others = [other for other in ledger.hosts if other != host]
            match fault:
                case "split":
                    await asyncio.to_thread(network.split, host, others)
                    await asyncio.sleep(LEDGER_FAULT_S)
                    await asyncio.to_thread(network.unite, host, others)
                case "cut":
                    await asyncio.to_thread(network.cut, host)
                    await asyncio.sleep(LEDGER_FAULT_S)
                    await asyncio.to_thread(network.join, host)
                case "kill":
                    self._hosts.kill(host)
                    await asyncio.sleep(LEDGER_FAULT_S)
                    await asyncio.to_thread(self._hosts.start, host)
                case "hang":
                    self._hosts.signal(host, signal.SIGSTOP)
                    await asyncio.sleep(LEDGER_FAULT_S)
                    self._hosts.signal(host, signal.SIGCONT)
            await asyncio.to_thread(self._hosts.wait_whole, ledger)
            self._failovers += await asyncio.to_thread(ledger.primary) != host

    async def _disturb_others(self) -> None:
        plan = random.Random(f"others {self._figures.seed}")
        names: list[str] = []
        while time.monotonic() < self._until:
            await asyncio.sleep(plan.uniform(1.0, 3.0))
            names = names or plan.sample(OTHERS, len(OTHERS))
            host, is_cut, lasting_s = names.pop(), plan.random() < 0.5, plan.uniform(*CUT_S)
            self._note(f"{host} {'cut' if is_cut else 'kill'}")
            if is_cut:
                await asyncio.to_thread(network.cut, host)
                await asyncio.sleep(lasting_s)
                await asyncio.to_thread(network.join, host)
            else:
                self._hosts.kill(host)
                await asyncio.sleep(lasting_s / 3)
                await asyncio.to_thread(self._hosts.start, host)

    async def _end(self, caller: Caller) -> None:
        # A job that failed four times, because its worker could not read the ledger, is run again ten minutes later.
        for ledger in self._hosts.ledgers:
            await asyncio.to_thread(ledger.let_jobs_run_again)
        await super()._end(caller)

    def _note(self, fault: str) -> None:
        self._figures.kills[fault] += 1
        self._figures.last_kill = time.time()

    def _read(self) -> History:
        self._figures.kills["failovers"] = self._failovers
        urls = [ledger.primary_url() for ledger in self._hosts.ledgers]
        return read_history(self._hosts.folder, *urls, most_executions=MOST_EXECUTIONS)

    def _judged(self, history: History) -> list[str]:
        self._hosts.wait_whole()
        digests = [ledger.digests() for ledger in self._hosts.ledgers]
        found = check_hosts(history, digests, settle_timeout_s=SETTLE_TIMEOUT_S + MARGIN_S)
        paid = Counter(server_of(bucket_of(payment), len(digests)) for payment in history.records)
        return found + [f"primary {place + 1} had no payment" for place in range(len(digests)) if not paid[place]]


def run(seconds: float, seed: int, replicas: int, primaries: int, keep: Path | None = None) -> Figures:
    """One run, on hosts of its own.

    Args:
        keep: where its files and logs are copied to when something was wrong.
    """
    figures = Figures(seconds, seed, random.Random(f"faults {seed}").uniform(0.1, 0.5))
    with running_host_service(seed=str(seed), faults=figures.faults, replicas=replicas, primaries=primaries) as made:
        asyncio.run(HostChaos(made, figures).run())
        if figures.violations and keep is not None:
            shutil.copytree(made.folder, keep, dirs_exist_ok=True)
    return figures


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    parser.add_argument("--replicas", type=int, default=1, help="COINSLOT_LEDGER_REPLICAS")
    parser.add_argument("--primaries", type=int, choices=(1, 2), default=1, help="that COINSLOT_LEDGER_URL names")
    parser.add_argument("--keep", type=Path, help="folder for files and logs of a run with violations")
    options = parser.parse_args()
    # The first process of a namespace gets no signal that it has no handler for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = random.randrange(10**6) if options.seed is None else options.seed
    figures = run(options.seconds, seed, options.replicas, options.primaries, options.keep)
    print(figures)
    sys.exit(1 if figures.violations else 0)


if __name__ == "__main__":
    main()
