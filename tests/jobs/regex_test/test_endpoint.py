"""The endpoint: what a request may be, and what comes back."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.regex_test import endpoint as regex_test
from jobs.regex_test.endpoint import ENDPOINT, ENGINE, Request, exhausted
from jobs.regex_test.hints import hint
from jobs.regex_test.matching import isolate
from shared.outcome import InvalidInput, failed
from tests.each import each
from tests.jobs.calls import CONTEXT, answer_to, refusal_of, request_of

_request = partial(request_of, ENDPOINT)
_refusal = partial(refusal_of, ENDPOINT)


def _answer(pattern: str, text: str, **more: Any) -> dict[str, Any]:
    return answer_to(ENDPOINT, {"pattern": pattern, "input": text, **more})


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer, but for the time that it takes."""
    answer = answer_to(ENDPOINT, ENDPOINT.example.request)
    assert answer | {"elapsedMs": 0} == ENDPOINT.example.response | {"elapsedMs": 0}


def test_a_match() -> None:
    """Every key is there, null where it does not apply."""
    (match,) = _answer("(?<y>\\d+)-(x)?", "in 2026-", flags="d")["matches"]
    assert match == {
        "match": "2026-",
        "index": 3,
        "length": 5,
        "groups": ["2026", None],
        "namedGroups": {"y": "2026"},
        "indices": [[3, 8], [3, 7], None],
        "namedIndices": {"y": [3, 7]},
    }
    (match,) = _answer("a", "a")["matches"]
    assert (match["groups"], match["namedGroups"], match["indices"], match["namedIndices"]) == ([], None, None, None)


def test_offsets_are_utf_16_units() -> None:
    """As in JavaScript: an emoji is two."""
    (match,) = _answer("b+", "😀é\u0301bb")["matches"]
    assert (match["index"], match["length"]) == (4, 2)


def test_flags_come_back_in_javascripts_order() -> None:
    """Whatever order they are sent in."""
    assert _answer("a", "a", flags="yumisgd")["flags"] == "dgimsuy"
    assert _answer("a", "a", flags="mi")["flags"] == "im"
    assert _answer("a", "a")["flags"] == ""


def test_the_capture_limit() -> None:
    """100 matches unless asked for otherwise; all are counted."""
    for more, shown in (
        ({}, 100),
        ({"captureLimit": 1}, 1),
        ({"captureLimit": 1000}, 150),
        ({"captureLimit": 150}, 150),
    ):
        answer = _answer("a", "a" * 150, flags="g", **more)
        assert (len(answer["matches"]), answer["matchCount"], answer["truncated"]) == (shown, 150, shown < 150)


@each(
    ("pattern", "flags", "text", "says"),
    [
        ("/a+/g", "", "aa", "send `a+`, flags `g`"),
        ("/a+/", "", "aa", "send `a+`"),
        ("/a+/", "", "/aa/", None),
        ("r'a+'", "", "aa", "Python string"),
        ("re.compile(r'a+')", "", "aa", "between its quotes"),
        ('new RegExp("a+", "g")', "", "aa", "between its quotes"),
        ("s/a+/b/g", "", "aa", "send `a+`"),
        ("s/a/b/", "", "s/a/b/", None),
        (r"\Aa", "", "a", "\\A"),
        (r"a\Z", "", "a", "\\Z"),
        (r"[\A\Z]", "", "a", None),
        (r"\\A", "", "a", None),
        ("[[:alpha:]]+", "", "a", "POSIX"),
        ("a{,3}b", "", "aab", "{0,3}"),
        ("a{,3}b", "", "a{,3}b", None),
        ("[{,3}]", "", "a", None),
        (r"\\d+\\.", "", "12.", "two backslashes"),
        (r"\\d", "", r"\d", None),
        (r"C:\\\\", "", "x", None),
        (r"\u{1F600}", "", "\U0001f600", "flag u"),
        (r"\u{1F600}", "u", "\U0001f600", None),
        (r"\x{41}", "", "A", "flag u"),
        (r"\p{L}", "", "a", "flag u"),
        (r"\p{L}", "u", "a", None),
        (r"(?<n>a)\k<n>", "", "a", None),
        ("(?i:a)", "", "a", None),
    ],
)
def test_a_pattern_for_another_engine_has_a_hint(pattern: str, flags: str, text: str, says: str | None) -> None:
    """It is valid, and means something else in JavaScript."""
    found = _answer(pattern, text, flags=flags)["hint"]
    assert (found is None) if says is None else (says in (found or ""))


