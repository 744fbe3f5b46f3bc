"""Draws compose/grafana/dashboard.json without Grafana, from what a Prometheus answers to the queries of its panels:

    python -m tests.ops.draw_dashboard http://127.0.0.1:9090 docs/pictures/grafana.png 5

The last argument is how many minutes to show. It needs matplotlib, which the environment of scripts/bench has
(var/bench-venv). Grafana draws the same series in its own way.
"""

from __future__ import annotations

import json
import math
import sys
import time
import urllib.parse
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
from matplotlib import dates, pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).parents[2]
BACK, PANEL, INK, DIM = "#111217", "#181b1f", "#d8d9da", "#8e9297"
COLOURS = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff9830", "#ff7383", "#b877d9", "#37a2eb", "#fade2a", "#56a64b", "#e0b400")
GRADES = {"green": "#37872d", "orange": "#b3540c", "red": "#c4162a"}
CELL_IN = (0.85, 0.42)
"""Width and height of a cell of Grafana's grid, in inches."""
STEPS = 150


class Line(NamedTuple):
    """One series of a panel."""

    name: str
    at: list[datetime]
    values: list[float]


def main(prometheus: str, target: Path, minutes: float) -> None:
    """Ask for every panel, and draw them in their places."""
    dashboard = json.loads((ROOT / "compose/grafana/dashboard.json").read_text())
    panels = dashboard["panels"]
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    figure = pyplot.figure(figsize=(24 * CELL_IN[0], (rows + 2) * CELL_IN[1]), facecolor=BACK)
    height = rows + 2
    ending = time.time()
    for panel in panels:
        place = panel["gridPos"]
        x, y = place["x"] / 24, 1 - (place["y"] + place["h"] + 1.4) / height
        if panel["type"] == "row":
            figure.text(0.006, y + 0.2 / height, panel["title"], color=INK, fontsize=13, weight="bold")
            continue
        box = (x + 0.004, y + 0.12 / height, place["w"] / 24 - 0.008, (place["h"] - 0.24) / height)
        lines = [line for asked in panel["targets"] for line in _lines(prometheus, asked, ending, minutes)]
        _draw(figure, box, panel, lines)
    figure.text(0.006, 1 - 0.85 / height, dashboard["title"], color=INK, fontsize=17, weight="bold")
    said = "drawn by tests/ops/draw_dashboard.py from the queries of compose/grafana/dashboard.json, not a picture of Grafana"
    figure.text(0.994, 1 - 0.8 / height, said, color=DIM, fontsize=11, ha="right")
    figure.savefig(target, dpi=75, facecolor=BACK)
    Image.open(target).quantize(128).save(target, optimize=True)  # a quarter of the bytes


def _lines(prometheus: str, asked: dict[str, Any], ending: float, minutes: float) -> list[Line]:
    """What Prometheus answers for the range, with Grafana's two variables in its place."""
    step = max(1, round(minutes * 60 / STEPS))
    query = asked["expr"].replace("$__rate_interval", "30s").replace("$__range", f"{round(minutes * 60)}s")
    parameters = {"query": query, "start": ending - minutes * 60, "end": ending, "step": step}
    url = f"{prometheus}/api/v1/query_range?{urllib.parse.urlencode(parameters)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        found = json.load(answer)["data"]["result"]
    return [
        Line(
            _legend(asked["legendFormat"], series["metric"]),
            [datetime.fromtimestamp(at) for at, _ in series["values"]],
            [float(value) for _, value in series["values"]],
        )
        for series in sorted(found, key=lambda series: sorted(series["metric"].items()))
    ]


def _legend(form: str, labels: dict[str, str]) -> str:
    for name, value in labels.items():
        form = form.replace("{{" + name + "}}", value.split(":")[0] + ":…" if len(value) > 24 else value)
    return form


