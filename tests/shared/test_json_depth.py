"""How deep JSON is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.json_depth import is_deeper

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def depth(value: Any) -> int:
    """By recursion, as the definition is."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@given(JSON)
def test_the_deepest_place_counts(value: Any) -> None:
    """Given any value, then it is deeper than one level less than it has, and not deeper than all of them."""
    levels = depth(value)
    assert not is_deeper(value, levels)
    assert levels == 0 or is_deeper(value, levels - 1)


@pytest.mark.parametrize("levels", [64, 100_000])
def test_it_needs_no_stack(levels: int) -> None:
    """Also where Python's own recursion ends."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    assert not is_deeper(value, levels)
    assert is_deeper(value, levels - 1)
