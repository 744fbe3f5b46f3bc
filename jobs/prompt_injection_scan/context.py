"""Decides whether words address a model or only talk about one: reports, prohibitions, quoted examples, program code.

A finding in words that only talk about it becomes low. A prohibition is not a finding. Quotation marks alone change nothing:
`The customer wrote: "Ignore all previous instructions."` is how an injection arrives.
"""

import enum
from bisect import bisect_right
from dataclasses import dataclass

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import Haystack, Pattern
from jobs.prompt_injection_scan.rules import RuleBook

_BEFORE = 240
"""How many characters of the original are read before a finding."""
_AFTER = 140
_NEAR = 120
_QUOTED = 600
"""Characters of the longest quotation."""
_LISTED = 2_000
"""How many characters of a list in a program are read before one of its strings."""
_PREFIXES = " \tbfruBFRU"
"""Characters that may precede a string on its line."""
_NEGATION = 6
"""The most words between `never` and the verb."""
_ADJACENT = 2
_NEAREST = 10
_FENCE = Pattern("```")
_LIST_MARKS = ("\t", ">", "|", "#", "- ", "* ", "+ ", "• ")
_IN_NAMES = str.maketrans("", "", "_.(")
_PAIRS = {"“": "”", "„": "“”", "«": "»", "»": "«", "‘": "’", "「": "」", "『": "』", '"': '"', "`": "`", "'": "'"}


class Speech(enum.Enum):
    """Who is addressed."""

    TO_A_MODEL = enum.auto()
    ABOUT_IT = enum.auto()
    FORBIDDEN = enum.auto()


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The words around a place, and its layout.

    Attributes:
        sentence: the words before it in its sentence, or in the sentence that ends with a colon directly before it.
        lead: the words before it in any sentence.
        rest: the words after it in its sentence.
        quoted: it is in quotation marks or a code block.
        listed: it is in a list, a table, a heading, an indented block, or quoted as in a mail.
        code: it is a string in a program.
    """

    sentence: str
    lead: str
    rest: str
    quoted: bool
    listed: bool
    code: bool


class Reader:
    """Reads the text around the findings."""

    def __init__(self, text: str, view: Layer, book: RuleBook) -> None:
        """Take a text, and its plainest words view."""
        self._text = text
        self._view = view
        self._book = book
        self._topical = book.cues["topic"].found_in(view.text)
        self._fences = [end for _, end in _FENCE.spans(Haystack(text), len(text))]

    def around(self, start: int, end: int) -> str:
        """The words view of a place and its neighbourhood."""
        return self._view.between(start - _NEAR, end + _NEAR)

    def judged(self, start: int, end: int, tail: str | None, *, is_prose: bool) -> Speech:
        """Who the original addresses at this place.

        Args:
            tail: the words of the view directly before a finding that starts with a verb, else None.
            is_prose: the finding consists of words. Names in a program do not.
        """
        if is_prose and _is_code(self._text[start:end]):
            return Speech.ABOUT_IT
        is_order = False
        if tail is not None:
            tokens = tail[tail.rfind(".") + 1 :].split()
            if self._negated(tokens):
                return Speech.FORBIDDEN
            nearest = " ".join(tokens[-_NEAREST:]) + " "
            is_order = not tokens or self._book.cues["ordered"].found_in(nearest)
            if not is_order and self._book.cues["told"].found_in(nearest):
                return Speech.ABOUT_IT
        return Speech.ABOUT_IT if self._mentioned(self._surroundings(start, end), is_order) else Speech.TO_A_MODEL

    def _negated(self, tokens: list[str]) -> bool:
        lists = self._book.tokens
        for distance, token in enumerate(reversed(tokens[-_NEGATION:])):
            if token in lists["negators"] or (distance < _ADJACENT and token in lists["adjacent"]):
                return True
            if token in lists["breakers"]:
                return False
        return False

    def _mentioned(self, place: _Surroundings, is_order: bool) -> bool:
        cues = self._book.cues
        if cues["denied"].found_in(place.lead):
            return False
        if place.code or cues["verdict"].found_in(place.rest):
            return True
        if cues["mention"].found_in(place.sentence) and (place.quoted or not is_order):
            return True
        if place.quoted:
            return self._topical or cues["quotation"].found_in(place.lead)
        return place.listed and (self._topical or cues["listing"].found_in(place.lead))

    def _surroundings(self, start: int, end: int) -> _Surroundings:
        text = self._text
        opening, closing = self._quotation(start, end)
        lead = self._view.between(opening - _BEFORE, opening)
        said = lead.rstrip(" .\n") + " " if lead.rstrip(" .\n").endswith(":") else lead
        line = text[text.rfind("\n", max(0, start - _QUOTED), start) + 1 : start]
        quoted = (opening, closing) != (start, end)
        return _Surroundings(
            sentence=said[said.rfind(".") + 1 :],
            lead=lead,
            rest=self._view.between(closing, closing + _AFTER).partition(".")[0],
            quoted=quoted or bisect_right(self._fences, start) % 2 == 1,
            listed=line.startswith("    ")
            or line.lstrip(" ").startswith(_LIST_MARKS)
            or line.lstrip(" ")[:1].isdigit(),
            code=quoted and self._in_code(opening),
        )

    def _quotation(self, start: int, end: int) -> tuple[int, int]:
        """The start and end of the innermost quotation around a place, with its marks; the place itself when there is none."""
        text = self._text
        low = max(text.rfind("\n\n", 0, start) + 1, start - _QUOTED, 0)
        high = text.find("\n\n", end, end + _QUOTED)
        best = (start, end)
        for mark, closers in _PAIRS.items():
            opening = text.rfind(mark, low, start + 1)
            if opening < 0 or not self._opens(opening, mark, closers, start):
                continue
            begin = max(end - 1, opening + 1)
            ends = [text.find(closer, begin, end + _QUOTED if high < 0 else high) for closer in closers]
            closing = min((at for at in ends if at >= 0), default=-1)
            if closing >= 0 and (best == (start, end) or opening > best[0]):
                best = (opening, closing + 1)
        return best

    def _opens(self, at: int, mark: str, closers: str, start: int) -> bool:
        """Whether the mark opens a quotation that `start` is in."""
        text = self._text
        if mark == "'":
            before = text[max(0, at - 2) : at]
            opens = not before[-1:].isalnum() or (before[-1] in "bfru" and not before[:-1].isalnum())
            return opens and text[at + 1 : at + 2].strip() != ""
        if mark in closers:
            return text.count(mark, text.rfind("\n", 0, at) + 1, at) % 2 == 0
        return all(text.find(closer, at + 1, start) < 0 for closer in closers)

    def _in_code(self, opening: int) -> bool:
        """Whether the quotation is a string of a program. The text before it decides."""
        line = self._text[max(self._text.rfind("\n", 0, opening) + 1, opening - _BEFORE) : opening]
        if self._book.code.found_in(line):
            return True
        return line.strip(_PREFIXES) == "" and self._book.items.found_in(
            self._text[max(0, opening - _LISTED) : opening]
        )


def _is_code(text: str) -> bool:
    """Whether a text is a call, or one name with underscores."""
    called = any(text[i - 1].isalnum() and not text.startswith("(s)", i) for i in range(1, len(text)) if text[i] == "(")
    return called or ("_" in text and text.isascii() and text.translate(_IN_NAMES).isalnum())
