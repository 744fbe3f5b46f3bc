"""What patterns match, by the ECMAScript specification. Every expected value is derived from it by hand."""

from __future__ import annotations

from jobs.regex_test.matching import find
from tests.each import each

Found = tuple[object, ...]
"""Index in UTF-16 units, the match, and what each group captured."""


def found(pattern: str, flags: str, text: str) -> list[Found]:
    matches = find(pattern, flags, text, limit=1000)
    assert matches.count == len(matches.first)
    return [(match.index, match.match, *match.groups) for match in matches.first]


LITERALS_AND_DOTS: list[tuple[str, str, str, list[Found]]] = [
    ("", "", "abc", [(0, "")]),
    ("", "", "", [(0, "")]),
    ("b", "", "abc", [(1, "b")]),
    ("d", "", "abc", []),
    ("a/b", "", "xa/b", [(1, "a/b")]),
    ("a.c", "g", "abc a\nc a\rc a\u2028c a\u2029c a\u0085c", [(0, "abc"), (20, "a\u0085c")]),
    ("a.c", "gs", "abc a\nc a\u2028c", [(0, "abc"), (4, "a\nc"), (8, "a\u2028c")]),
    ("[^]", "", "\n", [(0, "\n")]),
    ("[]", "", "abc", []),
    ("a{,2}", "", "aa{,2}", [(1, "a{,2}")]),
    ("x{1", "", "x{1", [(0, "x{1")]),
    ("]}", "", "a]}", [(1, "]}")]),
    ("\\/", "", "a/b", [(1, "/")]),
    ("a b", "", "a b", [(0, "a b")]),
    ("#c", "", "ab#c", [(2, "#c")]),
]

ALTERNATION_AND_GROUPS: list[tuple[str, str, str, list[Found]]] = [
    ("a|ab", "", "abc", [(0, "a")]),
    ("((a)|(ab))((c)|(bc))", "", "abc", [(0, "abc", "a", "a", None, "bc", None, "bc")]),
    ("|a", "g", "aa", [(0, ""), (1, ""), (2, "")]),
    ("a|", "g", "ab", [(0, "a"), (1, ""), (2, "")]),
    ("(a)|b", "g", "ab", [(0, "a", "a"), (1, "b", None)]),
    ("(?:a|b)c", "g", "ac bc", [(0, "ac"), (3, "bc")]),
    ("(a)(b)?", "", "a", [(0, "a", "a", None)]),
    ("()", "", "a", [(0, "", "")]),
    ("(())", "", "a", [(0, "", "", "")]),
    ("(z)((a+)?(b+)?(c))*", "", "zaacbbbcac", [(0, "zaacbbbcac", "z", "ac", "a", None, "c")]),
    ("(a*)*", "", "b", [(0, "", None)]),
    ("(?:a*)*?b", "", "aab", [(0, "aab")]),
    ("(?:(a)|b)*", "", "ab", [(0, "ab", None)]),
    ("(?:(a)|(b))+", "", "aba", [(0, "aba", "a", None)]),
    ("(a|ab)(c|bcd)(d*)", "", "abcd", [(0, "abcd", "a", "bcd", "")]),
    ("(?:)", "g", "ab", [(0, ""), (1, ""), (2, "")]),
]

QUANTIFIERS: list[tuple[str, str, str, list[Found]]] = [
    ("a*", "", "aaa", [(0, "aaa")]),
    ("a*?", "", "aaa", [(0, "")]),
    ("a+?", "", "aaa", [(0, "a")]),
    ("a??", "", "a", [(0, "")]),
    ("a?", "g", "aba", [(0, "a"), (1, ""), (2, "a"), (3, "")]),
    ("a{2}", "g", "aaaaa", [(0, "aa"), (2, "aa")]),
    ("a{2,}", "", "aaaa", [(0, "aaaa")]),
    ("a{2,3}", "g", "aaaaa", [(0, "aaa"), (3, "aa")]),
    ("a{2,3}?", "g", "aaaaa", [(0, "aa"), (2, "aa")]),
    ("a{0}", "", "a", [(0, "")]),
    ("(a){0}b", "", "ab", [(1, "b", None)]),
    ("(?:ab){2}", "", "ababab", [(0, "abab")]),
    ("a[a-z]{2,4}", "", "abcdefghi", [(0, "abcde")]),
    ("a[a-z]{2,4}?", "", "abcdefghi", [(0, "abc")]),
    ("(aa|aabaac|ba|b|c)*", "", "aabaac", [(0, "aaba", "ba")]),
    ("(a*?)(a*)", "", "aa", [(0, "aa", "", "aa")]),
    ("x*y+$", "", "xxyy", [(0, "xxyy")]),
    ("a{0,0}?", "", "a", [(0, "")]),
    ("(?=a)*b", "", "ab", [(1, "b")]),
    ("(?=(a))?b", "", "ab", [(1, "b", None)]),
    ("(?=(a)){1}ab", "", "ab", [(0, "ab", "a")]),
    ("(?!a){2}b", "", "ab", [(1, "b")]),
]