@each(
    ("pattern", "says"),
    [
        ("(?P<year>a)", "(?<name>...)"),
        ("(?<y>a)(?P=y)", "\\k<name>"),
        ("(?i)a", "`flags`"),
        ("(?x) a", "leave them out"),
        ("(?#x)a", "comment"),
        ("(?>a)", "atomic"),
        ("a++", "possessive"),
        ("a{2}+", "possessive"),
    ],
)
def test_a_refused_pattern_has_a_hint(pattern: str, says: str) -> None:
    """After the sentence of the engine."""
    refusal = _refusal({"pattern": pattern, "input": ""})
    assert (refusal.code, refusal.field) == ("regex_syntax", "pattern")
    assert says in refusal.detail.split(". ", 1)[1]


@settings(deadline=None)
@given(st.text(r"\()[]?P<>:=+*{}AZ/rg'p", max_size=30))
def test_any_pattern_may_be_looked_at(pattern: str) -> None:
    """A hint is one sentence, and never fails."""
    found = hint(pattern, "", matched=False)
    assert found is None or found.endswith(".")


def test_the_engine_is_named() -> None:
    """The name is written down for answers that are given without V8, and is that of the library."""
    assert f"V8 {isolate()._dll.mr_v8_version().decode()}" == ENGINE


def test_a_timeout() -> None:
    """It says what it took, and has no other figures. A child that was killed is answered in the same way."""
    request = {"pattern": "(a+)+$", "input": "a" * 50 + "b", "flags": "ig"}
    answer = answer_to(ENDPOINT, request)
    assert 50 <= answer["elapsedMs"] < 250
    assert answer | {"elapsedMs": 50.0} == msgspec.to_builtins(exhausted(_request(request)))
    shown = {name: value for name, value in answer.items() if value not in (None, [], False)}
    assert shown == {"flags": "gi", "engine": ENGINE, "elapsedMs": answer["elapsedMs"], "error": "regex_timeout"}


