"""Decides what the words around a number say about it."""

import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from jobs.engines.text.ascii_runs import Runs
from jobs.engines.text.linear import compiled
from jobs.pii_redact.label_words import (
    ABBREVIATIONS,
    CONNECTORS,
    LABELS,
    NOT_A_PHONE,
    NOT_SOCIAL_SECURITY,
    NUMBER_WORDS,
    NUMBERING,
    POSSESSIVES,
    UNSPACED,
    UNSPACED_CONNECTORS,
    Label,
)
from jobs.pii_redact.surroundings import BARRIER, is_barrier, is_escape, joins_before

__all__ = ["Label", "Labels"]

# Split camelCase and SNAKE_CASE names into words. Scripts without case stay whole.
_WORD = compiled(r"\p{Lu}?[\p{Ll}\pM]+|\p{Lu}+|[\p{Lo}\p{Lm}\pM]+|[§№#☎☏✆📞📱📲📠]")
_LETTERS = Runs(string.ascii_letters + "#")
_UNSPACED_REACH = 12
_GAP = 12
"""How many characters may be between a label and its number, or between the words of a label."""
_REACH = 60
"""How far from a number a word may be that says something about it, in characters."""
_WORDS = 8
_LINKS = ("wa.me/",)
_INITIALS = frozenset("tmpfch")
"""Tel, mobile, phone, fax, cell, home: as capitals with a colon. In lower case they may be any key."""


class Labels:
    """The words of one text, which are looked for when the first number asks for them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_read = False
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._words: list[str] = []

    def _read(self) -> None:
        text = self._text
        self._is_read = True
        has_escapes = "\\" in text
        for start, word in _words(text):
            if has_escapes and len(word) > 1 and is_escape(text, start):
                self._starts.append(start + 1)
                self._words.append(word[1:].lower())
            else:
                self._starts.append(start)
                self._words.append(word.lower())
            self._ends.append(start + len(word))

    def before(self, place: int) -> Label | None:
        """The label of the number at a place: directly before it, or with only "number", "is", "at me" between."""
        if self._text.endswith(_LINKS, 0, place):
            return Label.PHONE
        if not self._is_read:
            self._read()
        is_numbered = False
        following = ""
        index = bisect_right(self._ends, place) - 1
        for at in range(index, max(-1, index - _WORDS), -1):
            if not self._is_beside(self._ends[at], place):
                return None
            word = self._words[at]
            label = self._label(at)
            if label is not None:
                return Label.NUMBER if label is Label.SUBJECT and is_numbered else label
            if following in NUMBER_WORDS and not POSSESSIVES.isdisjoint((word, *self._words[max(0, at - 1) : at])):
                return Label.PHONE
            if word not in CONNECTORS and word not in NUMBERING and not word.endswith(UNSPACED_CONNECTORS):
                return None
            is_numbered = is_numbered or word in NUMBERING
            following = word
            place = self._starts[at]
        return None

    def near(self, place: int) -> Label | None:
        """The nearest label before a number on its line."""
        if not self._is_read:
            self._read()
        index = bisect_right(self._ends, place) - 1
        for at in range(index, max(-1, index - _WORDS), -1):
            if place - self._ends[at] > _REACH or "\n" in self._text[self._ends[at] : place]:
                return None
            label = self._label(at)
            if label is not None:
                return label
        return None

    def after(self, place: int) -> Label | None:
        """The next label on the line, if only connecting words are between, and it does not belong to the next number."""
        if not self._is_read:
            self._read()
        index = bisect_left(self._starts, place)
        for at in range(index, min(index + _WORDS, len(self._words))):
            start = self._starts[at]
            gap = self._text[place : min(start, place + _GAP + 1)]
            if len(gap) > _GAP or any(char in "\n.;" or char.isdigit() or is_barrier(char) for char in gap):
                return None
            label = self._label(at)
            if label is not None or self._words[at] not in CONNECTORS:
                return None if at == index and self._has_number(self._ends[at]) else label
            place = self._ends[at]
        return None

    def _has_number(self, end: int) -> bool:
        """Whether a number follows the word that ends at a place, with only words like "number" and signs like ":" between."""
        index = bisect_left(self._starts, end)
        for place in range(end, min(end + _GAP, len(self._text))):
            char = self._text[place]
            if char.isdigit() or is_barrier(char):
                return True
            if char in "\n,;)]}|":
                return False
            if index < len(self._starts) and place == self._starts[index]:
                if self._words[index] not in CONNECTORS and self._words[index] not in NUMBERING:
                    return False
                index += 1
        return False

    def _is_beside(self, end: int, place: int) -> bool:
        if place - end > _GAP:
            return False
        gap = self._text[end:place]
        if any(char.isdigit() or is_barrier(char) for char in gap):
            return False
        return "\n" not in gap or ":" in gap

    def _label(self, at: int) -> Label | None:
        word = self._words[at]
        start = self._starts[at]
        abbreviated = ABBREVIATIONS.get(self._text[max(0, start - 2) : self._ends[at]].lower())
        if abbreviated is not None and not self._text[max(0, start - 3) : max(0, start - 2)].isalpha():
            return abbreviated
        label = LABELS.get(word)
        if word == "id" and at and self._words[at - 1] == "caller" and start - self._ends[at - 1] <= 1:
            return Label.PHONE
        if label is not None:
            return None if self._is_another_thing(at, word) else label
        if word == "app" and self._glued_before(at) == "whats":
            return Label.PHONE
        if word in _INITIALS:
            is_initial = self._text[start : self._ends[at] + 1] == f"{word.upper()}:"
            return Label.PHONE if is_initial and not joins_before(self._text, start) else None
        if not word.isascii():
            tail = word[-_UNSPACED_REACH:]
            return next((found for found, parts in UNSPACED if any(part in tail for part in parts)), None)
        return Label.NUMBER if word.endswith("nummer") and word not in CONNECTORS else None

    def _is_another_thing(self, at: int, word: str) -> bool:
        if word == "social":
            return self._words[at + 1 : at + 2] != [] and self._words[at + 1] in NOT_SOCIAL_SECURITY
        return word in ("phone", "phones") and self._glued_before(at) in NOT_A_PHONE

    def _glued_before(self, at: int) -> str:
        """The word directly before a word without a separator, such as the first half of "WhatsApp" before the second."""
        return self._words[at - 1] if at and self._ends[at - 1] == self._starts[at] else ""


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The start and the text of each word. Most words of ASCII texts need no expression, with barriers or without."""
    if not text.isascii() and not text.replace(BARRIER, " ").isascii():
        for match in _WORD.finditer(text):
            yield match.start(), match[0] or ""
        return
    for start, run in _LETTERS.find(text):
        if "#" not in run and (run.islower() or run.isupper() or run.istitle()):
            yield start, run
        else:
            for match in _WORD.finditer(run):
                yield start + match.start(), match[0] or ""