ASSERTIONS: list[tuple[str, str, str, list[Found]]] = [
    ("^a", "g", "aa\na", [(0, "a")]),
    ("^a", "gm", "aa\na\ra\u2028a\u2029a", [(0, "a"), (3, "a"), (5, "a"), (7, "a"), (9, "a")]),
    ("a$", "g", "a\naa", [(3, "a")]),
    ("a$", "gm", "a\naa", [(0, "a"), (3, "a")]),
    ("^", "gm", "a\r\nb", [(0, ""), (2, ""), (3, "")]),
    ("$", "g", "a\n", [(2, "")]),
    ("^$", "", "", [(0, "")]),
    ("\\b", "g", "ab c", [(0, ""), (2, ""), (3, ""), (4, "")]),
    ("\\B", "g", "ab c", [(1, "")]),
    ("\\bé", "", "é", []),
    ("\\B", "g", "", [(0, "")]),
    ("\\b", "g", "", []),
    ("\\bfoo\\b", "g", "foo food foo", [(0, "foo"), (9, "foo")]),
    ("(?=(a+))", "", "baaabac", [(1, "", "aaa")]),
    ("(?=(a+))a*b\\1", "", "baaabac", [(3, "aba", "a")]),
    ("(.*?)a(?!(a+)b\\2c)\\2(.*)", "", "baaabaac", [(0, "baaabaac", "ba", None, "abaac")]),
    ("q(?!u)", "g", "quit qat iraq", [(5, "q"), (12, "q")]),
    ("(?=a|(b))", "g", "ab", [(0, "", None), (1, "", "b")]),
    ("(?!(a)).", "g", "ab", [(1, "b", None)]),
    ("(?=(?=(a)))a", "", "a", [(0, "a", "a")]),
    ("\\d(?=px)", "g", "1px 2em 3px", [(0, "1"), (8, "3")]),
]

LOOKBEHIND: list[tuple[str, str, str, list[Found]]] = [
    ("(?<=\\$)\\d+", "g", "$12 €34 $5", [(1, "12"), (9, "5")]),
    ("(?<!\\$)\\b\\d+", "g", "$12 €34 $5", [(5, "34")]),
    ("(?<=(\\d+)(\\d+))$", "", "1053", [(4, "", "1", "053")]),
    ("(?<=\\1(a))b", "", "aab", [(2, "b", "a")]),
    ("(?<=(a)\\1)b", "", "ab", [(1, "b", "a")]),
    ("(?<=a{2})b", "g", "ab aab", [(5, "b")]),
    ("(?<=^|,)[^,]*", "g", "a,,b", [(0, "a"), (2, ""), (3, "b")]),
    ("(?<=ab(?=c)\\wd)\\w\\w", "", "abcdef", [(4, "ef")]),
    ("(?<=([abc]+)([abc]+))$", "", "abc", [(3, "", "a", "bc")]),
    ("(?<![a-z])b", "g", "ab b", [(3, "b")]),
    ("(?<=.)", "g", "ab", [(1, ""), (2, "")]),
    ("(?<!(^|[ab]))\\w{2}", "", "abcdef", [(3, "de", None)]),
]