@each(
    ("pattern", "flags", "detail"),
    [
        ("(a", "", "Unterminated group, at index 0."),
        ("a)", "g", "Unmatched ')', at index 1."),
        ("😀[b-a]", "", "Range out of order in character class, at index 3."),
        ("😀[b-a]", "u", "Range out of order in character class, at index 3."),
        ("\\p{Nope}", "u", "Invalid property name, at index 0."),
        ("(?<n>a)(?<n>b)", "", "Duplicate capture group name, at index 7."),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: str, flags: str, detail: str) -> None:
    """With what is wrong, where, and nothing of the pattern itself."""
    refusal = _refusal({"pattern": pattern, "flags": flags, "input": "x"})
    assert (refusal.code, refusal.field, refusal.detail) == ("regex_syntax", "pattern", detail)


def test_a_pattern_that_only_v8_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the check before the payment lets one through, the caller gets the same code."""
    monkeypatch.setattr(regex_test, "check", lambda pattern, flags: None)
    request = _request({"pattern": "(canary", "input": "x"})

    with pytest.raises(InvalidInput) as caught:
        ENDPOINT.run(request, CONTEXT)

    assert failed(caught.value).code == "regex_syntax"
    assert caught.value.detail == "Unterminated group."


@each("flags", ["v", "gg", "G", "gimsuydg", "x", " g", "g,i", "ä", "\0"])
def test_flags_that_are_none(flags: str) -> None:
    """Unknown or repeated ones."""
    refusal = _refusal({"pattern": "a", "flags": flags, "input": ""})
    assert (refusal.code, refusal.field) == ("invalid_body", "flags")


def test_bounds() -> None:
    """In code points, of which the largest may need four bytes each; both ends are allowed."""
    largest = {"pattern": "😀" * 5_000, "input": "😀" * 100_000, "flags": "gimsuyd", "captureLimit": 1000}
    body = json.dumps(largest).encode()
    assert len(body) < ENDPOINT.max_body_bytes
    assert ENDPOINT.run(_request(body), CONTEXT).match_count == 20
    assert ENDPOINT.run(_request({"pattern": "", "input": ""}), CONTEXT).match_count == 1


@each(
    "body",
    [
        {},
        {"pattern": "a"},
        {"input": "a"},
        {"pattern": "a", "input": "a", "flags": None},
        {"pattern": "a" * 5_001, "input": "a"},
        {"pattern": "a", "input": "a" * 100_001},
        {"pattern": "a", "input": "a", "captureLimit": 0},
        {"pattern": "a", "input": "a", "captureLimit": 1001},
    ],
)
def test_what_is_refused(body: Any) -> None:
    """Missing, of the wrong type or out of bounds."""
    with pytest.raises(msgspec.ValidationError):
        _request(body)


def test_lone_surrogates_are_no_json() -> None:
    """In a pattern they are written with a backslash more."""
    with pytest.raises(msgspec.DecodeError):
        _request(b'{"pattern": "\\ud83d", "input": "a"}')
    answer = _answer("\\ud83d", "😀", flags="d")
    assert (answer["matches"][0]["match"], answer["matches"][0]["indices"]) == ("\ufffd", [[0, 1]])


def test_patterns_and_texts_are_data() -> None:
    """What would end a literal, a string or a program is text."""
    for text in ("/", "`${1}`", '"); throw 1; ("', "\\", "\u2028", "\0", "*/", "'", "\n", "</script>", "__proto__"):
        escaped = "".join(f"\\u{ord(c):04x}" for c in text)
        (match,) = _answer(escaped, f"a{text}b")["matches"]
        assert (match["match"], match["index"]) == (text, 1)
    assert _answer("/a/g", "/a/g")["matched"]


def test_one_call_leaves_nothing_to_the_next() -> None:
    """The same answer after whatever came between: no lastIndex, no changed prototypes, no matches of others."""
    first = _answer("(a)|b", "ab", flags="gy")
    for pattern, text, flags in (("(a+)+$", "a" * 50 + "b", "g"), ("b", "ab", "y"), ("(?<__proto__>a)", "a", "d")):
        _answer(pattern, text, flags=flags)
        assert _answer("(a)|b", "ab", flags="gy") | {"elapsedMs": 0} == first | {"elapsedMs": 0}


def test_the_api_does_not_load_v8() -> None:
    """Checking a pattern needs none of it."""
    program = """
import sys, msgspec
from jobs.regex_test.endpoint import Request
msgspec.convert({"pattern": "(a+)+$", "input": "a"}, Request)
print(sorted(name for name in sys.modules if name.startswith("py_mini_racer")))
"""
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[3], capture_output=True, check=True, text=True
    )
    assert answer.stdout == "[]\n"


@settings(deadline=None, max_examples=200)
@given(
    st.text(max_size=30) | st.text(st.sampled_from("()[]{}|*+?^$.\\-,:=!<>abck1uwdp😀"), max_size=20),
    st.text(max_size=40),
    st.sampled_from(["", "g", "gu", "gdy", "dgimsuy"]),
)
def test_any_request_is_refused_or_answered(pattern: str, text: str, flags: str) -> None:
    """Never an exception of another kind, and every answer is JSON that a strict reader takes."""
    raw = msgspec.json.encode({"pattern": pattern, "input": text, "flags": flags})
    try:
        request = msgspec.json.decode(raw, type=Request)
    except msgspec.ValidationError as error:
        refusal: Any = error.__cause__
        code = refusal.code
    else:
        code = None
        answer = json.loads(msgspec.json.encode(ENDPOINT.run(request, CONTEXT)))
        assert answer["ok"] is (answer["error"] is None)
        assert answer["matchCount"] == len(answer["matches"]) or answer["truncated"]
    assert code in (None, "regex_syntax")
