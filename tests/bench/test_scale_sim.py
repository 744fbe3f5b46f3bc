"""The model refuses what has no room, and adds pods as KEDA's rule says."""

from __future__ import annotations

import random

from shared.pools import Pool
from tests.bench.scale_sim import Load, Rule, replay, rule

SLOW = Load(rate=1.0, median_s=10.0, spread=0.0, most_s=10.0, start_s=20.0)


def test_a_burst_brings_pods_and_the_quiet_after_it_takes_them_away() -> None:
    """Of 60 calls at once two pods of the render pool run eight, let eight wait, and refuse the rest."""
    many = [100.0 + number / 1000 for number in range(60)]

    day = replay(Pool.RENDER, SLOW, Rule(2, 5, 3, 2), many, random.Random(1))

    assert (day.calls, day.refused) == (60, 44)
    assert [round(wait) for wait in sorted(day.waits)] == [0] * 8 + [10] * 8
    assert [pods for _, pods in day.pods][:2] == [2, 4]  # eight wait: four pods; the next look finds nobody
    assert [pods for _, pods in day.pods][-1] == 2


def test_the_rules_are_read_from_the_manifests() -> None:
    """Each pool that is scaled by its jobs has one."""
    assert all(1 <= each.least <= each.most for each in map(rule, (Pool.NET, Pool.RENDER, Pool.WHOIS)))
