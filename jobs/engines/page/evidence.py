"""Finds where a text says what a caller looks for, and quotes it verbatim."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec

from jobs.engines.page.folding import folded, folded_query
from jobs.engines.page.markdown import FENCE
from jobs.engines.text.layer import Layer
from jobs.fields import doc

MAX_MATCHES = 10
CONTEXT = 120
"""Code points of `before` and `after`."""
_MAX_COUNTED = 1_000
_SYNTAX = "*`_\\~"
"""Markdown's signs inside a line. They are not part of what a reader sees."""

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_WORD = re.compile(r"\w+")
_BLOCK = re.compile(r"[^\n]+(?:\n[^\n]+)*")

# Scripts that do not separate words: every character may begin one.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A place that says what was looked for."""

    quote: Annotated[str, doc("The text there, verbatim: `markdown[start:end]`.")]
    start: Annotated[int, doc("0-based offset of its first character in `markdown`, in Unicode code points.")]
    end: Annotated[int, doc("Offset of the first character after it.")]
    kind: Annotated[
        Literal["phrase", "part", "words"],
        doc("`phrase`, the text as a whole; `part`, inside longer words; `words`, all its words in one block."),
    ]
    heading: Annotated[str | None, doc("The heading above it. Null when there is none.")]
    before: Annotated[str, doc("Up to 120 characters before it, verbatim.")]
    after: Annotated[str, doc("Up to 120 characters after it, verbatim.")]


class Focus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Evidence for a text."""

    query: Annotated[str, doc("The text that was looked for.")]
    found: Annotated[bool, doc("Whether the page says it.")]
    match_count: Annotated[int, msgspec.Meta(ge=0), doc("How often the page says it, counted up to 1,000.")]
    matches: Annotated[list[Match], doc("The first ten places, all of one kind, in the order of the page.")]


class _Span(NamedTuple):
    start: int
    end: int
    kind: Literal["phrase", "part", "words"]


def evidence(markdown: str, query: str) -> Focus:
    """Find a query in a text: as a phrase, else inside words, else as words of one block."""
    spans = _phrases(markdown, query, without="") or _phrases(markdown, query, without=_SYNTAX)
    spans = spans or _all_words(markdown, query)
    headings = _headings(markdown) if spans else []
    return Focus(
        query=query,
        found=bool(spans),
        match_count=len(spans),
        matches=[_match(markdown, span, headings) for span in spans[:MAX_MATCHES]],
    )


def _phrases(markdown: str, query: str, *, without: str) -> list[_Span]:
    """Every place of the whole query: those that cut no word in two, or where there are none, the others."""
    needle = folded_query(query, without=without)
    if not needle:
        return []
    text = folded(markdown, without=without)
    whole: list[_Span] = []
    parts: list[_Span] = []
    for start, end in _places(text.text, needle):
        if not text.is_whole(start, end):
            continue
        first, last = text.span(start, end)
        if _cuts_word(text.text, start) or _cuts_word(text.text, end):
            parts.append(_Span(first, last, "part"))
        else:
            whole.append(_Span(first, last, "phrase"))
        if len(whole) >= _MAX_COUNTED:
            break
    return whole or parts[:_MAX_COUNTED]


def _places(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + len(needle))


def _cuts_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    pair = text[at - 1 : at + 1]
    return pair.isalnum() and not _UNSPACED.search(pair)


def _all_words(markdown: str, query: str) -> list[_Span]:
    """In each block that has all words of the query: the shortest range with all of them."""
    wanted = frozenset(_WORD.findall(folded_query(query)))
    if len(wanted) < 2:
        return []
    spans: list[_Span] = []
    for block in _BLOCK.finditer(markdown):
        text = folded(block[0])
        shortest = _shortest_range(text, wanted)
        if shortest is not None:
            spans.append(_Span(block.start() + shortest[0], block.start() + shortest[1], "words"))
        if len(spans) >= _MAX_COUNTED:
            break
    return spans


def _shortest_range(text: Layer, wanted: frozenset[str]) -> tuple[int, int] | None:
    last: dict[str, int] = {}
    best: tuple[int, int] | None = None
    for word in _WORD.finditer(text.text):
        if word[0] not in wanted or not text.is_whole(word.start(), word.end()):
            continue
        last[word[0]] = word.start()
        if len(last) == len(wanted):
            start = min(last.values())
            if best is None or word.end() - start < best[1] - best[0]:
                best = start, word.end()
    return text.span(*best) if best else None


def _headings(markdown: str) -> list[tuple[int, str]]:
    """Each heading with its place, and nothing inside a block of code."""
    headings: list[tuple[int, str]] = []
    at, fence = 0, ""
    for line in markdown.split("\n"):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence):
            fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            headings.append((at, line[heading.end() :].rstrip(" \t#")))
        at += len(line) + 1
    return headings


def _match(markdown: str, span: _Span, headings: list[tuple[int, str]]) -> Match:
    above = [text for at, text in headings if at <= span.start]
    return Match(
        quote=markdown[span.start : span.end],
        start=span.start,
        end=span.end,
        kind=span.kind,
        heading=above[-1] if above else None,
        before=markdown[max(0, span.start - CONTEXT) : span.start],
        after=markdown[span.end : span.end + CONTEXT],
    )