def _draw(figure: Figure, box: tuple[float, float, float, float], panel: dict[str, Any], lines: list[Line]) -> None:
    ground = figure.add_axes(box, facecolor=PANEL)
    ground.set_xticks([])
    ground.set_yticks([])
    for spine in ground.spines.values():
        spine.set_color("#2c3235")
    left, bottom, width, height = box
    inches = figure.get_size_inches()
    ground.text(
        0.02,
        1 - 0.12 / (height * inches[1]),
        panel["title"],
        color=INK,
        fontsize=10,
        va="top",
        transform=ground.transAxes,
    )
    if panel["type"] == "stat":
        _stats(ground, panel, lines)
        return
    inset = (left + 0.6 / inches[0], bottom + 0.72 / inches[1], width - 0.75 / inches[0], height - 1.2 / inches[1])
    axes = figure.add_axes(inset, facecolor=PANEL)
    unit = panel["fieldConfig"]["defaults"]["unit"]
    is_stacked = panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"
    base: dict[datetime, float] = {}
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        values = [0.0 if is_stacked and math.isnan(value) else value for value in line.values]
        if is_stacked:
            below = [base.get(at, 0.0) for at in line.at]
            values = [value + under for value, under in zip(values, below, strict=True)]
            base.update(zip(line.at, values, strict=True))
            axes.fill_between(line.at, below, values, color=colour, alpha=0.2, linewidth=0)
        axes.plot(line.at, values, color=colour, linewidth=1.3, label=line.name)
    if panel["fieldConfig"]["defaults"]["custom"].get("scaleDistribution", {}).get("type") == "log":
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: _text(value, unit))
    axes.xaxis.set_major_formatter(dates.DateFormatter("%H:%M:%S"))
    axes.xaxis.set_major_locator(pyplot.MaxNLocator(4))
    axes.tick_params(colors=DIM, labelsize=7.5, length=0)
    axes.grid(color="#2c3235", linewidth=0.6)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if lines:
        ground.legend(
            *axes.get_legend_handles_labels(),
            loc="lower left",
            ncols=min(4, max(2, math.ceil(len(lines) / 3))),
            fontsize=7,
            frameon=False,
            labelcolor=DIM,
            columnspacing=0.9,
            handlelength=1,
            labelspacing=0.2,
        )
    else:
        axes.text(0.5, 0.5, "No data", color=DIM, ha="center", transform=axes.transAxes)


def _stats(ground: Axes, panel: dict[str, Any], lines: list[Line]) -> None:
    """The last value of each series, on the colour of its grade."""
    defaults = panel["fieldConfig"]["defaults"]
    words = {
        float(key): word["text"] for mapping in defaults.get("mappings", ()) for key, word in mapping["options"].items()
    }
    grades = defaults.get("thresholds", {}).get("steps", ())
    for number, line in enumerate(lines):
        value = line.values[-1]
        colour = PANEL
        for grade in grades:
            if grade["value"] is None or value >= grade["value"]:
                colour = GRADES[grade["color"]]
        width = 1 / len(lines)
        middle = (number + 0.5) * width
        ground.add_patch(
            pyplot.Rectangle(
                (number * width + 0.01, 0.05), width - 0.02, 0.63, color=colour, transform=ground.transAxes, linewidth=0
            )
        )
        text = words.get(value, _text(round(value, defaults.get("decimals", 12)), defaults["unit"]))
        size = 15 if len(lines) > 1 else 22
        ground.text(
            middle, 0.33, text, color="white", fontsize=size, ha="center", va="center", transform=ground.transAxes
        )
        if len(lines) > 1:
            ground.text(
                middle, 0.58, line.name, color="white", fontsize=8, ha="center", va="center", transform=ground.transAxes
            )


def _text(value: float, unit: str) -> str:
    if math.isnan(value):
        return "-"
    if unit == "percentunit":
        return f"{100 * value:.1f} %"
    if unit == "currencyUSD":
        return f"${value:.4g}"
    if unit == "s":
        return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
    return f"{value:.4g}" + {"reqps": "/s", "ops": "/s"}.get(unit, "")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]), float(sys.argv[3]))
