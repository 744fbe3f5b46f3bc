"""The bars that the project has set itself, judged by the medians of one run."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.measure import gas
from tests.bench.measure.isolation import HEAVY, SPREAD, TOGETHER
from tests.bench.measure.recovery import JOBS, ROW
from tests.bench.results import Table, number
from tests.bench.systems import (
    CELERY,
    FASTAPI,
    FASTAPI_STOCK,
    INLINE,
    ONE_BY_ONE,
    OUR_FACILITATOR,
    PAID,
    SAQ,
    SDK,
    SDK_FACILITATOR,
    STOCK,
    THREADS,
    UNPAID,
    System,
)

Tables = dict[str, Table]
Value = Callable[[Tables], float | None]
"""From the tables of a run; None when something that it needs was not measured."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One promise.

    Attributes:
        measured: what a run shows.
        commit: what must be reached.
        stretch: what would be better still.
        at_most: a smaller value is better.
    """

    name: str
    measured: Value
    commit: float
    unit: str
    stretch: tuple[float, ...] = ()
    at_most: bool = False

    def reaches(self, value: float, goal: float) -> bool:
        """Whether a value is as good as a goal."""
        return operator.le(value, goal) if self.at_most else operator.ge(value, goal)


def _cell(table: str, *row: str, column: str) -> Value:
    return lambda tables: tables[table].median(*row, column=column) if table in tables else None


def _ratio(above: Value, below: Value) -> Value:
    def ratio(tables: Tables) -> float | None:
        one, other = above(tables), below(tables)
        return one / other if one is not None and other else None

    return ratio


def _least(*values: Value) -> Value:
    """The least of those that were measured."""

    def least(tables: Tables) -> float | None:
        return min((seen for value in values if (seen := value(tables)) is not None), default=None)

    return least


def _hop(system: System, column: str) -> Value:
    return _cell("hop", system.label, column=column)


def _http(table: str, system: System, in_flight: int = 64) -> Value:
    return _cell(table, str(in_flight), system.label, column="per_s")


def _settled(system: System, column: str, in_flight: int = 64) -> Value:
    return _cell("settle", str(in_flight), system.label, column=column)


def _isolation(row: str) -> Value:
    return _cell("isolation", row, column="ratio")


_OUR_IDLE = _least(_hop(THREADS, "idle_p50_ms"), _hop(INLINE, "idle_p50_ms"))
_OUR_P50 = _least(_hop(THREADS, "p50_ms"), _hop(INLINE, "p50_ms"))
_BEST_RIVAL = _least(_hop(SAQ, "p50_ms"), _hop(CELERY, "p50_ms"), _hop(STOCK, "p50_ms"))

BARS = (
    Bar("idle hop p50 below stock Dramatiq", _ratio(_hop(STOCK, "idle_p50_ms"), _OUR_IDLE), 200, "x", (400,)),
    Bar("idle hop p50", _OUR_IDLE, 1.5, "ms", at_most=True),
    Bar("sequential hop p50 below stock Dramatiq", _ratio(_hop(STOCK, "p50_ms"), _OUR_P50), 20, "x", (30,)),
    Bar("sequential hop p50 below the best rival", _ratio(_BEST_RIVAL, _OUR_P50), 4, "x", (7,)),
    Bar(
        "jobs/s above stock Dramatiq, worker threads",
        _ratio(_hop(THREADS, "per_s"), _hop(STOCK, "per_s")),
        *(6, "x", (8,)),
    ),
    Bar(
        "jobs/s above stock Dramatiq, consumer thread",
        _ratio(_hop(INLINE, "per_s"), _hop(STOCK, "per_s")),
        *(12, "x", (16,)),
    ),
    Bar(
        "HTTP through the queue above FastAPI inline, 64 in flight",
        _ratio(_http("http", UNPAID), _http("http", FASTAPI)),
        *(1.2, "x", (2.0,)),
    ),
    Bar(
        "HTTP above FastAPI + stock Dramatiq, 64 in flight",
        _ratio(_http("http", UNPAID), _http("http", FASTAPI_STOCK)),
        *(11, "x", (25,)),
    ),
    Bar(
        "paid echo above the official middleware, 64 in flight",
        _ratio(_http("paid", PAID), _http("paid", SDK)),
        *(3, "x"),
    ),
    Bar(
        "402 answers above the official middleware, 64 in flight",
        _ratio(_http("challenge", PAID), _http("challenge", SDK)),
        *(3, "x"),
    ),
    Bar("fast pool's p99 beside full slow pools", _isolation(SPREAD), 1.2, "x", at_most=True),
    Bar("the same, their jobs ending together", _isolation(TOGETHER), 1.2, "x", at_most=True),
    *(Bar(f"echo's p99 while {row}", _isolation(row), 2, "x", at_most=True) for row in HEAVY),
    Bar("memory per blocked caller, of 1,000", _cell("callers", "1,000", column="kb"), 50, "KB", at_most=True),
    Bar(f"answered after SIGKILL, of {JOBS}", _cell("recovery", ROW, column="answered"), JOBS, ""),
    Bar("last answer after SIGKILL, beyond the job", _cell("recovery", ROW, column="last_s"), 2, "s", at_most=True),
    Bar("paid, settled calls/s, 64 in flight", _settled(OUR_FACILITATOR, "per_s"), 500, "/s", (1_000,)),
    Bar(
        "the same above the official SDK's facilitator",
        _ratio(_settled(OUR_FACILITATOR, "per_s"), _settled(SDK_FACILITATOR, "per_s")),
        *(5, "x"),
    ),
    Bar(
        "p50 of a lone settled call, of that settled one by one",
        _ratio(_settled(OUR_FACILITATOR, "p50_ms", 1), _settled(ONE_BY_ONE, "p50_ms", 1)),
        1.1,
        "x",
        at_most=True,
    ),
    Bar("gas saved by 20 in a group, Circle's token", _cell("gas", gas.CIRCLE, "20", column="saved"), 35, "%"),
    Bar("gas saved by 20 in a group, the sandbox's token", _cell("gas", gas.SANDBOX, "20", column="saved"), 30, "%"),
)


def judge(tables: Tables) -> list[tuple[str, str, str, str]]:
    """Per bar: its name, its goals, what was measured, the verdict."""
    rows = []
    for bar in BARS:
        sign = "<=" if bar.at_most else ">="
        goals = f"{sign} {', '.join(f'{goal:g}' for goal in (bar.commit, *bar.stretch))} {bar.unit}".rstrip()
        value = bar.measured(tables)
        if value is None:
            rows.append((bar.name, goals, "-", "not measured"))
            continue
        reached = [goal for goal in bar.stretch if bar.reaches(value, goal)]
        verdict = f"PASS, {reached[-1]:g} too" if reached else "PASS" if bar.reaches(value, bar.commit) else "MISS"
        rows.append((bar.name, goals, f"{number(value)} {bar.unit}".rstrip(), verdict))
    return rows
