"""Chaos: callers buy while the facilitator fails and every process is killed at random; then all is put right, every caller
repeats its request until it has its end, and the history is checked. `scripts/chaos --seconds 60 --seed 7`.

A seed fixes the facilitator's faults and what is planned; which of it meets which call is the machine's affair.
"""

import argparse
import asyncio
import itertools
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from coincurve import PrivateKey

from tests.chaos.caller import Caller, Purchase, calling, purchase
from tests.chaos.checker import check
from tests.chaos.history import History, read_history
from tests.chaos.servers import LISTER, NAMES, Service, running_service

BUYERS = 16
REPLAYS = 0.35
SUBSTITUTIONS = 0.2
DUPLICATES = 0.15
SHORT_LIVED = 0.15
"""Shares of all purchases: asked for again when answered, tried with another body, sent several times at once, and paid with
an authorization that lapses in the middle of the run."""
END_WITHIN_S = 40.0
ANSWERED_WITHIN_S = 60.0
"""So long after the last kill every charged call has its answer."""
MOST_EXECUTIONS = 8
"""A handler runs again for every worker that is killed while it runs, and for every repeated request after that."""


@dataclass
class Figures:
    """What happened."""

    seconds: float
    seed: int
    faults: float
    purchases: list[Purchase] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    last_kill: float = 0.0
    violations: list[str] = field(default_factory=list)
    history: History = field(default_factory=History)

    @property
    def answered_s(self) -> float:
        """Seconds from the last kill until every call that was charged had had its answer once."""
        moved = {transfer.payment for transfer in self.history.transfers}
        first: dict[str, float] = {}
        for answer in self.history.answers:
            if answer.status == 200 and answer.payment in moved:
                first[answer.payment] = min(answer.at, first.get(answer.payment, answer.at))
        return max(0.0, max(first.values(), default=0.0) - self.last_kill)

    def __str__(self) -> str:
        """A report of a few lines."""
        history = self.history
        statuses = Counter(f"{a.status} {a.code}".strip() for a in history.answers)
        runs = Counter(Counter(execution.call for execution in history.executions).values())
        lines = [
            f"{self.seconds:g} s, seed {self.seed}, {self.faults:.0%} of the facilitator's calls fail",
            f"payments {len({bought.payment for bought in self.purchases})}, of which {len(history.transfers)} moved money; "
            f"requests {len(history.answers)}",
            f"kills {_listed(self.kills)}",
            f"settle calls {_listed(Counter(call.mode for call in history.settles))}",
            f"of each facilitator {_listed(Counter(call.facilitator for call in history.settles))}",
            f"answers {_listed(statuses)}",
            f"comparisons {sum(answer.seen is not None for answer in history.answers)}",
            f"executions {len(history.executions)}; runs per call {_listed(runs)}",
            f"the last charged call was answered {self.answered_s:.1f} s after the last kill",
            f"ends {_listed(Counter(str(bought.end) for bought in self.purchases))}",
            f"violations {len(self.violations)}",
            *self.violations[:50],
        ]
        return "\n".join(lines)


