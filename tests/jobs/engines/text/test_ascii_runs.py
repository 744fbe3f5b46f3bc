"""Runs of ASCII characters."""

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.text.ascii_runs import Runs


@given(st.text(alphabet=st.characters(exclude_categories=()) | st.sampled_from("01 9ab?é１\ud800")))
def test_runs(text: str) -> None:
    """The same runs and places that a regular expression finds, in text of any script."""
    expected = [(match.start(), match[0]) for match in re.finditer("[0-9]+", text)]
    assert list(Runs(string.digits).find(text)) == expected
