"""`scripts/quality` scores every endpoint that it names."""

import pytest

from tests.quality.scorer import endpoints, measures_of


@pytest.mark.parametrize("endpoint", endpoints())
def test_an_endpoint_is_scored(endpoint: str) -> None:
    """All its measures can be made, and most open cases are right."""
    measures = measures_of(endpoint, held_out=False)
    assert measures
    assert [measure.name for measure in measures if measure.score < 0.75] == []
