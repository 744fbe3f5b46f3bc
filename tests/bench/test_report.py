"""The committed figures are what docs/performance.md shows, and a bar is judged by what it says."""

import json
import re
from pathlib import Path

from tests.bench.report import END, START, markdown
from tests.bench.results import Table
from tests.bench.systems import STOCK, THREADS
from tests.bench.targets import judge

DOCS = Path(__file__).parents[2] / "docs"


def test_the_document_shows_the_committed_run() -> None:
    """`scripts/bench --write-docs` writes both."""
    found = re.search(re.escape(START) + "(.*?)" + re.escape(END), (DOCS / "performance.md").read_text(), re.DOTALL)
    assert found is not None
    assert found.group(1) == markdown(json.loads((DOCS / "performance.json").read_text()))


def test_bars_are_judged_by_the_medians() -> None:
    """250 times below stock passes the commitment of 200 and not the stretch; what was not measured is not judged."""
    table = Table("Title", ("system",), {"idle_p50_ms": "idle, ms"})
    for value in (300.0, 100.0, 200.0):
        table.add(STOCK.label, idle_p50_ms=value)
        table.add(THREADS.label, idle_p50_ms=value / 250)
    verdicts = {name: (measured, verdict) for name, _, measured, verdict in judge({"hop": table})}
    assert verdicts["idle hop p50 below stock Dramatiq"] == ("250 x", "PASS")
    assert verdicts["idle hop p50"] == ("0.800 ms", "PASS")
    assert verdicts["jobs/s above stock Dramatiq, worker threads"] == ("-", "not measured")
