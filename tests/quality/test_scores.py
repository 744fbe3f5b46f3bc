"""`scripts/quality` scores everything that it names."""

import json

import pytest

from tests.quality.__main__ import SCORES
from tests.quality.scorer import measures_of, scored


@pytest.mark.parametrize("name", scored())
def test_it_is_scored(name: str) -> None:
    """All its measures can be made, most open cases are right, and there is a score of before beside each."""
    measures = measures_of(name, held_out=False)
    assert measures
    assert [measure.name for measure in measures if measure.score < 0.75] == []
    before = json.loads(SCORES.read_text())["open"]
    assert [measure.name for measure in measures if f"{name} {measure.name}" not in before] == []
