"""What a scorer is: a module per endpoint, tests/quality/<endpoint>.py with `_` for `-` and `/`. It has a function `measures`.
Two more, which are in OTHERS, score what several endpoints share.

    def measures(held_out: bool) -> Iterable[Measure]:
        ...

A scorer reads its tables, gives each case to the endpoint's engine or to its `run`, and counts the right answers. It opens no
socket (egress_proxies calls this machine), gives the same score again, and takes a minute at most. Its cases have two parts.
People who write rules look at the first part. Nobody looks at the part set aside, `held_out`, before the rules are written.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from jobs.catalogue import CATALOGUE

OTHERS = ("catalogue", "egress-proxies")
"""Scorers of what is no endpoint."""


class Measure(NamedTuple):
    """One row of the table.

    Attributes:
        name: what is counted, for example "recall"; empty when the endpoint has one measure only.
        cases: how many cases were judged.
        right: how many of them were right. A measure that gives part of a point to a case adds up the parts.
    """

    name: str
    cases: int
    right: float

    @property
    def score(self) -> float:
        """0 to 1."""
        return self.right / self.cases if self.cases else 0.0


def scored() -> list[str]:
    """The endpoints that have a scorer, in the order of the catalogue, and OTHERS."""
    files = {path.stem for path in Path(__file__).parent.glob("*.py")}
    return [*(endpoint.name for endpoint in CATALOGUE if _module(endpoint.name) in files), *OTHERS]


def measures_of(name: str, *, held_out: bool) -> list[Measure]:
    """Run the scorer of an endpoint, or another one."""
    return list(made_by(name, held_out=held_out))


def made_by(name: str, *, held_out: bool) -> Iterable[Measure]:
    """The measures one by one, so that those before a failure are not lost."""
    measures: Iterable[Measure] = import_module(f"tests.quality.{_module(name)}").measures(held_out=held_out)
    return measures


def _module(endpoint: str) -> str:
    return endpoint.replace("-", "_").replace("/", "_")
