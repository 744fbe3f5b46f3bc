"""pii-redact: phones in the words of people, with other numbers beside them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from jobs.pii_redact.redaction import redact
from tests.jobs.pii_redact.marked import read, texts
from tests.quality.scorer import Measure


def measures(held_out: bool) -> Iterator[Measure]:
    """Recall over the marked phones, and the share of other numbers that stay."""
    cases = tomllib.loads(Path(__file__).with_suffix(".toml").read_text()) if held_out else texts("phone")
    found = [read(marked, "phone") for marked in cases["found"]]
    right = sum(redact(text, ["phone"]).spans == spans for text, _, spans in found)
    yield Measure("phones found", len(found), right)
    left = cases["left"]
    yield Measure("other numbers left", len(left), sum(not redact(text, ["phone"]).spans for text in left))
