"""Reads quoted strings, also strings that are joined with `+` or, as in Python, with nothing."""

import re

from jobs.json_repair.cuts import Cuts
from jobs.json_repair.escapes import decode
from jobs.json_repair.result import RepairKind
from jobs.json_repair.source import QUOTES, Source
from jobs.json_repair.verdicts import Context, Judge, Verdict

_FAMILIES = {
    '"': '"',
    "'": "'",
    "`": "`\u00b4",
    "\u00b4": "`\u00b4",
    "\u2018": "\u2018\u2019'",
    "\u2019": "\u2018\u2019'",
    "\u201c": '\u201c\u201d"',
    "\u201d": '\u201c\u201d"',
    "\u201e": '\u201c\u201d"',
}
"""The quotes that may end a string, by the quote that opened it."""

_NAME = re.compile(rf"[^\W\d][\w $.@-]*+[{QUOTES}]?+")


class Strings:
    """Reads the strings of one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._cuts = Cuts(source)
        self._quotes: dict[str, Judge] = {}
        self._no_triple: dict[str, int] = {}
        self._row_end = 0

    def opens(self, i: int) -> bool:
        """Whether a string starts at `i`, with a quote or an escaped quote."""
        text = self.source.text
        return text[i : i + 1] in _FAMILIES or (text[i : i + 1] == "\\" and text[i + 1 : i + 2] in _FAMILIES)

    def quotes(self, opening: str) -> Judge:
        """The judge of the quotes that may end a string with this opening."""
        family = _FAMILIES[opening]
        if family not in self._quotes:
            self._quotes[family] = Judge(self.source, family)
        return self._quotes[family]

    def read(self, i: int, context: Context) -> tuple[str, int]:
        """Read the string at `i` and the strings that are joined to it. Returns also the position after them."""
        value, i = self._one(i, context)
        parts = [value]
        count = self._adjacent(i) if context is Context.MEMBER else 0
        while True:
            plus = self.source.gap(i)
            if self.source.at(plus) == "+":
                following = self.source.gap(plus + 1)
            elif count:
                following = plus
                count -= 1
            else:
                return "".join(parts), i
            self.source.note(RepairKind.CONCATENATED, plus)
            i = following
            if not self.opens(i):
                return "".join(parts), i
            value, i = self._one(i, context)
            parts.append(value)

    def _adjacent(self, i: int) -> int:
        """How many strings after a value Python would join to it: `'one ' 'two'`, followed by a comma or the end.

        Each row of strings is counted once.
        """
        if i < self._row_end:
            return 0
        count = 0
        while True:
            following = self.source.gap(i)
            c = self.source.at(following)
            if following == i or c == "" or c not in "\"'":
                break
            quotes = self.quotes(c)
            end = quotes.first(following) + 1
            if end >= len(quotes.places):
                c = ""
                break
            i = quotes.places[end] + 1
            count += 1
        self._row_end = i
        return count if c in (",", "}") else 0

    def _one(self, i: int, context: Context) -> tuple[str, int]:
        source = self.source
        if source.text[i] == "\\":
            return self._escaped(i + 1)
        opening = source.text[i]
        if opening != '"':
            source.note(RepairKind.SINGLE_QUOTES if opening == "'" else RepairKind.SPECIAL_QUOTES, i)
        triple = self._triple(i, opening)
        if triple is not None:
            return decode(source, i + 3, triple), triple + 3
        if source.text.startswith(opening, i + 1) and source.text[i + 2 : i + 3].isalnum():
            return self._doubled(i + 1, opening, context)
        return self._plain(i, opening, context)

    def _doubled(self, i: int, opening: str, context: Context) -> tuple[str, int]:
        """Read a string with two opening quotes: `""a": 1`, which may also have two at its end, or `""Hi", she said"`."""
        self.source.note(RepairKind.UNESCAPED_QUOTE, i)
        value, end = self._plain(i, opening, context)
        if context is Context.KEY or value.find(opening) == len(value) - 1:
            return value.removesuffix(opening), end
        return opening + value if opening in value else value, end

    def _plain(self, i: int, opening: str, context: Context) -> tuple[str, int]:
        source, quotes = self.source, self.quotes(opening)
        first = quotes.first(i + 1)
        if context is not Context.KEY:
            end = quotes.json_end(i)
            if end is not None:
                source.note(RepairKind.UNESCAPED_QUOTE, quotes.places[first])
                return decode(source, i + 1, end), end + 1
        if context is Context.MEMBER and quotes.follower(first) == ":":
            return self._before_colon(i, quotes.places[first])
        found = quotes.decisive(first, context)
        if found is None:
            end = self._last_end(first, quotes, context)
            if end is not None:
                return decode(source, i + 1, end), end + 1
            return self._cut(i, self._cuts.at_end(i, context))
        if found.verdict is Verdict.MISSING:
            return self._cut(i, self._cuts.before_quote(i, found.at, quotes, context))
        if context is Context.KEY and quotes.follower(found.nth) in (",", "}", ""):
            colon = source.text.find(":", i + 1, found.at)
            if colon >= 0 and _NAME.fullmatch(source.text, i + 1, colon):
                return self._cut(i, colon)  # {"key: value"}
        if context is Context.MEMBER:
            code_end = quotes.programs.end(first - 1, found.nth)
            if code_end is not None:
                source.note(RepairKind.UNESCAPED_QUOTE, quotes.places[first])
                return decode(source, i + 1, quotes.places[code_end]), quotes.places[code_end] + 1
        if found.nth > first:
            source.note(RepairKind.UNESCAPED_QUOTE, quotes.places[first])
        return decode(source, i + 1, found.at), found.at + 1

    def _last_end(self, first: int, quotes: Judge, context: Context) -> int | None:
        """The last quote of the text, when it may end the string before some stray words: `"text" words}`."""
        source = self.source
        if context not in (Context.MEMBER, Context.ELEMENT) or (len(quotes.places) - first) % 2 == 0:
            return None
        last = quotes.places[-1]
        closing = source.text[last + 1].isspace() and not source.text[last - 1].isspace()
        return last if closing and source.text[source.content_end - 1] in "}]" else None

    def _before_colon(self, i: int, at: int) -> tuple[str, int]:
        """Read a value that a colon follows, `{"a": "b, c": 1}`: it contains the next key, after a comma or a line break."""
        text = self.source.text
        separator = max(text.rfind(",", i + 1, at), text.rfind("\n", i + 1, at))
        if separator >= 0:
            return self._cut(i, separator)
        return decode(self.source, i + 1, at), at + 1

    def _cut(self, i: int, cut: int) -> tuple[str, int]:
        """Read the string from `i` whose end quote is missing at `cut`, without blanks or a wrong quote at its end."""
        source = self.source
        source.note(RepairKind.MISSING_QUOTE, cut)
        text = source.text
        end = cut
        while end > i + 1 and text[end - 1].isspace():
            end -= 1
        if end > i + 1 and text[end - 1] in QUOTES and text.find(text[end - 1], i + 1, end - 1) < 0:
            end -= 1
        return decode(source, i + 1, end), cut

    def _triple(self, i: int, opening: str) -> int | None:
        """The end of a Python triple-quoted string that starts at `i`, or None."""
        text, mark = self.source.text, opening * 3
        if opening not in "\"'" or not text.startswith(mark, i) or i >= self._no_triple.get(opening, self.source.size):
            return None
        end = text.find(mark, i + 3)
        if end < 0:
            self._no_triple[opening] = i
            return None
        self.source.note(RepairKind.PYTHON_LITERAL, i)
        return end

    def _escaped(self, i: int) -> tuple[str, int]:
        """Read a string with escaped quotes: `\\"text\\"`. It ends at the next quote, escaped or not."""
        source = self.source
        source.note(RepairKind.ESCAPED, i - 1)
        end = source.text.find(source.text[i], i + 1)
        if end < 0:
            return self._cut(i, source.content_end)
        return decode(source, i + 1, max(i + 1, end - source.text.endswith("\\", 0, end))), end + 1
