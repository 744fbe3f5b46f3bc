"""Section 10 of a run as a picture: `python -m tests.bench.plot_settle RUN.json PICTURE.png`, in the rivals' environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

from tests.bench.plot import OURS, RIVAL
from tests.bench.results import Table, number

COLOURS = {"ours, in groups": OURS, "ours, one by one": "#7fb69c"}
AT = "64"


def main(source: Path, target: Path) -> None:
    """Calls a second, what a settlement costs in CPU, and in gas."""
    tables = {name: Table.from_json(content) for name, content in json.loads(source.read_text())["tables"].items()}
    figure, (rate, cpu, gas) = pyplot.subplots(1, 3, figsize=(19, 5), constrained_layout={"w_pad": 0.15, "h_pad": 0.1})
    _rates(rate, tables["settle"])
    _cpu(cpu, tables["settle"])
    _gas(gas, tables["gas"])
    for panel in (rate, cpu, gas):
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=90)


def _rates(panel: Axes, table: Table) -> None:
    systems = list(dict.fromkeys(row[1] for row in table.cells))
    levels = list(dict.fromkeys(row[0] for row in table.cells))
    for marker, system in zip("os^", systems, strict=False):
        medians = [table.median(level, system, column="per_s") for level in levels]
        panel.plot(levels, medians, marker=marker, label=system, color=COLOURS.get(system, RIVAL), linewidth=2)
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set_xlabel("calls in flight")
    panel.set_title("Paid echo with settlement on a local chain, calls/s (log scale)", fontsize=12)
    panel.legend(frameon=False, fontsize=9)


def _cpu(panel: Axes, table: Table) -> None:
    """Two bars for each system: a stack on a log scale would lie."""
    systems = [row[1] for row in table.cells if row[0] == AT][::-1]
    colours = [COLOURS.get(system, RIVAL) for system in systems]
    for column, label, shift, shade in (
        ("facilitator_ms", "facilitator", 0.2, 1.0),
        ("node_ms", "its node", -0.2, 0.5),
    ):
        values = [table.median(AT, system, column=column) or 0.0 for system in systems]
        places = [place + shift for place in range(len(systems))]
        bars = panel.barh(places, values, height=0.35, color=colours, alpha=shade)
        panel.bar_label(bars, [f"{label} {number(value)}" for value in values], padding=4, fontsize=9)
    panel.set_yticks(range(len(systems)), systems)
    panel.set_xscale("log")
    panel.set_xlim(left=0.1, right=200)
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_title(f"CPU of a settlement, ms, {AT} in flight (log scale)", fontsize=12)


def _gas(panel: Axes, table: Table) -> None:
    tokens = list(dict.fromkeys(row[0] for row in table.cells))
    for marker, colour, token in zip("os", (OURS, "#c46a1b"), tokens, strict=False):
        sizes = [row[1] for row in table.cells if row[0] == token]
        values = [table.median(token, size, column="gas") for size in sizes]
        panel.plot(sizes, values, marker=marker, color=colour, label=token, linewidth=2)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("payments in a transaction")
    panel.set_title("Gas of a payment", fontsize=12)
    panel.legend(frameon=False, fontsize=9)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
