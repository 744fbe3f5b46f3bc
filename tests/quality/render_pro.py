"""render-pro: the words of pages of each kind, on the layouts of tests/quality/layouts.py. None of them is set aside."""

from __future__ import annotations

from collections.abc import Iterator

from tests.quality.layouts import LAYOUTS
from tests.quality.scorer import Measure
from tests.quality.test_extraction import reading, score


def measures(held_out: bool) -> Iterator[Measure]:
    """The mean F1 of each kind's layouts, and how many kinds were recognised."""
    if held_out:
        return
    for kind in sorted({layout.kind for layout in LAYOUTS}):
        layouts = [layout for layout in LAYOUTS if layout.kind == kind]
        yield Measure(f"F1 of words, {kind}", len(layouts), sum(score(layout).f1 for layout in layouts))
    yield Measure("kind", len(LAYOUTS), sum(reading(layout).kind == layout.kind for layout in LAYOUTS))
