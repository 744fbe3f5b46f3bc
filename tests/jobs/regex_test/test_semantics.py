"""Matches, captures and offsets as the ECMAScript specification gives them. Every expected value is derived from it by hand.

What a pattern means is V8's affair. These rows are of what the program around it does: where the next match is looked for, what
a group without a part is, and where half of a character is cut off. test_agreement.py shows that V8 takes what the check takes.
"""

from jobs.regex_test.matching import find
from tests.each import each

Found = tuple[object, ...]
"""Index in UTF-16 units, the match, and what each group captured."""


def found(pattern: str, flags: str, text: str) -> list[Found]:
    matches = find(pattern, flags, text, limit=1000)
    assert matches.count == len(matches.first)
    return [(match.index, match.match, *match.groups) for match in matches.first]


@each(
    ("pattern", "flags", "text", "expected"),
    [
        # Flags reach V8
        ("A.c", "gis", "a\nc", [(0, "a\nc")]),
        ("^a", "gm", "a\na", [(0, "a"), (2, "a")]),
        ("(?<=a)b(?!c)", "g", "abc ab", [(5, "b")]),
        # Captures
        ("", "", "", [(0, "")]),
        ("d", "", "abc", []),
        ("((a)|(ab))((c)|(bc))", "", "abc", [(0, "abc", "a", "a", None, "bc", None, "bc")]),
        ("(z)((a+)?(b+)?(c))*", "", "zaacbbbcac", [(0, "zaacbbbcac", "z", "ac", "a", None, "c")]),
        ("(a)|b", "g", "ab", [(0, "a", "a"), (1, "b", None)]),
        ("(a*)*", "", "b", [(0, "", None)]),
        # Where the next match is looked for
        ("a", "", "aaa", [(0, "a")]),
        ("a", "y", "ba", []),
        ("a", "gy", "aaba", [(0, "a"), (1, "a")]),
        ("|a", "g", "aa", [(0, ""), (1, ""), (2, "")]),
        ("x*", "g", "axxb", [(0, ""), (1, "xx"), (3, ""), (4, "")]),
        ("x*", "gy", "axxb", [(0, ""), (1, "xx"), (3, ""), (4, "")]),
        ("^a", "gmy", "a\na", [(0, "a")]),
        ("(?:)", "gyu", "😀a", [(0, ""), (2, ""), (3, "")]),
        ("", "gu", "😀", [(0, ""), (2, "")]),
        ("", "g", "😀", [(0, ""), (1, ""), (2, "")]),
        # Units and code points
        (".", "gu", "a😀b", [(0, "a"), (1, "😀"), (3, "b")]),
        (".", "g", "😀", [(0, "\ufffd"), (1, "\ufffd")]),
        ("[^x]", "", "😀", [(0, "\ufffd")]),
        ("\\ud83d\\ude00", "", "😀", [(0, "😀")]),
        ("\\ud83d", "u", "😀", []),
        ("\\ude00", "", "😀", [(1, "\ufffd")]),
        ("\\p{L}+", "gu", "añ1Ж", [(0, "añ"), (3, "Ж")]),
    ],
)
def test_matches(pattern: str, flags: str, text: str, expected: list[Found]) -> None:
    """Every match with its index and captures."""
    assert found(pattern, flags, text) == expected


@each(
    ("pattern", "flags", "text", "expected"),
    [
        ("(?<year>\\d{4})-(?<month>\\d\\d)", "", "2026-11", {"year": "2026", "month": "11"}),
        ("(?<a>x)|(?<b>y)", "", "y", {"a": None, "b": "y"}),
        ("(?:(?<a>x)|(?<a>y)|z)", "", "z", {"a": None}),
        ("(?:(?:(?<a>x)|(?<a>y))\\k<a>)+", "", "xxyy", {"a": "y"}),
        ("(?<\\u{1d49c}>a)", "", "a", {"𝒜": "a"}),
        ("(?<__proto__>a)(?<constructor>b)?", "", "a", {"__proto__": "a", "constructor": None}),
        ("(?<toString>a)(b)", "", "ab", {"toString": "a"}),
    ],
)
def test_named_groups(pattern: str, flags: str, text: str, expected: dict[str, str | None]) -> None:
    """In the order of the pattern, null where a group took no part; a name that is used twice has what took part."""
    (match,) = find(pattern, flags, text, limit=1).first

    assert match.named_groups == expected
    assert list(match.named_groups or ()) == list(expected)