BACKREFERENCES: list[tuple[str, str, str, list[Found]]] = [
    ("(a)\\1", "", "aa", [(0, "aa", "a")]),
    ("\\1(a)", "", "aa", [(0, "a", "a")]),
    ("(a\\1)", "", "aa", [(0, "a", "a")]),
    ("(a)|\\1b", "g", "ab", [(0, "a", "a"), (1, "b", None)]),
    ("(['\"])(.*?)\\1", "g", "'a' \"b'c\"", [(0, "'a'", "'", "a"), (4, '"b\'c"', '"', "b'c")]),
    ("(\\w)(\\w)\\2\\1", "", "xabba", [(1, "abba", "a", "b")]),
    ("(a)\\1", "i", "aA", [(0, "aA", "a")]),
    ("(?<x>a)\\k<x>", "", "aa", [(0, "aa", "a")]),
    ("\\k<x>(?<x>a)", "", "aa", [(0, "a", "a")]),
    ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10", "", "abcdefghijj", [(0, "abcdefghijj", *"abcdefghij")]),
    ("(a)\\2", "", "a\x02", [(0, "a\x02", "a")]),
    ("(z)\\18", "", "z\x018", [(0, "z\x018", "z")]),
    ("(?:(a)|b)\\1", "g", "aab", [(0, "aa", "a"), (2, "b", None)]),
    ("^(?:(\\d+)x)?\\s+\\1$", "", "1x 1", [(0, "1x 1", "1")]),
    ("(a*)b\\1+", "", "baaaac", [(0, "b", "")]),
]

ESCAPES: list[tuple[str, str, str, list[Found]]] = [
    ("\\t\\n\\v\\f\\r", "", "\t\n\v\f\r", [(0, "\t\n\v\f\r")]),
    ("\\x41", "", "A", [(0, "A")]),
    ("\\x4", "", "x4", [(0, "x4")]),
    ("\\u0041", "", "A", [(0, "A")]),
    ("\\u{41}", "u", "A", [(0, "A")]),
    ("\\u{2}", "", "uu", [(0, "uu")]),
    ("\\u004", "", "u004", [(0, "u004")]),
    ("\\0", "", "a\0", [(1, "\0")]),
    ("\\cA", "", "\x01", [(0, "\x01")]),
    ("\\ca", "", "\x01", [(0, "\x01")]),
    ("\\c1", "", "\\c1", [(0, "\\c1")]),
    ("[\\c1]", "", "\x11", [(0, "\x11")]),
    ("[\\c_]", "", "\x1f", [(0, "\x1f")]),
    ("[\\c*]", "g", "\\c*", [(0, "\\"), (1, "c"), (2, "*")]),
    ("\\101", "", "A", [(0, "A")]),
    ("\\8", "", "8", [(0, "8")]),
    ("\\400", "", " 0", [(0, " 0")]),
    ("\\e\\_\\-", "", "e_-", [(0, "e_-")]),
    ("\\k", "", "k", [(0, "k")]),
    ("\\k<a>", "", "k<a>", [(0, "k<a>")]),
    ("\\p{L}", "", "p{L}", [(0, "p{L}")]),
    ("\\d+", "g", "12 ٣٤", [(0, "12")]),
    ("\\w+", "g", "a_1é", [(0, "a_1")]),
    ("\\s", "g", "a\u00a0\ufeff\u2003\u1680\u180e\u200b", [(1, "\u00a0"), (2, "\ufeff"), (3, "\u2003"), (4, "\u1680")]),
    ("\\S\\D\\W", "", "ab!", [(0, "ab!")]),
    ("\\.", "g", "a.b", [(1, ".")]),
]

CLASSES: list[tuple[str, str, str, list[Found]]] = [
    ("[a-c]+", "", "xabcd", [(1, "abc")]),
    ("[^a-c]+", "", "abxyc", [(2, "xy")]),
    ("[-a]", "g", "-a", [(0, "-"), (1, "a")]),
    ("[a-]", "g", "-a", [(0, "-"), (1, "a")]),
    ("[a^]", "g", "a^", [(0, "a"), (1, "^")]),
    ("[\\]]", "", "]", [(0, "]")]),
    ("[\\b]", "", "a\b", [(1, "\b")]),
    ("[\\d-z]", "g", "1-z", [(0, "1"), (1, "-"), (2, "z")]),
    ("[\\w.]+", "", "!a.b", [(1, "a.b")]),
    ("[\\101-\\103]+", "", "ABCD", [(0, "ABC")]),
    ("[.*+?]", "g", ".*+?", [(0, "."), (1, "*"), (2, "+"), (3, "?")]),
    ("[\\s\\S]", "g", "a\n", [(0, "a"), (1, "\n")]),
    ("[^\\d\\s]", "g", "1 a", [(2, "a")]),
    ("[$(|]", "g", "$(|", [(0, "$"), (1, "("), (2, "|")]),
]

