"""What is a regular expression and what is not, by the specification."""

import sys

import pytest

from jobs.regex_test.cursor import units_of
from jobs.regex_test.syntax import PatternError, check
from tests.each import each
from tests.jobs.regex_test.patterns import ALWAYS, LITERAL, NEVER, NOT_WITH_U, WITH_U


def is_valid(pattern: str, flags: str) -> bool:
    try:
        check(pattern, flags)
    except PatternError:
        return False
    return True


def problem(pattern: str, flags: str) -> tuple[str, int]:
    with pytest.raises(PatternError) as caught:
        check(pattern, flags)
    return caught.value.message, caught.value.index


@each("pattern", ALWAYS)
def test_what_is_always_a_pattern(pattern: str) -> None:
    """With and without the flag u."""
    check(pattern, "")
    check(pattern, "dgimsuy")


@each("pattern", LITERAL)
def test_what_is_a_pattern_without_u(pattern: str) -> None:
    """What Annex B allows, the flag u forbids."""
    assert is_valid(pattern, "gimsyd")
    assert not is_valid(pattern, "u")


@pytest.mark.parametrize("pattern", WITH_U)
def test_what_is_a_pattern_with_u(pattern: str) -> None:
    """Without it a character beyond U+FFFF is two, and ranges of halves are out of order."""
    assert is_valid(pattern, "u")
    assert problem(pattern, "")[0] == "Range out of order in character class"


@each(("pattern", "message", "index"), NEVER)
def test_what_is_never_a_pattern(pattern: str, message: str, index: int) -> None:
    """The message says what is wrong, the index where, in UTF-16 units."""
    assert problem(pattern, "") == (message, index)
    assert not is_valid(pattern, "u")


@each(("pattern", "message", "index"), NOT_WITH_U)
def test_what_u_forbids(pattern: str, message: str, index: int) -> None:
    """The same with the flag u."""
    assert problem(pattern, "u") == (message, index)


def test_units_of_a_text() -> None:
    """A character beyond U+FFFF is two surrogates."""
    assert units_of("a\u00e9\uffff") == "a\u00e9\uffff"
    assert units_of("a😀") == "a\ud83d\ude00"


_UNITS = r"( ) (?: () [ [] { a{1 \ \k< \k<a (?<a> \u{ | (?:| (?i 😀 [😀- ^ a? a** (?=a)* \p{L} [\w-a] (?<n>)|"
HOSTILE = [
    *(unit * (5000 // len(unit)) for unit in _UNITS.split()),
    "(" * 2500 + ")" * 2500,
    "a{" + "9" * 4990 + "}",
    "a{" + "9" * 2000 + "," + "9" * 2000 + "}",
    "\\" * 4999,
    "\\k<" + "a" * 4990,
    "(?<" + "a" * 4990,
    "\\u{" + "0" * 4990,
    "\\u{" + "0" * 4990 + "}",
    "\\" + "9" * 4999,
    "(a)\\" + "1" * 4990,
    "\\p{" + "L" * 4990,
    "(?" + "i" * 4990,
    "(?" + "-" * 4990,
    "".join(f"(?<n{n}>)" for n in range(500)),
    "(?:" * 400 + "".join(f"(?<n{n}>)|" for n in range(300)) + ")|" * 400,
]


def steps(pattern: str, flags: str = "") -> int:
    """Function calls that checking takes: what time is made of, without the machine."""
    count = 0

    def called(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        is_valid(pattern, flags)
    finally:
        sys.setprofile(before)
    return count


def test_hostile_patterns_take_few_steps() -> None:
    """The API checks patterns between other calls: a few steps for each character, and none overflows a stack."""
    for pattern in HOSTILE:
        assert len(pattern) <= 5000
        for flags in ("", "u"):
            assert steps(pattern, flags) < 40 * 5000, pattern[:20]


def test_steps_are_linear() -> None:
    """Ten times the pattern takes about ten times as many, not a hundred times."""
    for unit in ("(?:|", "\\k<aaa", "(?<n>)|", "\\u{11", "[a-b]", "a{1,", "(?i:"):
        short, long = (steps(unit * (size // len(unit))) for size in (2_000, 20_000))
        assert long < 12 * short + 1_000, unit
