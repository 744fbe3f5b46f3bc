"""A run as one picture: `python -m tests.bench.plot RUN.json PICTURE.png`, in the rivals' environment, which has matplotlib."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

from tests.bench.results import Table, number

OURS, RIVAL = "#0b6e4f", "#9aa5b1"


def main(source: Path, target: Path) -> None:
    """Above: the queue alone. Below: HTTP without and with payments."""
    tables = {name: Table.from_json(content) for name, content in json.loads(source.read_text())["tables"].items()}
    figure, axes = pyplot.subplots(2, 3, figsize=(19, 9), constrained_layout={"w_pad": 0.15, "h_pad": 0.15})
    panels: list[tuple[str, Callable[[Axes, Table, str], None], str, str]] = [
        ("hop", partial(_bars, log=True), "idle_p50_ms", "Idle queue, p50, ms (log scale)"),
        ("hop", partial(_bars, log=True), "p50_ms", "One call after the other, p50, ms (log scale)"),
        ("hop", _bars, "per_s", "64 calls in flight, jobs/s"),
        ("http", _lines, "per_s", "HTTP echo without payment, answers/s"),
        ("paid", _bars, "per_s", "Paid HTTP echo, answers/s"),
        ("challenge", _bars, "per_s", "402 to unpaid calls, answers/s"),
    ]
    for (name, draw, column, title), panel in zip(panels, axes.flat, strict=True):
        if name not in tables:
            panel.set_axis_off()
            continue
        draw(panel, tables[name], column)
        panel.set_title(title, fontsize=12)
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=90)


def _bars(panel: Axes, table: Table, column: str, *, log: bool = False) -> None:
    """One bar per row, with the spread of its rounds."""
    rows = [row for row, cells in table.cells.items() if cells.get(column)][::-1]
    medians = [table.median(*row, column=column) or 0.0 for row in rows]
    least = [median - min(table.cells[row][column]) for row, median in zip(rows, medians, strict=True)]
    most = [max(table.cells[row][column]) - median for row, median in zip(rows, medians, strict=True)]
    labels = [f"{row[-1]}\n{row[0]} in flight" if len(row) > 1 else row[0].replace(", ", ",\n") for row in rows]
    colours = [OURS if row[-1].startswith("ours") else RIVAL for row in rows]
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


def _lines(panel: Axes, table: Table, column: str) -> None:
    """One line per system."""
    systems = list(dict.fromkeys(row[1] for row in table.cells))
    levels = list(dict.fromkeys(row[0] for row in table.cells))
    for marker, system in zip("os^Dv", systems, strict=False):
        medians = [table.median(level, system, column=column) for level in levels]
        ours = system.startswith("ours")
        panel.plot(
            levels, medians, marker=marker, label=system, color=OURS if ours else None, linewidth=2.5 if ours else 1.5
        )
    panel.set_ylim(bottom=0)
    panel.set_xlabel("calls in flight")
    panel.legend(frameon=False, fontsize=9)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