IGNORE_CASE: list[tuple[str, str, str, list[Found]]] = [
    ("abc", "i", "xABc", [(1, "ABc")]),
    ("[a-z]+", "i", "ABC", [(0, "ABC")]),
    ("[^a]", "i", "A", []),
    ("é", "i", "É", [(0, "É")]),
    ("ß", "i", "ẞ", []),
    ("ß", "iu", "ẞ", [(0, "ẞ")]),
    ("\u212a", "i", "k", []),
    ("\u212a", "iu", "k", [(0, "k")]),
    ("\\w", "i", "\u017f", []),
    ("\\w", "iu", "\u017f", [(0, "\u017f")]),
    ("σ", "i", "ς", [(0, "ς")]),
    ("\\u{10400}", "iu", "\U00010428", [(0, "\U00010428")]),
    ("i", "i", "İ", []),
    ("[\\u0041-\\u005a]", "i", "q", [(0, "q")]),
    ("(?i:a)b", "g", "AB Ab ab", [(3, "Ab"), (6, "ab")]),
    ("(?-i:a)b", "gi", "AB aB ab", [(3, "aB"), (6, "ab")]),
]

MODIFIERS: list[tuple[str, str, str, list[Found]]] = [
    ("(?s:.)a.", "", "\nab", [(0, "\nab")]),
    ("(?-s:.)", "gs", "\na", [(1, "a")]),
    ("(?m:^)a", "g", "a\na", [(0, "a"), (2, "a")]),
    ("(?i:a(?-i:b))c", "", "Abc", [(0, "Abc")]),
    ("(?i:a(?-i:b))c", "", "ABc", []),
    ("(?im-s:^a.)", "g", "b\nA!", [(2, "A!")]),
]

UNICODE: list[tuple[str, str, str, list[Found]]] = [
    (".", "gu", "a😀b", [(0, "a"), (1, "😀"), (3, "b")]),
    (".", "g", "😀", [(0, "\ufffd"), (1, "\ufffd")]),
    ("^.$", "", "😀", []),
    ("^.$", "u", "😀", [(0, "😀")]),
    ("😀{2}", "u", "😀😀", [(0, "😀😀")]),
    ("😀{2}", "", "😀😀", []),
    ("[😀😁]", "u", "x😁", [(1, "😁")]),
    ("[^x]", "u", "😀", [(0, "😀")]),
    ("[^x]", "", "😀", [(0, "\ufffd")]),
    ("\\u{1F600}", "u", "😀", [(0, "😀")]),
    ("\\ud83d\\ude00", "u", "😀", [(0, "😀")]),
    ("\\ud83d\\ude00", "", "😀", [(0, "😀")]),
    ("\\ud83d", "", "😀", [(0, "\ufffd")]),
    ("\\ud83d", "u", "😀", []),
    ("\\ude00", "", "😀", [(1, "\ufffd")]),
    ("", "gu", "😀", [(0, ""), (2, "")]),
    ("", "g", "😀", [(0, ""), (1, ""), (2, "")]),
    ("\\p{L}+", "gu", "añ1Ж", [(0, "añ"), (3, "Ж")]),
    ("\\P{L}", "u", "a1", [(1, "1")]),
    ("\\p{Lu}", "gu", "aBÉ", [(1, "B"), (2, "É")]),
    ("\\p{Script=Greek}+", "u", "abγδ", [(2, "γδ")]),
    ("\\p{sc=Cyrillic}", "u", "Ж", [(0, "Ж")]),
    ("\\p{scx=Hira}", "u", "ー", [(0, "ー")]),
    ("\\p{Script=Hiragana}", "u", "ー", []),
    ("\\p{Emoji_Presentation}", "gu", "1😀", [(1, "😀")]),
    ("\\p{ASCII_Hex_Digit}+", "u", "xfF9g", [(1, "fF9")]),
    ("[\\p{Nd}_]+", "u", "a_٣", [(1, "_٣")]),
    ("\\p{Any}", "u", "\n", [(0, "\n")]),
    ("\\S", "gu", " 😀", [(1, "😀")]),
    ("(?<=😀)x", "u", "😀x", [(2, "x")]),
    ("(?<=\\ud83d)\\ude00", "", "😀", [(1, "\ufffd")]),
    ("(?<=\\ud83d)\\ude00", "u", "😀", []),
]

