"""The committed figures are what docs/performance.md shows, and a bar is judged by what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bench.report import END, START, markdown, write_between_markers
from tests.bench.results import Table, number
from tests.bench.systems import HOPS, HTTP, RENDERERS, SHOPS, STOCK, THREADS
from tests.bench.targets import judge

DOCS = Path(__file__).parents[2] / "docs"


def a_table() -> Table:
    """Two systems, three rounds."""
    table = Table("Title", ("system",), {"idle_p50_ms": "idle, ms", "per_s": "jobs/s"})
    for value in (300.0, 100.0, 200.0):
        table.add(STOCK.label, idle_p50_ms=value)
        table.add(THREADS.label, idle_p50_ms=value / 250)
    return table


def test_the_document_shows_the_committed_run() -> None:
    """`scripts/bench --write-docs` writes both."""
    found = re.search(re.escape(START) + "(.*?)" + re.escape(END), (DOCS / "performance.md").read_text(), re.DOTALL)
    assert found is not None
    assert found.group(1) == markdown(json.loads((DOCS / "performance.json").read_text()))


def test_a_table_survives_its_json() -> None:
    """Rows are tuples, which JSON does not know."""
    table = a_table()
    assert Table.from_json(json.loads(json.dumps(table.to_json()))) == table


def test_an_undeclared_column_is_refused() -> None:
    """It would be measured and never shown."""
    with pytest.raises(KeyError):
        a_table().add(STOCK.label, p50=1.0)


def test_a_cell_shows_the_median_and_the_spread() -> None:
    """One round has no spread, an empty cell a dash."""
    table = a_table()
    table.add("once", per_s=1234.5)
    table.absent["gone"] = "not installed"
    run: dict[str, Any] = {
        "effort": "full",
        "minutes": 9.7,
        "cores": 2,
        "others_share": 0.014,
        "system": "Linux",
        "date": "2026-01-01",
        "versions": {"litestar": "2"},
        "bars": judge({"hop": table}),
        "tables": {"hop": table.to_json()},
    }
    text = markdown(run)
    assert f"| {STOCK.label} | 200 (100..300) | - |" in text
    assert "| once | - | 1,234 |" in text
    assert "took 1% of the machine" in text
    assert "- Absent: gone (not installed)." in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (50.0, "50"), (0.4567, "0.457"), (1.26, "1.26"), (12.34, "12.3"), (29_000.4, "29,000")],
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    """As people write them."""
    assert number(value) == text


def test_bars_are_judged_by_the_medians() -> None:
    """250 times below stock passes the commitment of 200 and not the stretch; what was not measured is not judged."""
    verdicts = {name: (measured, verdict) for name, _, measured, verdict in judge({"hop": a_table()})}
    assert verdicts["idle hop p50 below stock Dramatiq"] == ("250 x", "PASS")
    assert verdicts["idle hop p50"] == ("0.800 ms", "PASS")
    assert verdicts["jobs/s above stock Dramatiq, worker threads"] == ("-", "not measured")


def test_the_tables_go_between_the_markers(tmp_path: Path) -> None:
    """And a document without a place for them is an error, not a silent loss."""
    document = tmp_path / "performance.md"
    document.write_text(f"before\n{START}old\n{END}\nafter\n")
    write_between_markers(document, "new \\1\n")
    assert document.read_text() == f"before\n{START}new \\1\n{END}\nafter\n"
    document.write_text("nothing")
    with pytest.raises(ValueError, match="0 places"):
        write_between_markers(document, "new")


def test_labels_tell_systems_apart() -> None:
    """Rows and bars are found by them."""
    for systems in (HOPS, HTTP, SHOPS, RENDERERS):
        assert len({system.label for system in systems}) == len(systems)
