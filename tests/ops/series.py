"""The table of series in docs/metrics.md, and what an answer of the exporter says, for tests to compare."""

import re
import urllib.request
from typing import NamedTuple

from compose.sandbox.child import ROOT

_ROW = re.compile(r"^\| `(coinslot_\w+)` \| (counter|gauge|histogram) \|([^|]*)\|", re.MULTILINE)
_SAMPLE = re.compile(r"^(coinslot_\w+)(?:\{(.*?)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="(.*?)"')


class Kind(NamedTuple):
    """What a series is."""

    type: str
    labels: frozenset[str]


class Sample(NamedTuple):
    """One line of an answer."""

    name: str
    labels: dict[str, str]
    value: float


def documented() -> dict[str, Kind]:
    """By name, as the table has it."""
    rows = _ROW.findall((ROOT / "docs" / "metrics.md").read_text())
    return {name: Kind(kind, frozenset(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}


def documented_samples() -> dict[str, frozenset[str]]:
    """The labels of what can be asked for: a histogram has three names."""
    found = {}
    for name, kind in documented().items():
        if kind.type == "histogram":
            found |= {f"{name}_sum": kind.labels, f"{name}_count": kind.labels, f"{name}_bucket": kind.labels | {"le"}}
        else:
            found[name] = kind.labels
    return found


def scrape(url: str) -> str:
    """An answer of the exporter."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        text: str = answer.read().decode()
    return text


def samples(text: str) -> list[Sample]:
    """Its lines."""
    return [Sample(name, dict(_LABEL.findall(labels)), float(value)) for name, labels, value in _SAMPLE.findall(text)]
