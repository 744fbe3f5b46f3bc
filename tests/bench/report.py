"""A run as Markdown, and its place in docs/performance.md."""

import re
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.results import Table, number

START, END = "<!-- bench -->\n", "<!-- /bench -->"


def markdown(run: dict[str, Any]) -> str:
    """Everything that a run found. `run` is the content of its JSON file."""
    tables = {name: Table.from_json(content) for name, content in run["tables"].items()}
    parts = [_about(run), _grid(("bar", "goal", "measured", "verdict"), run["bars"])]
    for table in tables.values():
        parts += [f"### {table.title}", _table(table)]
        notes = [f"Absent: {label} ({reason})." for label, reason in table.absent.items()] + table.notes
        parts += ["\n".join(f"- {note}" for note in notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def write_between_markers(document: Path, text: str) -> None:
    """Raises ValueError when the markers are not there."""
    content = document.read_text()
    changed, count = re.subn(
        re.escape(START) + ".*?" + re.escape(END), lambda _: START + text + END, content, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{document.name} has {count} places for the tables")
    document.write_text(changed)


def _about(run: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return (
        f"A {run['effort']} run of {run['minutes']:.0f} min on {run['cores']} cores ({run['system']}), {run['date']}; "
        f"programs that were none of its own took {run['others_share']:.0%} of the machine. "
        f"Each cell is the median of its rounds, with the least and the most in brackets. {versions}."
    )


def _table(table: Table) -> str:
    rows = [(*row, *(_cell(cells.get(column)) for column in table.columns)) for row, cells in sorted_rows(table)]
    return _grid((*table.heads, *table.columns.values()), rows)


def sorted_rows(table: Table) -> list[tuple[tuple[str, ...], dict[str, list[float]]]]:
    """In the order of measuring: the outer head's first."""
    firsts = list(dict.fromkeys(row[0] for row in table.cells))
    return sorted(table.cells.items(), key=lambda item: firsts.index(item[0][0]))


def _cell(values: Sequence[float] | None) -> str:
    if not values:
        return "-"
    median = number(statistics.median(values))
    return median if len(values) == 1 else f"{median} ({number(min(values))}..{number(max(values))})"


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
