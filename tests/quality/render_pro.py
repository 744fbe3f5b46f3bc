"""render-pro: the words of articles, on the layouts of tests/quality/layouts.py. None of them is set aside."""

from __future__ import annotations

from collections.abc import Iterator

from tests.quality.layouts import LAYOUTS
from tests.quality.scorer import Measure
from tests.quality.test_extraction import score


def measures(held_out: bool) -> Iterator[Measure]:
    """The mean F1 of the layouts."""
    if not held_out:
        yield Measure("F1 of article words", len(LAYOUTS), sum(score(layout).f1 for layout in LAYOUTS))
