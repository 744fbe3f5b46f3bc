"""Splits a WHOIS text into tokens: pairs, bare lines and notes, with their indentation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_LINES = 3_000
MOST_CHARS = 600
"""How many characters of a line are read. No field needs more."""
LONGEST_KEY = 60

_BREAK = re.compile(r"\r\n|\r|\n")
_BRACKETS = re.compile(r"(?:[a-z]{1,2}\.? {1,3})?\[([^\[\] ][^\[\]]{0,48})\] *(.*)")
_LEADER = re.compile(r"([^.:]{2,50}?) ?\.{2,}(?: ?:|(?= ?\S)(?!\.)) *(.*)")
_IPV6 = frozenset("0123456789abcdefABCDEF:.")
_PHRASES = (
    *("record created on", "record expires on", "record last updated on", "record last modified on"),
    *("record will expire on", "domain created on", "registered on", "registered since", "created on", "expires on"),
)


@dataclass(frozen=True, slots=True)
class Token:
    """One line with content.

    Attributes:
        indent: columns before the text.
        key: folded; empty when the line has none.
        value: the text after the key.
        text: the line, stripped.
        is_note: a comment, or a line after the end of the record.
        is_after_gap: whether a blank line precedes it, or a change from notes to the record or back.
    """

    indent: int
    key: str
    value: str
    text: str
    is_note: bool
    is_after_gap: bool


def fold(text: str) -> str:
    """Normalise a key as in the tables: lower case, one space between words, no leaders or signs."""
    return " ".join(re.sub(r"[\s_.\-*:]+", " ", text.lower()).split())


def tokens(text: str) -> Iterator[Token]:
    """The lines that are not blank."""
    is_after_gap, was_note = True, False
    has_pairs = is_over = False
    for line in _BREAK.split(text)[:MOST_LINES]:
        line = line[:MOST_CHARS].expandtabs(8)
        stripped = line.strip().lstrip("\ufeff")
        indent = len(line) - len(line.lstrip())
        if not stripped.strip("%#*-=;~ "):
            is_after_gap = True
            continue
        is_over = is_over or (has_pairs and stripped.startswith(">>>"))
        if stripped.startswith("** "):
            stripped = stripped[3:]
        if is_over or stripped[0] in "%#*;~>" or stripped.startswith(("--", "[ ", "==")):
            yield Token(indent, "", "", stripped, is_note=True, is_after_gap=is_after_gap or not was_note)
            is_after_gap, was_note = False, True
            continue
        key, value = _pair(stripped)
        has_pairs = has_pairs or key != ""
        yield Token(indent, key, value, stripped, is_note=False, is_after_gap=is_after_gap or was_note)
        is_after_gap, was_note = False, False


def _pair(text: str) -> tuple[str, str]:
    if found := _BRACKETS.fullmatch(text):
        return fold(found[1]), found[2].strip()
    if found := _LEADER.fullmatch(text):
        return fold(found[1]), found[2].strip()
    at = text.find(":")
    wide = text.find("：")
    if wide >= 0 and (at < 0 or wide < at):
        at = wide
    if 0 < at <= LONGEST_KEY and not _is_inside(text, at):
        key = fold(text[:at])
        if key and key.count(" ") < 9:
            return key, text[at + 1 :].strip(" \t:")
    folded = text[:40].lower()
    for phrase in _PHRASES:
        if folded.startswith(phrase + " "):
            return phrase, text[len(phrase) :].strip()
    return "", ""


def _is_inside(text: str, at: int) -> bool:
    """Whether a colon belongs to a URL, a time or an address."""
    after = text[at + 1 : at + 3]
    if after == "//" or after[:1] == ":" or (text[at - 1].isdigit() and after[:1].isdigit()):
        return True
    end = text.find(" ", at)
    word = text[text.rfind(" ", 0, at) + 1 : None if end < 0 else end].strip("[](),")
    return word.count(":") > 1 and set(word) <= _IPV6
