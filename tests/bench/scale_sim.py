"""What KEDA's rule of compose/kubernetes would do with a day of bursty calls: `scripts/scale-sim`.

A model, not a measurement: one queue for each pool, first come first served, by as many jobs at once as its pods have
threads. Threads, rooms and rules are those of the project's files. Rates, service times and how long a pod needs to start are
assumptions.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from compose.sandbox.child import ROOT
from shared.pools import POOLS, Pool
from tests.bench.scale_picture import picture

KUBERNETES = ROOT / "compose" / "kubernetes" / "base"
DAY_S = 86_400
SYNC_S = 15
"""How often a HorizontalPodAutoscaler, which KEDA makes, decides."""
TOLERANCE = 0.1
"""A metric within a tenth of its target changes nothing (Kubernetes' default)."""
DOWN_WINDOW_S, DOWN_PERIOD_S, DOWN_SHARE = 300, 60, 0.2
BURSTS = 12


@dataclass(frozen=True, slots=True)
class Load:
    """What is assumed of a pool.

    Attributes:
        rate: calls a second, the day's mean without bursts.
        median_s: of a job's time, which is lognormal.
        spread: standard deviation of its logarithm.
        most_s: where jobs are given up.
        start_s: from the decision for a pod to its first job, its image on the node.
    """

    rate: float
    median_s: float
    spread: float
    most_s: float
    start_s: float


LOADS = {
    Pool.NET: Load(6.0, 0.35, 1.0, 15.0, 12.0),
    Pool.CHAIN: Load(2.0, 0.12, 0.8, 10.0, 10.0),
    Pool.RENDER: Load(0.4, 1.8, 0.7, 25.0, 20.0),
    Pool.WHOIS: Load(0.4, 0.5, 0.8, 15.0, 12.0),
    Pool.YOUTUBE: Load(0.6, 1.2, 0.7, 20.0, 15.0),
}
"""micro and fast are left out: their jobs take so little that two pods serve more than one API sends."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A ScaledObject: pods, and jobs per pod that run and that wait."""

    least: int
    most: int
    pending: int
    lag: int


@dataclass(slots=True)
class Day:
    """What happened."""

    calls: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)
    pods: list[tuple[float, int]] = field(default_factory=list)
    """When the number of wanted pods changed, and to what."""

    def pod_hours(self) -> float:
        """Of the whole day."""
        ends = [at for at, _ in self.pods[1:]] + [float(DAY_S)]
        return sum((end - at) * pods for (at, pods), end in zip(self.pods, ends, strict=True)) / 3600

    def wait(self, share: float) -> float:
        """A quantile of the waits, in seconds."""
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rule(pool: Pool) -> Rule:
    """What the pool's kustomization says."""
    (patch,) = (
        each["patch"]
        for each in yaml.safe_load((KUBERNETES / "pools" / pool / "kustomization.yaml").read_text())["patches"]
        if each["target"]["kind"] == "ScaledObject"
    )
    values = {each["path"].rpartition("/")[2]: each["value"] for each in yaml.safe_load(patch)}
    return Rule(
        values["minReplicaCount"],
        values["maxReplicaCount"],
        int(values["pendingEntriesCount"]),
        int(values["lagCount"]),
    )


def arrivals(load: Load, chance: random.Random) -> list[float]:
    """A day's calls: a quiet night, and bursts of five to twenty times the rate for two to ten minutes."""
    times = _poisson(chance, 1.7 * load.rate, 0.0, DAY_S)
    times = [at for at in times if chance.random() * 1.7 < 1 - 0.7 * math.cos(2 * math.pi * at / DAY_S)]
    for _ in range(BURSTS):
        start, long, factor = chance.uniform(0, DAY_S - 600), chance.uniform(120, 600), chance.uniform(5, 20)
        times += _poisson(chance, factor * load.rate, start, start + long)
    return sorted(times)


def _poisson(chance: random.Random, rate: float, start: float, end: float) -> list[float]:
    times = []
    while (start := start + chance.expovariate(rate)) < end:
        times.append(start)
    return times


