"""The quotes of a text, and what is around them. verdicts.py decides with it."""

import re
from bisect import bisect_left

from jobs.json_repair.fragments import Fragments
from jobs.json_repair.programs import Programs
from jobs.json_repair.source import QUOTES, Source

VALUE_ENDS = frozenset(("", ",", "]", "}"))
"""Characters that follow a value; empty at the end of the text."""

_RUN = frozenset(" \t\r\n,{}[]+")
_FOLDER = re.compile(r"([\"'])[A-Z]:(?>(?:\\[^\\\"'\n]{2,}+)+)\\\1(?=\s*+[,}\]])")
"""A Windows path that ends in an unescaped backslash: in `"C:\\temp\\"` the last quote is still the end quote."""
_NAMED = re.compile(r"[\w$.@-]{1,256}+[ \t]{0,256}+(?::(?!//)|=)")


class Quotes:
    """The unescaped quotes of one family in a text, for example all `"`, or all double curly ones."""

    def __init__(self, source: Source, family: str) -> None:
        self.source = source
        self.family = family
        text = source.text
        self.places = [m.start() for m in re.finditer(f"[{family}]", text)]
        if "\\" in text:
            folders = {m.end() - 1 for m in _FOLDER.finditer(text)}
            self.places = [place for place in self.places if not _escaped(text, place) or place in folders]
        self.fragments = Fragments(source, self.places)
        self.programs = Programs(source, family, self.places)
        self._marks: list[int] | None = None
        self._json_ends: list[int] | None = None

    def first(self, position: int) -> int:
        """The index of the first quote from `position` on."""
        return bisect_left(self.places, position)

    def follower(self, index: int) -> str:
        """The first character after a quote that is not a blank or comment. Empty after the last quote and at the end."""
        if index >= len(self.places):
            return ""
        return self.source.at(self.source.gap(self.places[index] + 1))

    def opens_key(self, index: int) -> bool:
        """Whether a colon follows the next quote, so that this one may open a key."""
        return self.follower(index + 1) == ":"

    def run_before(self, at: int) -> tuple[int, bool]:
        """The start of the structure before a quote, and whether it is more than blanks.

        Structure is commas, brackets, `+`, blanks and comments, back to the previous quote.
        """
        text = self.source.text
        index = self.first(at)
        floor = self.places[index - 1] + 1 if index else 0
        start = at
        while start > floor:
            if text[start - 1] in _RUN:
                start -= 1
            elif text.endswith("*/", floor, start) and text.find("/*", floor, start - 2) >= 0:
                start = text.rfind("/*", floor, start - 2)
            else:
                break
        return start, bool(text[start:at].strip(" \t"))

    def separates(self, i: int, *, stray: bool = True) -> bool:
        """Whether another member, or the end, is at `i` after a comma or line break in an object.

        With `stray`, unquoted words may precede the next key: `"a": "b", MORE WORDS "c": 1`.
        """
        source = self.source
        i = source.after_commas(i)
        c = source.at(i)
        if c == "" or c in "}]{[.:" or _NAMED.match(source.text, i):
            return True
        if c in QUOTES and c not in self.family:
            return True
        index = self.first(i)
        if index < len(self.places) and self.places[index] == i:
            return not self.followed_by_words(index + 1)
        return self._mark_ends_member(i, stray=stray)

    def json_end(self, at: int) -> int | None:
        """The end of a string from `at` on that contains JSON with unescaped quotes: `"{"a": 1}"`, `"{a": 1}"`."""
        text, source = self.source.text, self.source
        index = self.first(at + 1)
        if text[at + 1 : at + 2] not in ("{", "[") or index >= len(self.places):
            return None
        name = text[at + 1 : self.places[index]].strip("{[ \t\r\n")
        follower = self.follower(index)
        if not name.isidentifier() if follower == ":" else name or follower in VALUE_ENDS:
            return None
        if self._json_ends is None:
            ends = [k for k, p in enumerate(self.places) if text[max(0, p - 8) : p].rstrip().endswith(("}", "]"))]
            self._json_ends = [self.places[k] for k in ends if self.follower(k) in VALUE_ENDS]
        k = bisect_left(self._json_ends, source.gap(at + 1))
        return self._json_ends[k] if k < len(self._json_ends) else None

    def followed_by_words(self, index: int) -> bool:
        """Whether a blank and plain words follow a quote on its line, as in `"this" and that`."""
        if index >= len(self.places):
            return False
        q = self.places[index]
        after = self.source.gap(q + 1)
        return after > q + 1 and self.source.at(after).isalpha() and not self.source.broken(q, after)

    def next_mark(self, i: int) -> str:
        """The character at `mark_position`."""
        return self.source.at(self.mark_position(i))

    def mark_position(self, i: int) -> int:
        """The position of the next colon, bracket or quote of this family, or the end of the text."""
        if self._marks is None:
            self._marks = [m.start() for m in re.finditer(rf"[{self.family}:{{}}\[\]]", self.source.text)]
        k = bisect_left(self._marks, i)
        return self._marks[k] if k < len(self._marks) else self.source.size

    def _mark_ends_member(self, i: int, *, stray: bool) -> bool:
        """For plain words at `i`: whether the next quote, colon or bracket shows that they are not part of a string."""
        position = self.mark_position(i)
        mark = self.source.at(position)
        if not mark or mark not in self.family:
            return mark == "" or mark not in ":{["
        index = self.first(position)
        return self.follower(index) == ":" or (stray and self.opens_key(index))


def _escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes precedes a position."""
    start = at
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1
