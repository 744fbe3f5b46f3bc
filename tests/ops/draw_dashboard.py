"""Draws compose/grafana/dashboard.json without Grafana, from what a Prometheus answers to the queries of its panels:

    python -m tests.ops.draw_dashboard http://127.0.0.1:9090 docs/pictures/grafana.png 5

The last argument is how many minutes to show. It needs matplotlib, which the environment of scripts/bench has
(var/bench-venv). Grafana draws the same series in its own way.
"""

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
from PIL import Image

DASHBOARD = json.loads((Path(__file__).parents[2] / "compose/grafana/dashboard.json").read_text())
ROWS = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in DASHBOARD["panels"]) + 2
CELL_IN = (0.85, 0.42)
"""Width and height of a cell of Grafana's grid, in inches."""
STEPS = 150
SAID = (
    "drawn by tests/ops/draw_dashboard.py from the queries of compose/grafana/dashboard.json, not a picture of Grafana"
)
STYLE = {"grid.color": "#2c3235", "font.size": 7.5, "axes.titlesize": 10, "axes.spines.left": False}
STYLE |= {"axes.grid": True, "legend.frameon": False, "axes.titlelocation": "left", "axes.spines.bottom": False}
STYLE |= {
    "axes.facecolor": "#181b1f",
    "figure.facecolor": "#111217",
    "axes.spines.right": False,
    "axes.spines.top": False,
}


class Line(NamedTuple):
    """One series of a panel."""

    name: str
    at: list[datetime]
    values: list[float]


def main(prometheus: str, target: Path, minutes: float) -> None:
    """Ask for every panel, and draw them in their places."""
    pyplot.style.use(["dark_background", STYLE])
    figure = pyplot.figure(figsize=(24 * CELL_IN[0], ROWS * CELL_IN[1]))
    figure.text(0.006, 1 - 0.85 / ROWS, DASHBOARD["title"], fontsize=17, weight="bold")
    figure.text(0.994, 1 - 0.8 / ROWS, SAID, color="gray", fontsize=11, ha="right")
    ending = time.time()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        x, y = place["x"] / 24, 1 - (place["y"] + place["h"] + 1.4) / ROWS
        if panel["type"] == "row":
            figure.text(0.006, y + 0.2 / ROWS, panel["title"], fontsize=13, weight="bold")
            continue
        axes = figure.add_axes((x + 0.03, y + 1.8 / ROWS, place["w"] / 24 - 0.04, (place["h"] - 2.8) / ROWS))
        axes.set_title(panel["title"])
        draw = _stats if panel["type"] == "stat" else _series
        draw(axes, panel, [line for asked in panel["targets"] for line in _lines(prometheus, asked, ending, minutes)])
    figure.savefig(target, dpi=75)
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


def _series(axes: Axes, panel: dict[str, Any], lines: list[Line]) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    base: dict[datetime, float] = {}
    for line in lines:
        values = line.values
        if defaults["custom"]["stacking"]["mode"] == "normal":
            below = [base.get(at, 0.0) for at in line.at]
            values = [under + (0 if math.isnan(value) else value) for value, under in zip(values, below, strict=True)]
            base.update(zip(line.at, values, strict=True))
            axes.fill_between(line.at, below, values, alpha=0.2)
        axes.plot(line.at, values, linewidth=1.3, label=line.name)
    if defaults["custom"].get("scaleDistribution", {}).get("type") == "log":
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: _text(value, defaults["unit"]))
    axes.xaxis.set_major_formatter(dates.DateFormatter("%H:%M:%S"))
    axes.xaxis.set_major_locator(pyplot.MaxNLocator(4))
    if lines:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.1), ncols=3)
    else:
        axes.text(0.5, 0.5, "No data", ha="center", transform=axes.transAxes)


def _stats(axes: Axes, panel: dict[str, Any], lines: list[Line]) -> None:
    """The last value of each series, on the colour of its grade."""
    axes.axis("off")
    defaults = panel["fieldConfig"]["defaults"]
    words = {float(key): word["text"] for one in defaults.get("mappings", ()) for key, word in one["options"].items()}
    for number, line in enumerate(lines):
        value, colour = line.values[-1], "none"
        for grade in defaults.get("thresholds", {}).get("steps", ()):
            if grade["value"] is None or value >= grade["value"]:
                colour = "dark" + grade["color"]
        text = words.get(value, _text(round(value, defaults.get("decimals", 12)), defaults["unit"]))
        place, box = (number + 0.5) / len(lines), {"facecolor": colour, "edgecolor": "none"}
        axes.text(place, 0.6, f"{line.name}\n{text}", size=9, ha="center", va="top", linespacing=1.6, bbox=box)


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
