"""What matching takes and gives at most: time, memory, matches."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.regex_test import matching
from jobs.regex_test.cursor import PatternError, units_of
from jobs.regex_test.matching import LIMIT_S, MAX_MATCHES_BYTES, Exhausted, Match, Matches, find
from jobs.regex_test.syntax import check
from tests.each import each


def test_the_first_matches_are_kept_and_all_are_counted() -> None:
    """Given more matches than asked for, then the first of them come back, the same as without a limit."""
    text = "abcabc" * 50
    everything = find("b(c)?", "gd", text, limit=1000)
    for limit in (1, 2, 99, 100, 101):
        some = find("b(c)?", "gd", text, limit=limit)
        assert some.count == everything.count == 100
        assert some.first == everything.first[:limit]


def test_zero_length_matches_are_counted_within_the_time() -> None:
    """One before each unit of the longest text and one at its end; by code points with the flag u."""
    assert find("", "g", "a" * 100_000, limit=1000).count == 100_001
    assert find("", "gd", "a" * 100_000, limit=1).count == 100_001
    assert find("", "g", "😀" * 100_000, limit=1).count == 200_001
    assert find("", "gu", "😀" * 100_000, limit=1).count == 100_001
    assert find("(?<n>)(x)?", "gdy", "a" * 100_000, limit=1000).count == 100_001


CATASTROPHIC: list[tuple[str, str]] = [
    ("(a+)+$", "a" * 40 + "b"),
    ("^(a|a)*$", "a" * 40 + "b"),
    ("(x+x+)+y", "x" * 60),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 60),
    ("(?:(?:(?:a*)*)*)*b", "a" * 60),
    ("(a{1,10}){1,10}$", "a" * 100 + "b"),
    (r"^(?:(a+)\1*)+$", "a" * 60 + "b"),
    (r"(.*)\1\1\1x", "ab" * 2000),
    (r"(?<=^b(a|a)*)c", "a" * 60 + "c"),
    (r"(?<!^b(?:a|a)*)c", "a" * 60 + "c"),
    ("(?=(a+)+c)a*b", "a" * 60 + "b"),
    ("(.*)*(.*)*(.*)*x", "a" * 5_000),
    (r"(?:.|\n)*x", "a" * 100_000),
    ("(?:" + "|".join("a" * n for n in range(1, 60)) + ")*b", "a" * 100),
    (r"\s+$", " " * 100_000 + "x"),
    ("(?=(.*))", "a" * 100_000),
]


@each(("pattern", "text"), CATASTROPHIC, ids=[pattern[:30] for pattern, _ in CATASTROPHIC])
def test_catastrophic_patterns_end(pattern: str, text: str) -> None:
    """At 50 ms of CPU time, and the next pattern is answered."""
    with pytest.raises(Exhausted) as caught:
        find(pattern, "g", text, limit=1000)

    assert caught.value.cpu_s >= LIMIT_S
    assert find("b", "", "abc", limit=1).count == 1


def written(matches: Matches) -> int:
    return len(msgspec.json.encode(matches.first))


@pytest.mark.parametrize(
    ("pattern", "flags", "text"),
    [
        ("(?=(.*))", "g", "x" * 5_000),
        ("(?=(.*))", "gs", "\x01" * 4_000),
        ("(?=(.*))", "gu", "漢" * 4_000),
        ("(?=(.*))", "gu", "😀" * 2_000),
        ("(?=(.*))", "g", '"' * 5_000),
        ("(?=(?<name>.*))", "gd", "x" * 4_000),
        ("()" * 1_000, "g", "x" * 700),
        ("(y)?" * 1_000, "g", "x" * 700),
        ("()" * 500, "gd", "x" * 500),
    ],
)
def test_matches_have_one_mebibyte(pattern: str, flags: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are made of: fewer come back then, as many as fit, and all are counted."""
    # In a process of many tests other threads use time as well, and it is not the limit that this is about.
    monkeypatch.setattr(matching, "LIMIT_S", 5.0)
    matches = find(pattern, flags, text, limit=1000)

    assert len(matches.first) < min(1000, matches.count)
    one = len(msgspec.json.encode(matches.first[0]))
    assert MAX_MATCHES_BYTES * 0.9 - one < written(matches) < MAX_MATCHES_BYTES + 2 + len(matches.first)


