"""The features of the statistical model: hashed words and parts of words, by sentence. Training and scans use the same ones.

A sentence ends at a sign that ends sentences, at a line's end, or after `MOST_TOKENS` tokens. A line that starts with a small
letter continues the one before it. Tokens are lower-case words and single other signs. Each character of a script that writes
no blanks between words is one token.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from jobs.engines.text.table import Table

BUCKETS = 1 << 20
MOST_TOKENS = 48
_MASK = BUCKETS - 1
_LONGEST = 20
"""A longer token is no word: its parts say nothing."""
_SHORTEST_PART, _LONGEST_PART = 3, 5
_FIRST = "^"
"""The token before the first one of a sentence."""
_STOP = "\x00"
_STOPS = (". ", "! ", "? ", "; ", ": ")
_UNSPACED = (
    ("\u0e00", "\u0eff"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\u9fff"),
    ("\uac00", "\ud7a3"),
    ("\U00020000", "\U0003ffff"),
)


@Table
def _signs(sign: str) -> str:
    """What a character becomes: a part of a word, a token, or a blank."""
    if sign.isspace():
        return " "
    if any(low <= sign <= high for low, high in _UNSPACED):
        return f" {sign} "
    if sign.isalnum() or sign == "_" or unicodedata.category(sign).startswith("M"):
        return "0" if sign.isdecimal() else sign
    if unicodedata.category(sign)[0] == "C" or (unicodedata.category(sign) == "So" and sign < "\u2bff"):
        return " "  # frames, boxes and arrows around a text
    return "" if sign in "'’" else f" {sign} "


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its place in the text, and its tokens."""

    start: int
    end: int
    tokens: list[str]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text that have a token, in order."""
    marked = _lines(text.translate(_ENDS))
    for stop in _STOPS:
        marked = marked.replace(stop, stop[0] + _STOP)
    found: list[Sentence] = []
    at = 0
    for part in marked.split(_STOP):
        tokens = _tokens(part)
        if len(tokens) <= MOST_TOKENS:
            if tokens:
                found.append(Sentence(at, at + len(part), tokens))
        else:
            found += _cut(part, at)
        at += len(part) + 1
    return found


_ENDS = {ord(sign): _STOP for sign in "\x0b\x0c\u2028\u2029。｡！？؟۔।॥"} | {ord("\r"): " "}


def _lines(text: str) -> str:
    """Mark the line ends that end a sentence. The length stays."""
    first, *rest = text.split("\n")
    pieces = [first]
    before = first
    for line in rest:
        pieces += (" " if line[:1].islower() and before.strip() else _STOP, line)
        before = line
    return "".join(pieces)


def _tokens(part: str) -> list[str]:
    """The tokens of a sentence. A row of the same sign is one token."""
    row = part.lower().translate(_signs).split()
    return [token for before, token in zip(["", *row], row, strict=False) if token != before or token.isalnum()]


def _cut(part: str, at: int) -> Iterator[Sentence]:
    """A long sentence in pieces, each with its place. A piece ends at a blank where there is one."""
    step = 6 * MOST_TOKENS
    start = 0
    while start < len(part):
        end = min(len(part), start + step)
        if end < len(part):
            end = max(part.rfind(" ", start + step // 2, end), 0) or end
        tokens = _tokens(part[start:end])
        if tokens:
            yield Sentence(at + start, at + end, tokens)
        start = end


def of_token(token: str) -> list[int]:
    """The buckets of a token: of the word, and of its parts of three to five characters."""
    found = [crc32(token.encode()) & _MASK]
    if 1 < len(token) <= _LONGEST:
        marked = f"<{token}>"
        for size in range(_SHORTEST_PART, _LONGEST_PART + 1):
            found += [crc32(marked[i : i + size].encode()) & _MASK for i in range(len(marked) - size + 1)]
    return found


def pairs(tokens: list[str]) -> list[str]:
    """The pairs of neighbours, each once, of which the first one may be the start of the sentence."""
    return list(dict.fromkeys([f"{a} {b}" for a, b in zip([_FIRST, *tokens], tokens, strict=False)]))


def of_pair(pair: str) -> int:
    """The bucket of a pair."""
    return crc32(pair.encode()) & _MASK
