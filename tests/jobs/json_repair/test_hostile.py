"""Input that is meant to take forever. The work is counted, not timed."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jobs.json_repair import NotRepairable, repair
from tests.each import each
from tests.jobs.json_repair import texts
from tests.jobs.json_repair.counting import work_of

MAX_GROWTH = 30
"""Characters looked at per character of the text that a longer text may need more. Quadratic work needs hundreds more."""

BEFORE = (
    *("", '"', "'", "a", '{"a":', '{"a":"', '{"a": ', "[", '["', "{", "f(", "{'a': '", "{a:b", "{a", 'x "', "("),
    *('{"a":1', "{a: b c"),
)
AFTER = ("", "a", '"', "b}", "]", "}", '"}', "c: 1}", '"]', 'c "d"', 'c "d" e "f"')


def _growth(before: str, unit: str, after: str, small: int, large: int) -> float:
    """How much more work one character takes in the larger text."""

    def work(size: int) -> float:
        return work_of(before + unit * (size // len(unit)) + after) / size

    return work(large) - work(small)


@each("unit", texts.hostile)
def test_hostile_text_is_linear(unit: str) -> None:
    """A row of what other repairers choke on."""
    assert _growth("", unit, "", 1_000, 8_000) < MAX_GROWTH


@each("unit", ["'x' ", '"x" ', ' "', '"   ', "'x' \"y\" ", '"} x', "\"{'"])
def test_hostile_text_within_an_object_is_linear(unit: str) -> None:
    """Rows of strings that might be joined, as the value of a key."""
    assert _growth('{"a": ', unit, "", 1_000, 8_000) < MAX_GROWTH


@each(
    ("before", "unit", "after"),
    [
        ("{a: b c", ",", '"d" e "f"'),
        ("{a:b", ", ", 'c "d"'),
        ('{"a":"', "\n", "b}"),
        ("{'a': '", ",", '"}'),
    ],
)
def test_known_patterns_are_linear_to_64_kb(before: str, unit: str, after: str) -> None:
    """A bare word, or a quote that is never closed, before a row of commas or line breaks."""
    assert _growth(before, unit, after, 8_000, 64_000) < MAX_GROWTH


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(BEFORE),
    st.lists(st.sampled_from(texts.TOKENS), min_size=1, max_size=4).map("".join),
    st.sampled_from(AFTER),
)
@example("", '"a[//x\n', "]")
@example("", '"a"b,', "]")
@example("", 'x"a{', "}")
def test_any_repeated_pattern_is_linear(before: str, unit: str, after: str) -> None:
    """Whatever is repeated, between whatever."""
    assert _growth(before, unit, after, 250, 2_000) < MAX_GROWTH


@each("unit", ["t{]", '["a', "[a]{1", '["{"', "\\", '"', "`", "a(", '"a" b,', "9", "1e400,", "\ud800"])
def test_the_longest_text_that_is_accepted_is_answered(unit: str) -> None:
    """100 000 characters come back with a value that encodes, or with NotRepairable."""
    with suppress(NotRepairable):
        msgspec.json.encode(repair(unit * (100_000 // len(unit))).value)


@each("opening", ["[", '{"a":', "(", "f(", "[{a:(", "ObjectId("])
def test_deep_nesting_is_too_complex(opening: str) -> None:
    """Depth that no reader would take is refused by name, whatever brackets it is made of."""
    with pytest.raises(NotRepairable) as caught:
        repair(opening * (100_000 // len(opening)))
    assert caught.value.reason == "too_complex"