def replay(pool: Pool, load: Load, rule: Rule, times: list[float], chance: random.Random) -> Day:
    """One pool's day. A call is refused while the pool holds as many as its pods have room for."""
    threads, room = POOLS[pool].threads, POOLS[pool].room
    day = Day(pods=[(0.0, rule.least)])
    wanted = ready = rule.least
    starting: deque[tuple[float, int]] = deque()
    waiting: deque[float] = deque()
    running: list[float] = []
    wishes: deque[tuple[float, int]] = deque()
    shrunk_at, sync_at = -math.inf, 0.0

    def begin(now: float) -> None:
        while waiting and len(running) < ready * threads:
            day.waits.append(now - waiting.popleft())
            heapq.heappush(running, now + min(load.most_s, load.median_s * math.exp(chance.gauss(0, load.spread))))

    def advance(until: float) -> None:
        nonlocal ready, wanted, sync_at, shrunk_at
        while True:
            now = min(running[0] if running else math.inf, starting[0][0] if starting else math.inf, sync_at)
            if now > until:
                return
            if starting and now == starting[0][0]:
                ready += starting.popleft()[1]
            elif running and now == running[0]:
                heapq.heappop(running)
            else:
                sync_at += SYNC_S
                wish = _wish(rule, wanted, len(running), len(waiting))
                wishes.append((now, wish))
                while wishes[0][0] <= now - DOWN_WINDOW_S:
                    wishes.popleft()
                if wish > wanted:
                    more = min(wish, max(2 * wanted, wanted + 4), rule.most) - wanted
                    starting.append((now + load.start_s, more))
                    wanted += more
                    day.pods.append((now, wanted))
                elif (kept := max(each for _, each in wishes)) < wanted and now - shrunk_at >= DOWN_PERIOD_S:
                    fewer = max(kept, int(wanted * (1 - DOWN_SHARE)), rule.least)
                    ready -= wanted - fewer  # what runs there is finished
                    wanted, shrunk_at = fewer, now
                    day.pods.append((now, wanted))
            begin(now)

    for at in times:
        advance(at)
        day.calls += 1
        if len(waiting) + len(running) >= room * ready:
            day.refused += 1
        else:
            waiting.append(at)
            begin(at)
    advance(DAY_S)
    return day


def _wish(rule: Rule, pods: int, running: int, waiting: int) -> int:
    """The larger of what both triggers want, within the bounds."""
    wishes = []
    for count, target in ((running, rule.pending), (waiting, rule.lag)):
        close = abs(count / (target * pods) - 1) <= TOLERANCE
        wishes.append(pods if close else math.ceil(count / target))
    return max(rule.least, min(rule.most, max(wishes)))


def main() -> None:
    """Replay, print, and draw when asked to."""
    parser = argparse.ArgumentParser(description="What KEDA's rule would do with a day of bursty calls.")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--load", type=float, default=1.0, help="times the rates")
    parser.add_argument("--write-docs", action="store_true")
    asked = parser.parse_args()
    print("| pool | pods by | calls | refused | wait p50, s | wait p99, s | pods, most | pod hours |\n|" + "---|" * 8)
    drawn = []
    for pool, load in LOADS.items():
        scaled = rule(pool)
        each = Load(load.rate * asked.load, load.median_s, load.spread, load.most_s, load.start_s)
        times = arrivals(each, random.Random(f"{asked.seed} {pool}"))
        keda = replay(pool, each, scaled, times, random.Random(asked.seed))
        fixed = Rule(scaled.least, scaled.least, scaled.pending, scaled.lag)
        for name, day in (("KEDA", keda), ("none", replay(pool, each, fixed, times, random.Random(asked.seed)))):
            share = f"{100 * day.refused / day.calls:.2f} %"
            figures = (
                f"{day.wait(0.5):.2f} | {day.wait(0.99):.2f} | {max(p for _, p in day.pods)} | {day.pod_hours():.0f}"
            )
            print(f"| `{pool}` | {name} | {day.calls:,} | {share} | {figures} |")
        drawn.append((str(pool), times, keda.pods))
    if asked.write_docs:
        Path(ROOT / "docs" / "pictures" / "scaling.svg").write_text(picture(drawn, DAY_S))


if __name__ == "__main__":
    main()
