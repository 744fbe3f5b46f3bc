"""faker: how many methods give at least half of the distinct values that faker-js gives in 1,000 draws, in two seeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jobs.faker.allowlist import METHODS
from jobs.faker.locales import LOCALES
from jobs.faker.records import SEEDED_REFERENCE, records
from tests.quality.scorer import Measure

_TABLE = Path(__file__).parents[1] / "jobs" / "faker" / "faker_js_methods.txt"


def measures(held_out: bool) -> Iterator[Measure]:
    """The part set aside has another seed and every other locale."""
    every = {name: name for name in METHODS}
    theirs = {parts[0]: int(parts[1]) for line in _TABLE.read_text().splitlines() if len(parts := line.split()) == 2}
    drawn = records(every, 1000, seed=2 if held_out else 1, now=SEEDED_REFERENCE)
    ours = {name: len({record[name] for record in drawn}) for name in METHODS}
    yield Measure("half of faker-js's values", len(METHODS), sum(2 * ours[name] >= theirs[name] for name in METHODS))
    for locale in LOCALES[int(held_out) :: 2]:
        made = records(every, 100, seed=3, now=SEEDED_REFERENCE, locale=locale)
        values = [str(value).rstrip("\r\n") for record in made for value in record.values()]
        yield Measure(
            f"trimmed text, {locale}", len(values), sum(bool(value) and value.strip() == value for value in values)
        )
