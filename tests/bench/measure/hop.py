"""Section 1: a caller in an asyncio process awaits the result of a trivial job."""

import contextlib
import random
import statistics
import time

from tests.bench.callers import CallerProcess, hop_caller
from tests.bench.processes import absent, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import HOPS, System

IN_FLIGHT = 64
START_S = 4.0
"""A starting SAQ worker may sweep a job away that is there already, so no caller is the first to know that a worker lives."""
COLUMNS = {
    "idle_p50_ms": "idle queue p50, ms",
    "idle_p95_ms": "idle queue p95, ms",
    "p50_ms": "sequential p50, ms",
    "per_s": f"{IN_FLIGHT} in flight, jobs/s",
    "cpu_us": "caller's CPU per call, us",
}


def measure(effort: Effort) -> Table:
    """All workers are up at once, each on a database of its own; one caller is active at a time."""
    table = Table("Queue hop: the caller awaits the result of a trivial job (200 bytes)", ("system",), COLUMNS)
    with servers() as here, contextlib.ExitStack() as stack:
        callers: dict[System, CallerProcess] = {}
        for system in HOPS:
            if reason := absent(system):
                table.absent[system.label] = reason
                continue
            callers[system] = stack.enter_context(hop_caller(here.start(system, "worker")))
        time.sleep(START_S)
        for caller in callers.values():
            caller.measure("one")
            caller.measure("flood", in_flight=IN_FLIGHT, seconds=0.3)
        for _ in range(effort.rounds):
            _idle(callers, effort, table)
            for system, caller in callers.items():
                table.add(system.label, p50_ms=caller.measure("sequential", seconds=effort.seconds / 2)["p50_ms"])
            for system, caller in callers.items():
                seen = caller.measure("flood", in_flight=IN_FLIGHT, seconds=effort.seconds)
                table.add(system.label, per_s=seen["per_s"], cpu_us=seen["cpu_us"])
    return table


def _idle(callers: dict[System, CallerProcess], effort: Effort, table: Table) -> None:
    """One call each in turn: while the others are asked, a queue is idle for long enough to be at its sleepiest."""
    took: dict[System, list[float]] = {system: [] for system in callers}
    for _ in range(effort.idle_calls):
        for system, caller in callers.items():
            time.sleep(effort.idle_s / len(callers) * random.uniform(0.7, 1.3))
            took[system].append(caller.measure("one")["ms"])
    for system, values in took.items():
        p95 = statistics.quantiles(values, n=20, method="inclusive")[-1]
        table.add(system.label, idle_p50_ms=statistics.median(values), idle_p95_ms=p95)
