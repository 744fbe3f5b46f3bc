"""The documented table of layouts is that of the code."""

import re
from pathlib import Path

from shared import layouts
from shared.layouts import Layout

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


def test_each_layout_is_documented() -> None:
    """By name, with what this version writes and reads. What it writes, it reads."""
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\d+) \| ([\d, ]+) \|", OPERATIONS.read_text(), re.MULTILINE)
    documented = {name: (int(written), frozenset(map(int, read.split(",")))) for name, written, read in rows}
    declared = {name: layout for name, layout in vars(layouts).items() if isinstance(layout, Layout)}
    assert documented == {name: (layout.written, layout.read) for name, layout in declared.items()}
    assert all(layout.written in layout.read for layout in declared.values())
