"""An answer that is not the documented one is reported by its fields, with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.each import each
from tests.replayed import assert_documented

EXAMPLE = {"ok": True, "someList": [1, 2], "at": {"day": "Monday", "fetchedAt": "2026-11-22"}}


def test_what_is_measured_may_differ() -> None:
    """At any depth."""
    assert_documented({**EXAMPLE, "at": {"day": "Monday", "fetchedAt": "2026-11-23"}}, EXAMPLE)


@each(
    ("change", "places"),
    [
        ({"someList": [6, 2]}, "in someList[0]."),
        ({"someList": [1, 2, 3], "ok": 1.5}, "in ok, someList."),
        ({"at": {"day": "Monday", "hour": 5}}, "in at.hour."),
        ({"at": {}}, "in at.day."),
        ({"at": None}, "in at."),
    ],
)
def test_fields_that_differ_are_named(change: dict[str, Any], places: str) -> None:
    """Also those that only one of the two has."""
    with pytest.raises(AssertionError) as failed:
        assert_documented(EXAMPLE | change, EXAMPLE)
    assert f"differs from the response of the documented example {places}" in str(failed.value)
    assert "add the field's name to MEASURED or MADE_ANEW in tests/replayed.py" in str(failed.value)
