"""Draws a run: `python -m tests.bench.plot RUN.json PICTURE.png SETTLE.png`, with the rivals' Python, which has matplotlib."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

from tests.bench.results import Table, number

OURS, RIVAL = "#0b6e4f", "#9aa5b1"
ONE_BY_ONE = "#7fb69c"
SETTLE_AT = "64"
Panel = tuple[str, str, Callable[[Axes, Table], None]]
"""The table, the title, and what draws it."""


def main(source: Path, target: Path, settle_target: Path) -> None:
    """Draw the queue and HTTP without and with payments; and settlements, where the run has measured them."""
    tables = {name: Table.from_json(content) for name, content in json.loads(source.read_text())["tables"].items()}
    panels: list[Panel] = [
        ("hop", "Idle queue, p50, ms (log scale)", partial(_bars, column="idle_p50_ms", log=True)),
        ("hop", "One call after the other, p50, ms (log scale)", partial(_bars, column="p50_ms", log=True)),
        ("hop", "64 calls in flight, jobs/s", partial(_bars, column="per_s")),
        ("http", "HTTP echo without payment, answers/s", partial(_lines, column="per_s")),
        ("paid", "Paid HTTP echo, answers/s", partial(_bars, column="per_s")),
        ("challenge", "402 to unpaid calls, answers/s", partial(_bars, column="per_s")),
    ]
    _draw(panels, tables, target, rows=2)
    if "settle" in tables:
        panels = [
            (
                "settle",
                "Paid echo with settlement on a local chain, calls/s (log scale)",
                partial(_lines, column="per_s", log=True),
            ),
            ("settle", f"CPU of a settlement, ms, {SETTLE_AT} in flight (log scale)", _cpu),
            ("gas", "Gas of a payment", partial(_lines, column="gas", series=0, x="payments in a transaction")),
        ]
        _draw(panels, tables, settle_target, rows=1)


def _draw(panels: Sequence[Panel], tables: dict[str, Table], target: Path, *, rows: int) -> None:
    figure, axes = pyplot.subplots(rows, 3, figsize=(19, 4.5 * rows), constrained_layout={"w_pad": 0.15, "h_pad": 0.15})
    for (name, title, draw), panel in zip(panels, axes.flat, strict=True):
        if name not in tables:
            panel.set_axis_off()
            continue
        draw(panel, tables[name])
        panel.set_title(title, fontsize=12)
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=90)


def _colour(system: str) -> str:
    return ONE_BY_ONE if system == "ours, one by one" else OURS if system.startswith("ours") else RIVAL


def _bars(panel: Axes, table: Table, column: str, *, log: bool = False) -> None:
    """One bar per row, with the spread of its rounds."""
    rows = [row for row, cells in table.cells.items() if cells.get(column)][::-1]
    medians = [table.median(*row, column=column) or 0.0 for row in rows]
    least = [median - min(table.cells[row][column]) for row, median in zip(rows, medians, strict=True)]
    most = [max(table.cells[row][column]) - median for row, median in zip(rows, medians, strict=True)]
    labels = [f"{row[-1]}\n{row[0]} in flight" if len(row) > 1 else row[0].replace(", ", ",\n") for row in rows]
    colours = [_colour(row[-1]) for row in rows]
    bars = panel.barh(labels, medians, height=0.65, xerr=[least, most], color=colours, ecolor="#444444", capsize=2)
    panel.bar_label(bars, [number(median) for median in medians], padding=6)
    panel.margins(x=0.15)
    if log:
        panel.set_xscale("log")
        panel.set_xlim(left=0.1)
        panel.xaxis.set_major_formatter("{x:g}")
    else:
        panel.set_xlim(left=0)
        panel.set_xticks([])


def _lines(
    panel: Axes, table: Table, column: str, *, series: int = 1, x: str = "calls in flight", log: bool = False
) -> None:
    """One line per value of the row's head `series`, over the values of the other head."""
    for marker, name in zip("os^Dv", dict.fromkeys(row[series] for row in table.cells), strict=False):
        rows = [row for row in table.cells if row[series] == name]
        medians = [table.median(*row, column=column) for row in rows]
        ours = name.startswith("ours")
        width, colour = (2.5, _colour(name)) if ours else (1.5, None)
        panel.plot([row[1 - series] for row in rows], medians, marker=marker, label=name, color=colour, linewidth=width)
    if log:
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
    else:
        panel.set_ylim(bottom=0)
    panel.set_xlabel(x)
    panel.legend(frameon=False, fontsize=9)


def _cpu(panel: Axes, table: Table) -> None:
    """Two bars for each system: a stack on a log scale would lie."""
    systems = [row[1] for row in table.cells if row[0] == SETTLE_AT][::-1]
    for column, label, shift, shade in (
        ("facilitator_ms", "facilitator", 0.2, 1.0),
        ("node_ms", "its node", -0.2, 0.5),
    ):
        values = [table.median(SETTLE_AT, system, column=column) or 0.0 for system in systems]
        places = [place + shift for place in range(len(systems))]
        bars = panel.barh(places, values, height=0.35, color=[_colour(system) for system in systems], alpha=shade)
        panel.bar_label(bars, [f"{label} {number(value)}" for value in values], padding=4, fontsize=9)
    panel.set_yticks(range(len(systems)), systems)
    panel.set_xscale("log")
    panel.set_xlim(left=0.1, right=200)
    panel.xaxis.set_major_formatter("{x:g}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