GLOBAL_AND_STICKY: list[tuple[str, str, str, list[Found]]] = [
    ("a", "", "aaa", [(0, "a")]),
    ("a", "g", "aXa", [(0, "a"), (2, "a")]),
    ("a", "y", "ba", []),
    ("a", "y", "aa", [(0, "a")]),
    ("a", "gy", "aaba", [(0, "a"), (1, "a")]),
    ("a|(?=b)", "g", "ab", [(0, "a"), (1, "")]),
    ("x*", "g", "axxb", [(0, ""), (1, "xx"), (3, ""), (4, "")]),
    ("x*", "gy", "axxb", [(0, ""), (1, "xx"), (3, ""), (4, "")]),
    ("^a", "gy", "aa", [(0, "a")]),
    ("^a", "gmy", "a\na", [(0, "a")]),
    ("", "gy", "ab", [(0, ""), (1, ""), (2, "")]),
    ("(?:)", "gyu", "😀a", [(0, ""), (2, ""), (3, "")]),
    ("$", "y", "", [(0, "")]),
    ("\\w\\w", "g", "abcde", [(0, "ab"), (2, "cd")]),
    ("(?=a)", "g", "aba", [(0, ""), (2, "")]),
    ("a*?", "g", "aa", [(0, ""), (1, ""), (2, "")]),
]

NAMES: list[tuple[str, str, str, dict[str, str | None]]] = [
    ("(?<year>\\d{4})-(?<month>\\d\\d)", "", "2026-11", {"year": "2026", "month": "11"}),
    ("(?<a>x)|(?<b>y)", "", "y", {"a": None, "b": "y"}),
    ("(?:(?<a>x)|(?<a>y))", "", "x", {"a": "x"}),
    ("(?:(?<a>x)|(?<a>y))", "", "y", {"a": "y"}),
    ("(?:(?<a>x)|(?<a>y)|z)", "", "z", {"a": None}),
    ("(?:(?:(?<a>x)|(?<a>y))\\k<a>)+", "", "xxyy", {"a": "y"}),
    ("(?<$>a)(?<_>b)", "", "ab", {"$": "a", "_": "b"}),
    ("(?<Ж>a)(?<\\u0061>b)", "", "ab", {"Ж": "a", "a": "b"}),
    ("(?<\\u{1d49c}>a)", "", "a", {"𝒜": "a"}),
    ("(?<𝒜>a)", "u", "a", {"𝒜": "a"}),
    ("(?<__proto__>a)(?<constructor>b)?", "", "a", {"__proto__": "a", "constructor": None}),
    ("(?<toString>a)(b)", "", "ab", {"toString": "a"}),
]

TABLES = {
    "literals and dots": LITERALS_AND_DOTS,
    "alternation and groups": ALTERNATION_AND_GROUPS,
    "quantifiers": QUANTIFIERS,
    "assertions": ASSERTIONS,
    "lookbehind": LOOKBEHIND,
    "backreferences": BACKREFERENCES,
    "escapes": ESCAPES,
    "classes": CLASSES,
    "ignore case": IGNORE_CASE,
    "modifiers": MODIFIERS,
    "unicode": UNICODE,
    "global and sticky": GLOBAL_AND_STICKY,
}


@each("table", TABLES)
def test_matches(table: str) -> None:
    """Every match with its index and captures; the flags y and u say where the next one is looked for."""
    for pattern, flags, text, expected in TABLES[table]:
        assert (pattern, flags, text, found(pattern, flags, text)) == (pattern, flags, text, expected)


@each(("pattern", "flags", "text", "expected"), NAMES)
def test_named_groups(pattern: str, flags: str, text: str, expected: dict[str, str | None]) -> None:
    """In the order of the pattern, null where a group took no part; a name that is used twice has what took part."""
    (match,) = find(pattern, flags, text, limit=1).first

    assert match.named_groups == expected
    assert list(match.named_groups or ()) == list(expected)
