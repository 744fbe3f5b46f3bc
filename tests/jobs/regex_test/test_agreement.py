"""The check before the payment and V8 agree about what a regular expression is."""

import json
import random
from collections.abc import Iterator

import pytest

from jobs.regex_test import unicode
from jobs.regex_test.syntax import PatternError, check
from jobs.regex_test.unicode import is_part, is_property, is_start
from jobs.regex_test.v8 import Isolate
from tests.jobs.regex_test.patterns import ALWAYS, LITERAL, NEVER, NOT_WITH_U, WITH_U

JUDGE = """({
  judge: (questions) => JSON.stringify(JSON.parse(questions).map(([pattern, flags]) => {
    try { new RegExp(pattern, flags); return true; } catch { return false; }
  }))
})"""


@pytest.fixture(scope="module")
def v8() -> Iterator[Isolate]:
    """Says whether it takes each of some patterns with flags."""
    isolate = Isolate(JUDGE)
    yield isolate
    isolate.close()


def verdicts(v8: Isolate, questions: list[tuple[str, str]]) -> list[bool]:
    answers: list[bool] = json.loads(v8.call("judge", json.dumps(questions), limit_s=60).text)
    return answers


def is_valid(pattern: str, flags: str) -> bool:
    try:
        check(pattern, flags)
    except PatternError:
        return False
    return True


def disagreements(v8: Isolate, questions: list[tuple[str, str]]) -> list[tuple[str, str]]:
    answers = zip(questions, verdicts(v8, questions), strict=True)
    return [question for question, answer in answers if is_valid(*question) != answer]


def test_the_tables(v8: Isolate) -> None:
    """Whatever the tables say, V8 says, too."""
    with_either = [*ALWAYS, *LITERAL, *WITH_U, *(row[0] for row in NEVER), *(row[0] for row in NOT_WITH_U)]

    assert disagreements(v8, [(pattern, flags) for pattern in with_either for flags in ("", "u")]) == []


_PIECES = r"""
( ) (?: (?= (?! (?<= (?<! (?<a> (?<b> (?<\u0061> (?<𝒜> (?i: (?i-s: (?-: (? (?< | | * + ? {2} {2,} {3,2} { } {, {1,
{2147483648,2147483647} ^ $ . a b - ] [ [^ [a-z] [\d-a] [\c0] [\k] [😀-😁] \ \d \b \k \k<a> \k<b> \k< \1 \2 \10 \8 \0 \00
\377 \c \cA \c_ \x \x41 \u \u0041 \u{ \u{41} \u{110000} \ud83d \ude00 \p \p{L} \p{gc=L} \p{L=gc} \p{Foo} \p{ \/ \- \_ \😀
é / < > = ! : i , 1 u k
"""
PIECES = ["\n", "\0", *_PIECES.split()]


def test_random_patterns(v8: Isolate) -> None:
    """6000 times pieces of patterns thrown together, a fifth of which are valid."""
    chance = random.Random(2026)
    questions = [
        ("".join(chance.choices(PIECES, k=chance.randint(1, 12))), chance.choice(("", "u", "gimsyd")))
        for _ in range(6000)
    ]

    assert disagreements(v8, questions) == []
    assert 1000 < sum(is_valid(*question) for question in questions) < 5000


@pytest.mark.parametrize("flags", ["", "u"])
def test_short_patterns(v8: Isolate, flags: str) -> None:
    """All patterns of up to three of these characters."""
    alphabet = r"()[]{}|*?^\-,:=!<>1acku"

    assert (
        disagreements(v8, [(a + b + c, flags) for a in alphabet for b in ("", *alphabet) for c in ("", *alphabet)])
        == []
    )


def test_characters_of_names(v8: Isolate) -> None:
    """Every character that V8 allows at the start of a name, or inside it, is allowed. Python's Unicode may be newer."""
    points = [*range(0x80, 0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x1F000), *range(0x2A000, 0x32400, 0x10)]
    starts = verdicts(v8, [(f"(?<{chr(point)}>)", "") for point in points])
    parts = verdicts(v8, [(f"(?<a{chr(point)}>)", "") for point in points])

    assert [hex(point) for point, allowed in zip(points, starts, strict=True) if allowed and not is_start(point)] == []
    assert [hex(point) for point, allowed in zip(points, parts, strict=True) if allowed and not is_part(point)] == []
    assert sum(map(is_start, points)) < sum(map(is_part, points)) < len(points)


def test_properties(v8: Isolate) -> None:
    """All names that we know, and some that are none, wherever a name may stand."""
    known = unicode._CATEGORY_NAMES | unicode._BINARY_NAMES | unicode._SCRIPT_NAMES
    names = sorted(known | {"Hrkt", "RGI_Emoji", "greek"})
    keys = ("gc", "General_Category", "sc", "Script", "scx", "Script_Extensions", "Lu", "")
    asked = [(name, None) for name in names] + [(key, name) for name in names for key in keys]
    patterns = [rf"\p{{{name}}}" if value is None else rf"\p{{{name}={value}}}" for name, value in asked]

    assert verdicts(v8, [(pattern, "u") for pattern in patterns]) == [is_property(*pair) for pair in asked]
