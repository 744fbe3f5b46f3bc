"""prompt-injection-scan: attacks that are a medium risk or more, and harmless texts that are not.

The open cases are the tables of the unit tests, which also train the model.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from jobs.prompt_injection_scan import scan
from tests.jobs.prompt_injection_scan.corpora import BY_CATEGORY, BY_KIND
from tests.quality.scorer import Measure


def measures(held_out: bool) -> Iterator[Measure]:
    """The recall of each kind of attack and of all, and the share of harmless texts that are left alone."""
    cases = {"attacks": BY_CATEGORY, "harmless": BY_KIND}
    if held_out:
        cases = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    yield from _rows("recall", cases["attacks"], risky=True)
    yield from _rows("left alone", cases["harmless"], risky=False)


def _rows(name: str, tables: Mapping[str, list[str]], *, risky: bool) -> Iterator[Measure]:
    rows = {kind: [_is_risky(text) is risky for text in texts] for kind, texts in tables.items()}
    yield from (Measure(f"{name}: {kind.replace('_', ' ')}", len(row), sum(row)) for kind, row in rows.items())
    yield Measure(name, sum(map(len, rows.values())), sum(map(sum, rows.values())))


def _is_risky(text: str) -> bool:
    return scan(text).level not in ("none", "low")
