"""Evidence is quoted, never written."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.page.evidence import MAX_MATCHES, evidence
from jobs.engines.page.folding import folded, folded_query
from jobs.engines.page.text import normalised
from tests.each import each

PAGE = """\
# Prices

The **annual** price is \ufb01ne: $100 in STRASSE,  and
more in caf\u00e9 \u30ac.

```
# no heading
snake_case here
```

## Terms ##

Subscriptions renew on the first day. We are paid by AI and by hand.

- x\u0302 marks the spot
"""
ALPHABET = "aA\u00df\ufb01\u0301e\u00e9 \n#*`\uff76\uff9e\u1e9e\u0130\u2126_kK\u212a.x"


def found(query: str) -> list[tuple[str, str, str | None]]:
    return [(match.quote, match.kind, match.heading) for match in evidence(PAGE, query).matches]


@each(
    ("query", "quote", "kind", "heading"),
    [
        ("fine", "\ufb01ne", "phrase", "Prices"),
        ("stra\u00dfe, AND more", "STRASSE,  and\nmore", "phrase", "Prices"),
        ("CAFE\u0301", "caf\u00e9", "phrase", "Prices"),
        ("\uff76\uff9e", "\u30ac", "phrase", "Prices"),
        ("the annual price", "The **annual** price", "phrase", "Prices"),
        ("snake_case", "snake_case", "phrase", "Prices"),
        ("subscription", "Subscription", "part", "Terms"),
        ("first renew", "renew on the first", "words", "Terms"),
        ("ai", "AI", "phrase", "Terms"),
        ("x\u0302", "x\u0302", "phrase", "Terms"),
    ],
)
def test_what_a_reader_would_find_is_found(query: str, quote: str, kind: str, heading: str) -> None:
    """In the form in which the page says it."""
    assert found(query) == [(quote, kind, heading)]


@each("query", ["cafe", "x", "cheap", "spot annual", "prices the annual", "day. We renew never", " "])
def test_what_the_page_does_not_say_is_not_found(query: str) -> None:
    """Not across blocks, not half a character."""
    focus = evidence(PAGE, query)
    assert (focus.found, focus.match_count, focus.matches) == (False, 0, [])


@given(st.text(ALPHABET, max_size=60), st.text(ALPHABET, max_size=6))
def test_every_quote_is_verbatim(text: str, query: str) -> None:
    """With its offsets and its surroundings, and it says what was looked for."""
    markdown = normalised(text)
    for match in evidence(markdown, query).matches:
        assert match.quote == markdown[match.start : match.end]
        assert markdown[: match.start].endswith(match.before)
        assert markdown[match.end :].startswith(match.after)
        if match.kind != "words":
            signs = "*`_\\~"
            assert folded_query(query, without=signs) == folded_query(match.quote, without=signs)


@given(st.text(ALPHABET, min_size=1, max_size=60), st.data())
def test_every_part_of_the_text_is_found(text: str, data: st.DataObject) -> None:
    """If it is cut between two characters and their marks, and is in one block."""
    markdown = normalised(text)
    layer = folded(markdown)
    places = sorted({layer.span(at, at + 1)[0] for at in range(len(layer.text))} | {len(markdown)})
    start, end = sorted((data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))))
    query = markdown[start:end]
    if query.strip() and "\n" not in query and not unicodedata.combining(unicodedata.normalize("NFKD", query)[0]):
        assert evidence(markdown, query).found


def test_only_the_first_matches_are_shown() -> None:
    """All are counted."""
    focus = evidence("berth " * 50, "berth")
    assert (focus.match_count, len(focus.matches)) == (50, MAX_MATCHES)


def test_whole_words_come_before_parts() -> None:
    """A word inside longer ones is evidence only where there is no better one."""
    assert [match.start for match in evidence("party art start", "art").matches] == [6]
    assert [match.kind for match in evidence("party start", "art").matches] == ["part", "part"]
    assert evidence("\u6e2f\u306b\u6ce2", "\u306b").matches[0].kind == "phrase"


HOSTILE = ("a " * 30_000, "# " * 30_000, "`" * 60_000, "\u0301" * 60_000, "\n\n" * 30_000, "ab\n\n" * 15_000)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_take_a_moment(text: str) -> None:
    """Time is linear in the text."""
    begin = time.process_time()
    for query in ("a" * 500, "a b", "`" * 500, "a \u0301 b c"):
        evidence(text, query)
    assert time.process_time() - begin < 20