class Chaos:
    """One run.

    Attributes:
        purchases_of_a_key: after so many a buyer takes another wallet. A wallet's payments are all in one bucket.
    """

    purchases_of_a_key = sys.maxsize

    def __init__(self, service: Service, figures: Figures) -> None:
        self._service = service
        self._figures = figures
        self._plan = random.Random(figures.seed)
        self._until = 0.0

    async def run(self) -> None:
        """All of it."""
        async with calling(self._service.folder, self._service.origins) as caller:
            self._until = time.monotonic() + self._figures.seconds
            killing = asyncio.create_task(self._kill())
            await asyncio.gather(*(self._buy(caller, f"page-{number}") for number in range(BUYERS)))
            await killing
            await asyncio.to_thread(self._service.wait_ready)
            self._service.control(faults=0.0)
            await self._end(caller)
        figures = self._figures
        figures.history = await asyncio.to_thread(self._read)
        figures.violations = await asyncio.to_thread(self._judged, figures.history)
        if figures.answered_s > ANSWERED_WITHIN_S:
            figures.violations.append(f"a charged call was answered {figures.answered_s:.0f} s after the last kill")

    def _read(self) -> History:
        return read_history(self._service.folder, self._service.ledger_url, most_executions=MOST_EXECUTIONS)

    def _judged(self, history: History) -> list[str]:
        return check(history)

    async def _kill(self) -> None:
        restarts: set[asyncio.Task[None]] = set()
        names: list[str] = []
        while time.monotonic() < self._until:
            await asyncio.sleep(self._plan.uniform(0.25, 0.9))
            if not names:
                names = self._plan.sample(self._service.names, len(self._service.names))
            name = names.pop()
            if self._service.is_alive(name):
                self._service.kill(name)
                self._figures.kills[name] += 1
                self._figures.last_kill = time.time()
                restarts.add(asyncio.create_task(self._restart(name, self._plan.uniform(0, 0.8))))
        await asyncio.gather(*restarts)

    async def _restart(self, name: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await asyncio.to_thread(self._service.start, name)

    async def _buy(self, caller: Caller, page: str) -> None:
        """One call after the other, with keys of the buyer's own. Those that watch, watch a page of the buyer's own."""
        for number in itertools.count():
            if time.monotonic() >= self._until:
                return
            if number % self.purchases_of_a_key == 0:
                key, own_page = PrivateKey(), f"{page}-{number}"
            endpoint = self._plan.choices(("echo", "slow", "watch"), (4, 3, 3))[0]
            valid_s = self._plan.randint(8, 20) if self._plan.random() < SHORT_LIVED else 300
            bought = purchase(key, valid_s=valid_s, endpoint=endpoint, subject=own_page)
            self._figures.purchases.append(bought)
            copies = self._plan.randint(2, 4) if self._plan.random() < DUPLICATES else 1
            is_substituted, other = self._plan.random() < SUBSTITUTIONS, bought.substitute()
            async with asyncio.TaskGroup() as tasks:
                if is_substituted:
                    tasks.create_task(self._substitute(caller, other, self._plan.uniform(0, 0.5)))
                for _ in range(copies):
                    tasks.create_task(self._insist(caller, bought))
            if is_substituted:
                self._figures.purchases.append(other)
            if self._plan.random() < REPLAYS:
                await caller.ask(bought)

    async def _substitute(self, caller: Caller, other: Purchase, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await caller.ask(other)

    async def _insist(self, caller: Caller, bought: Purchase) -> None:
        while time.monotonic() < self._until:
            if (await caller.ask(bought)).status in (200, 402):
                return
            await asyncio.sleep(self._plan.uniform(0.05, 0.4))

    async def _end(self, caller: Caller) -> None:
        """Every caller asks once more, until there is an end. What has not lapsed by then is made to."""
        undecided = [bought for bought in self._figures.purchases if bought.end is None]
        ending = [asyncio.create_task(caller.insist(bought, within_s=END_WITHIN_S)) for bought in undecided]
        if ending:
            await asyncio.wait(ending, timeout=END_WITHIN_S / 4)
            self._service.control(ahead_s=600)
            await asyncio.wait(ending)
        for bought in self._figures.purchases:
            await caller.insist(bought, within_s=END_WITHIN_S / 4)


def run(seconds: float, seed: int, names: tuple[str, ...] = NAMES) -> Figures:
    """Make one run, with new servers of these names."""
    figures = Figures(seconds, seed, random.Random(f"faults {seed}").uniform(0.5, 0.9))
    # With every other seed, observations are on a Redis of their own.
    with running_service(seed=str(seed), faults=figures.faults, is_observing_apart=seed % 2 == 1, names=names) as made:
        asyncio.run(Chaos(made, figures).run())
    return figures


def _listed(counts: Counter[str] | Counter[int]) -> str:
    return (
        ", ".join(f"{name}: {count}" for name, count in sorted(counts.items(), key=lambda item: str(item[0]))) or "none"
    )


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    parser.add_argument("--listing", action="store_true", help="with a listing facilitator, which fails and dies, too")
    options = parser.parse_args()
    names = (*NAMES, LISTER) if options.listing else NAMES
    figures = run(options.seconds, random.randrange(10**6) if options.seed is None else options.seed, names)
    print(figures)
    sys.exit(1 if figures.violations else 0)


if __name__ == "__main__":
    main()