def test_a_match_that_is_larger_is_left_out() -> None:
    """Thirteen times the whole text: it is counted and not shown."""
    matches = find("(" * 12 + ".*" + ")" * 12, "s", "x" * 100_000, limit=1)
    assert (matches.count, matches.first) == (1, [])
    assert len(find("(.*)", "s", "x" * 100_000, limit=1).first) == 1
    assert len(find(".*", "s", "\x01" * 100_000, limit=1).first) == 1


def test_halves_of_surrogate_pairs() -> None:
    """Are written as U+FFFD wherever they are; offsets and lengths are those of the real text."""
    matches = find("(?<half>.)(.)?", "gd", "a😀", limit=10)

    assert matches.first == [
        Match("a\ufffd", 0, 2, ["a", "\ufffd"], {"half": "a"}, [(0, 2), (0, 1), (1, 2)], {"half": (0, 1)}),
        Match("\ufffd", 2, 1, ["\ufffd", None], {"half": "\ufffd"}, [(2, 3), (2, 3), None], {"half": (2, 3)}),
    ]


def test_what_v8_refuses() -> None:
    """It is reported if the check before the payment lets it through. The pattern is no part of the message."""
    for pattern in ("(", "a: (", "[z-a]", "(?<a>.)\\k<b>"):
        with pytest.raises(PatternError) as caught:
            find(pattern, "", "canary", limit=1)
        assert ":" not in caught.value.message
        assert pattern not in caught.value.message


_ATOMS = r"a b . ^ $ | \b \B \d \w \s [ab] [^a] \ud83d 😀 é \1 \2 \k<n> \uDE00"
ATOMS = st.sampled_from(_ATOMS.split())


def quantified(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.sampled_from(["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?i:"])
    quantifier = st.sampled_from(["", "", "*", "+", "?", "{2}", "{0,3}", "*?", "+?", "??"])
    return st.builds(lambda o, i, q: f"{o}{i}){q}", group, inner, quantifier) | st.builds(
        lambda a, b: a + b, inner, inner
    )


PATTERNS = st.recursive(ATOMS, quantified, max_leaves=8)
FLAGS = st.sets(st.sampled_from("dgimsuy")).map(lambda flags: "".join(sorted(flags)))
TEXTS = st.text(st.sampled_from("ab 1\n😀é\ud7ff\uffff"), max_size=12)


def is_match(match: Match, units: str) -> bool:
    def cut(start: int, end: int) -> str:
        piece = units[start:end].encode("utf-16-le", "surrogatepass")
        return piece.decode("utf-16-le", "surrogatepass")  # joins pairs

    def fits(said: str | None, place: Any) -> bool:
        if place is None or said is None:
            return place is None and said is None
        start, end = place
        real = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in cut(start, end))
        return 0 <= start <= end <= len(units) and said == real

    whole = (match.index, match.index + match.length)
    if not fits(match.match, whole):
        return False
    if match.indices is None:
        return match.named_indices is None
    assert match.indices[0] == whole
    assert (match.named_groups is None) == (match.named_indices is None)
    pairs = [*zip(match.groups, match.indices[1:], strict=True)]
    if match.named_groups is not None and match.named_indices is not None:
        pairs += [(match.named_groups[name], match.named_indices[name]) for name in match.named_groups]
    return all(fits(said, place) for said, place in pairs)


@settings(deadline=None, max_examples=300)
@given(PATTERNS, FLAGS, TEXTS, st.integers(1, 5))
def test_any_pattern_on_any_text(pattern: str, flags: str, text: str, limit: int) -> None:
    """The check and V8 agree; offsets cut every match and capture out of the text's UTF-16 units; matches are in order."""
    try:
        check(pattern, flags)
    except PatternError:
        with pytest.raises(PatternError):
            find(pattern, flags, text, limit=limit)
        return

    matches = find(pattern, flags, text, limit=limit)

    units = units_of(text)
    assert len(matches.first) == min(limit, matches.count)
    assert matches.count <= (len(units) + 1 if "g" in flags else 1)
    assert all(is_match(match, units) for match in matches.first)
    assert all((match.indices is not None) == ("d" in flags) for match in matches.first)
    ends = [0] + [match.index + match.length for match in matches.first]
    assert all(end <= match.index for end, match in zip(ends, matches.first, strict=False))
