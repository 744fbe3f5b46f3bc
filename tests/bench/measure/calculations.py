"""What the calculations of three endpoints cost, without queue and HTTP; and the same in another checkout of the project."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from compose.sandbox.child import ROOT
from tests.bench.calculation_rows import Row, rows
from tests.bench.results import Effort, Table

TIMED_CALLS = Path(__file__).parents[1] / "timed_calls.py"
TURNS = 5
"""How often both checkouts are asked for a row in a round. The fastest answer counts: the others were disturbed."""
HERE = {"us": "CPU time of a call, us"}
BESIDE = {"other_us": "in the other checkout, us", "ratio": "ratio"}


def measure(effort: Effort, against: Path | None = None) -> Table:
    """In each round both checkouts get new processes, which take turns: a process keeps some luck in its memory's layout.

    Args:
        against: the root of the other checkout. It needs a .venv of its own only where its locked packages are others.
    """
    title = "Calculations: one call in a worker's process, from the body's bytes to the answer's"
    table = Table(title, ("endpoint", "request"), HERE | (BESIDE if against else {}))
    if against:
        table.notes.append("The ratio is that of the two fastest times of each round; below 1 this checkout is faster.")
    for turn in range(effort.pairs):
        with contextlib.ExitStack() as stack:
            here = stack.enter_context(_calls_in(ROOT))
            other = stack.enter_context(_calls_in(against.resolve())) if against else None
            for row in rows():
                _add(table, row, here, other, other_first=turn % 2 == 0)
    return table


def _add(
    table: Table,
    row: Row,
    here: subprocess.Popen[str],
    other: subprocess.Popen[str] | None,
    *,
    other_first: bool,
) -> None:
    if other is None:
        table.add(row.endpoint, row.text, us=min(_time(here, row) for _ in range(TURNS)))
        return
    order = (other, here) if other_first else (here, other)
    times: dict[subprocess.Popen[str], list[float]] = {here: [], other: []}
    for _ in range(TURNS):
        for process in order:
            times[process].append(_time(process, row))
    us, other_us = min(times[here]), min(times[other])
    table.add(row.endpoint, row.text, us=us, other_us=other_us, ratio=us / other_us)


def _time(process: subprocess.Popen[str], row: Row) -> float:
    assert process.stdin
    assert process.stdout
    print(json.dumps([row.endpoint, row.request]), file=process.stdin, flush=True)
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError(f"{row.endpoint}, {row.text}: the process in {process.args} has ended")
    return float(answer)


@contextlib.contextmanager
def _calls_in(checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with a checkout's own code, and its own packages where it has some."""
    own = checkout / ".venv" / "bin" / "python"
    command = [own if own.exists() else sys.executable, "-P", TIMED_CALLS]
    with subprocess.Popen(
        command,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
