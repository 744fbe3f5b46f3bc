"""The text under repair: skips what has no value, and keeps the list of repairs."""

import re
import string
from bisect import bisect_left
from collections.abc import Sequence

from jobs.json_repair.result import MAX_REPAIRS, Repair, RepairKind

QUOTES = "\"'`\u2018\u2019\u00b4\u201c\u201d\u201e"
"""Quotes that may open a string: straight, backtick and typographic."""

FENCE = re.compile(r"`{3,}+|~{3,}+")
FENCE_LABEL = re.compile(r"[ \t]*+([\w+#.-]*+)[ \t]*+(?=\r?\n|$)")
INLINE_LABEL = re.compile(r"[ \t]*+(json[5cl]?|javascript|js)\b", re.IGNORECASE | re.ASCII)

_BLANK = r"[\s\x00-\x1f\x7f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
_SHORT_SPACE = 64
_SPACE = re.compile(rf"{_BLANK}{{0,{_SHORT_SPACE}}}+")
_LONG_SPACE = re.compile(rf"{_BLANK}{{{_SHORT_SPACE},}}+")
_JSON_SPACE = re.compile(r"[ \t\n\r]*+")
_PLAIN = frozenset(string.ascii_letters + string.digits + string.punctuation + QUOTES) - frozenset("/#")
"""Characters that are certainly neither white space nor the start of a comment."""

_BRACKET = re.compile(r'[\[{}\]]|"(?>(?:[^"\\]++|\\.)*)"?', re.DOTALL)
_COMMENTED = re.compile(
    r'"(?>(?:[^"\\\n]++|\\.)*)"|/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/|(?P<open>/\*.*+|(?://|#(?=[ \t#!"\']))[^\n]*+)|[\[{}\]]|://',
    re.DOTALL,
)
"""Strings, closed comments, comments to the end of the line or text, and brackets."""
_ANY_BRACKET = re.compile(r"[\[{}\]]")

_ELLIPSIS = re.compile(
    r"(?:\.{3,}+|\u2026)(?>(?:[ \t]*+(?>(?:and )?)(?>(?:[0-9]{1,9}+ )?)more\b(?>(?: [a-z]++)?)"
    r"|[A-Za-z_$][\w$.]*+(?=\s*+[,}\]]))?)"
)
"""Marks of an omission, with a remark about it (`... 98 more items`) or a name (`...base`)."""


