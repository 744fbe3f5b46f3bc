"""What a run found: tables of cells, each with one value per round."""

import statistics
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Table:
    """One table.

    Attributes:
        heads: of the columns that name a row.
        columns: key and heading, with the unit.
        cells: by row and column: one value per round.
        absent: systems that could not be measured here, and why.
        notes: sentences below the table.
    """

    title: str
    heads: tuple[str, ...]
    columns: dict[str, str]
    cells: dict[tuple[str, ...], dict[str, list[float]]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, *row: str, **values: float) -> None:
        """The values of one round. Raises KeyError for a column that was not declared."""
        cells = self.cells.setdefault(row, {})
        for column, value in values.items():
            _ = self.columns[column]
            cells.setdefault(column, []).append(value)

    def median(self, *row: str, column: str) -> float | None:
        """The median of a cell; None when it was not measured."""
        values = self.cells.get(row, {}).get(column)
        return statistics.median(values) if values else None

    def to_json(self) -> dict[str, Any]:
        """JSON has no tuples as keys."""
        rows = [{"row": row, "values": values} for row, values in self.cells.items()]
        return {
            "title": self.title,
            "heads": self.heads,
            "columns": self.columns,
            "rows": rows,
            "absent": self.absent,
            "notes": self.notes,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Table":
        """The table that was written."""
        cells = {tuple(each["row"]): each["values"] for each in content["rows"]}
        rest = {name: content[name] for name in ("title", "columns", "absent", "notes")}
        return cls(heads=tuple(content["heads"]), cells=cells, **rest)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes:
        rounds: of everything; systems take turns within a round.
        idle_calls: per round, to a queue that was idle for `idle_s`.
        seconds: of one load on one system.
        pairs: of loads with and without what may disturb them.
        trials: of what takes a fresh start each time.
    """

    name: str
    rounds: int
    idle_calls: int
    idle_s: float
    seconds: int
    pairs: int
    trials: int


FULL = Effort("full", rounds=3, idle_calls=10, idle_s=2.5, seconds=3, pairs=10, trials=3)
QUICK = Effort("quick", rounds=1, idle_calls=4, idle_s=2.0, seconds=1, pairs=5, trials=1)


def number(value: float) -> str:
    """Three digits that count, as people write them."""
    if value == int(value):
        return f"{value:,.0f}"
    decimals = next((decimals for limit, decimals in ((100, 0), (10, 1), (1, 2)) if abs(value) >= limit), 3)
    return f"{value:,.{decimals}f}"
