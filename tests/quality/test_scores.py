"""`scripts/quality` scores everything that it names."""

from __future__ import annotations

import pytest

from tests.quality.scorer import measures_of, scored


@pytest.mark.parametrize("name", scored())
def test_it_is_scored(name: str) -> None:
    """All its measures can be made, and most open cases are right."""
    measures = measures_of(name, held_out=False)
    assert measures
    assert [measure.name for measure in measures if measure.score < 0.75] == []