class Source:
    """A text, its repairs, and searches that stay linear however often they are made.

    Args:
        text: the text to repair.
        origins: for each character of `text`, its offset in the caller's text; None when both texts are the same.
    """

    __slots__ = (
        "_balanced",
        "_breaks",
        "_comma_ends",
        "_comment_ends",
        "_gaps",
        "_space_ends",
        "_swallowed",
        "content_end",
        "origins",
        "repairs",
        "size",
        "text",
    )

    def __init__(self, text: str, origins: Sequence[int] | None = None) -> None:
        self.text = text
        self.size = len(text)
        self.content_end = len(text.rstrip())
        self.origins = origins
        self.repairs: list[Repair] = []
        self._gaps: dict[int, int] = {}
        self._comma_ends: dict[int, int] = {}
        self._space_ends: list[int] | None = None
        self._swallowed: dict[int, int] | None = None
        self._balanced: bool | None = None
        self._breaks: list[int] | None = None
        self._comment_ends: list[int] | None = None

    def note(self, kind: RepairKind, at: int, after: str | None = None, *, before: str = "") -> None:
        """Add a repair, unless the list is full. `before` became `after`, where wording.py cannot tell from the kind."""
        if len(self.repairs) < MAX_REPAIRS:
            if self.origins is not None:
                at = self.origins[min(at, len(self.origins) - 1)] if self.origins else 0
            self.repairs.append(Repair(kind, at, None if after is None else before, after))

    def at(self, i: int) -> str:
        """The character at `i`; empty after the end."""
        return self.text[i] if i < self.size else ""

    def gap(self, i: int) -> int:
        """The first position from `i` on that is neither white space nor comment.

        The ends of comments are remembered, because quotes inside a comment may repeat the search.
        """
        text = self.text
        if i < self.size and text[i] in _PLAIN:
            return i
        if text[i : i + 1] == " " and i + 1 < self.size and text[i + 1] in _PLAIN:  # as after most commas and colons
            return i + 1
        ends: list[int] = []
        while True:
            i = self._space(i)
            end = self._comment(i)
            if end is None:
                break
            known = self._gaps.get(end)
            if known is not None:
                i = known
                break
            ends.append(end)
            i = end
        for end in ends:
            self._gaps[end] = i
        return i

    def after_commas(self, i: int) -> int:
        """The first position from `i` on that is neither comma nor white space nor comment. Each row of commas is read once."""
        i = self.gap(i)
        passed: list[int] = []
        while self.at(i) == ",":
            known = self._comma_ends.get(i)
            if known is not None:
                i = known
                break
            passed.append(i)
            i = self.gap(i + 1)
        for comma in passed:
            self._comma_ends[comma] = i
        return i

    def space(self, i: int) -> int:
        """Like `gap`, and notes the comments and unusual white space."""
        text = self.text
        if i < self.size and text[i] in _PLAIN:
            return i
        if text[i : i + 1] == " " and i + 1 < self.size and text[i + 1] in _PLAIN:
            return i + 1
        end = self.gap(i)
        if end > i:
            odd = _JSON_SPACE.match(self.text, i).end()  # type: ignore[union-attr]
            if odd < end:
                self.note(RepairKind.COMMENT if self.text[odd] in "/#" else RepairKind.SPECIAL_WHITESPACE, odd)
        return end

    def broken(self, start: int, end: int) -> bool:
        """Whether a line ends between two positions."""
        return start < end and self.line_end(start) < end

    def fence(self, i: int) -> int | None:
        """The end of the code fence that starts at `i`, or None."""
        if i >= self.size or self.text[i] not in "`~":
            return None
        match = FENCE.match(self.text, i)
        return match.end() if match else None

    def ellipsis(self, i: int) -> int | None:
        """The end of the `...` that starts at `i`, or None."""
        if i >= self.size or self.text[i] not in ".\u2026":
            return None
        match = _ELLIPSIS.match(self.text, i)
        return match.end() if match else None

    @property
    def balanced(self) -> bool:
        """Whether as many brackets open as close, outside of complete strings."""
        if self._balanced is None:
            surplus = 0
            for match in _BRACKET.finditer(self.text):
                surplus += _step(match.group())
            self._balanced = surplus == 0
        return self._balanced

    @property
    def swallowed(self) -> dict[int, int]:
        """The closing brackets that belong to the document, each by the start of the comment before it.

        When a document lost its line breaks, a comment reaches over the structure after it: `{"a": {"b": 1 // one }, "c": 2}`.
        It does when the brackets outside of comments do not balance, and do with those of such comments.
        """
        if self._swallowed is None:
            self._swallowed = {}
            surplus = inside = 0
            for match in _COMMENTED.finditer(self.text):
                if match["open"] is None:
                    surplus += _step(match.group())
                elif (first := _first_surplus(match)) is not None:
                    self._swallowed[match.start()] = first
                    inside += sum(_step(bracket) for bracket in _ANY_BRACKET.findall(match["open"]))
            if surplus <= 0 or surplus + inside != 0:
                self._swallowed = {}
        return self._swallowed

    def line_end(self, i: int) -> int:
        """The position of the next line break, or the end of the text."""
        if self._breaks is None:
            self._breaks = [match.start() for match in re.finditer("\n", self.text)]
        return _next(self._breaks, i, self.size)

    def _space(self, i: int) -> int:
        """The end of the white space at `i`. Long rows are read once, because a search may start at each of their blanks."""
        end = _SPACE.match(self.text, i).end()  # type: ignore[union-attr]  # it matches the empty string
        if end - i < _SHORT_SPACE:
            return end
        if self._space_ends is None:
            self._space_ends = [match.end() for match in _LONG_SPACE.finditer(self.text)]
        return _next(self._space_ends, end, self.size)

    def _comment(self, i: int) -> int | None:
        """The end of the comment that starts at `i`. `#` starts one only before a blank or quote: `#fff` is a value."""
        text = self.text
        if i >= self.size or text[i] not in "/#":
            return None
        if text.startswith("/*", i):
            if self._comment_ends is None:
                self._comment_ends = [match.end() for match in re.finditer(r"\*/", text)]
            # A comment has at least four characters: the star of `/*/` does not close it.
            end = _next(self._comment_ends, i + 4, self.size)
            return self.swallowed.get(i, end) if end == self.size else end
        if text.startswith("//", i):
            return self.swallowed.get(i, self.line_end(i))
        if text.startswith("#", i) and text[i + 1 : i + 2] in ("", " ", "\t", "#", "!", "\n", '"', "'"):
            return self.swallowed.get(i, self.line_end(i))
        return None


def _step(bracket: str) -> int:
    """1 for an opening bracket, -1 for a closing one, 0 for any other text."""
    return 1 if bracket in ("{", "[") else -1 if bracket in ("}", "]") else 0


def _first_surplus(comment: re.Match[str]) -> int | None:
    """The position of the first bracket in a comment that closes none of the comment's own."""
    depth = 0
    for bracket in _ANY_BRACKET.finditer(comment["open"]):
        depth += _step(bracket.group())
        if depth < 0:
            return comment.start() + bracket.start()
    return None


def _next(positions: list[int], i: int, size: int) -> int:
    """The first of the ascending positions from `i` on, or the end of the text."""
    k = bisect_left(positions, i)
    return positions[k] if k < len(positions) else size
