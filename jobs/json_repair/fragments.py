"""Finds JSON or arguments inside a string, with unescaped quotes: `"see ["x", "y"] there"`."""

import re
from bisect import bisect_left

from jobs.json_repair.source import Source

_OPENING = re.compile(r"[\[{(]")
_CLOSERS = {"[": "]", "{": "}", "(": ")"}
_SPACE = re.compile(r"[ \t\r\n]*+")
_WORD = re.compile(r"[\w$.+-]++")
_BETWEEN_STRINGS = re.compile(r"\s*+[,:\]})](?:.*[,:\[{(])?\s*+", re.DOTALL)
"""What is between two strings of a document. A string with this content shows that strings and their gaps were confused."""
_TEXT_AFTER = re.compile(r"[ \t]*+([^\s,:;{}\[\]\"'])|;(?=[\"'])|[,;:]?+\s++[^\W\d][^:{}\[\]\"']*+(?=[\"'])")
_SUBSCRIPT = re.compile(r"[ \t]*+[.\[({=]")


class Fragments:
    """Finds the bracketed texts in which the quotes of one family come in pairs.

    The end of each bracket is searched for once. Two readings of one place differ only in which quotes open strings, so each
    place is read at most twice.
    """

    def __init__(self, source: Source, places: list[int]) -> None:
        self.source = source
        self.places = places
        self._ends: dict[int, int] = {}
        self._goes_on: dict[int, bool] = {}

    def end(self, index: int) -> int | None:
        """The end of the fragment whose first quote has this index, if the fragment opened after the previous quote."""
        q = self.places[index]
        start = self.places[index - 1] + 1 if index else 0
        for match in _OPENING.finditer(self.source.text, start, q):
            end = self._end(match.start())
            if end > q:
                return end
        return None

    def within_text(self, index: int, ends: frozenset[str]) -> int | None:
        """Like `end`, if then text follows up to a quote before one of `ends`, or such a quote follows directly."""
        passed: list[int] = []
        verdict = False
        first = end = self.end(index)
        while end is not None:
            known = self._goes_on.get(end)
            if known is not None:
                verdict = known
                break
            passed.append(end)
            following = bisect_left(self.places, end)
            if following == len(self.places):
                break
            q = self.places[following]
            text_after = _TEXT_AFTER.match(self.source.text, end)
            if q > end and not text_after and not _SUBSCRIPT.match(self.source.text, end):
                break
            if self._follower(following) in ends:
                verdict = True
                break
            end = self.end(following)
            if end is None and text_after:
                verdict = text_after[1] is not None and self._follower(following + 1) not in (":", "")
        for place in passed:
            self._goes_on[place] = verdict
        return first if verdict else None

    def _end(self, start: int) -> int:
        """The end of the fragment that opens at `start`; -1 when there is none."""
        known = self._ends.get(start)
        if known is not None:
            return known
        text = self.source.text
        open_at = [start]
        i = start + 1
        value = True  # whether a value may come next; otherwise only a separator or an end
        while open_at:
            i = _SPACE.match(text, i).end()  # type: ignore[union-attr]  # it matches the empty string
            c = self.source.at(i)
            if c == _CLOSERS[text[open_at[-1]]]:
                i += 1
                self._ends[open_at.pop()] = i
                value = False
            elif value and c in _CLOSERS and c:
                inner = self._ends.get(i)
                if inner == -1:
                    break
                if inner is None:
                    open_at.append(i)
                i, value = inner or i + 1, inner is None
            elif not value and c in (",", ":"):
                i, value = i + 1, True
            elif value:
                end = self._scalar(i)
                if end is None:
                    break
                i, value = end, False
            else:
                break
        for place in open_at:
            self._ends[place] = -1
        return self._ends[start]

    def _follower(self, index: int) -> str:
        return self.source.at(self.source.gap(self.places[index] + 1)) if index < len(self.places) else ""

    def _scalar(self, i: int) -> int | None:
        """The end of the string, number or word at `i`."""
        text, k = self.source.text, bisect_left(self.places, i)
        if k < len(self.places) and self.places[k] == i:
            if k + 1 == len(self.places) or _BETWEEN_STRINGS.fullmatch(text, i + 1, self.places[k + 1]):
                return None
            return self.places[k + 1] + 1
        match = _WORD.match(text, i)
        return match.end() if match else None
