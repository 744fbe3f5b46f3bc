"""Decides where a string ends whose end quote is missing."""

import re

from jobs.json_repair.source import QUOTES, Source
from jobs.json_repair.verdicts import Context, Judge

_STOP = re.compile(r"[,\[\]{}\n]")
_ARGUMENT_STOP = re.compile(r"[,\[\]{}()\n]")
_MEMBER_STOP = re.compile(r"[,\n][\s,]*+(?>((?:[\w$.@-]++|\"[^\"'\n]{1,64}+\"|'[^\"'\n]{1,64}+')[ \t]*+:|[}\]])?)")
"""A row of commas and line breaks, and the next member or closing bracket if one follows."""
_WRONG_QUOTE = re.compile(rf"[{QUOTES}](?=\s*+(?:,\s*+[{QUOTES}]|[}}\]]))")
"""An end quote of another kind than the opening one, `"text'`, when only structure follows."""


class Cuts:
    """Finds the missing ends of the strings in one text. It remembers searches that found nothing."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._no_colon = source.size
        self._no_stop = source.size
        self._tail: int | None = None

    def before_quote(self, i: int, at: int, quotes: Judge, context: Context) -> int:
        """The missing end of a string, when the quote at `at` opens the next string."""
        text = self.source.text
        if context is Context.KEY:
            colon = text.find(":", i + 1, at)
            if colon >= 0:
                return colon
        wrong = _WRONG_QUOTE.search(text, i + 1, at)
        if wrong and wrong.group() not in quotes.family:
            return wrong.end()
        start, _ = quotes.run_before(at)
        return self._balanced(i + 1, max(start, i + 1), at)

    def at_end(self, i: int, context: Context) -> int:
        """The end of a string without any end quote: the end of the text, or the start of the structure that ends the text."""
        source = self.source
        end = source.content_end
        last = source.text[end - 1]
        if end - 1 <= i:
            return end
        if context is Context.KEY:
            return self._key_at_end(i, end, last)
        if context is Context.MEMBER and last in "}]":
            return self._member_at_end(i, end)
        if context in (Context.ELEMENT, Context.ARGUMENT) and last in ",:[]{}()":
            stop = _STOP if context is Context.ELEMENT else _ARGUMENT_STOP
            start = i + 2 if source.at(i + 1) in ("{", "[", "(") else i + 1  # an empty string has its end quote
            match = stop.search(source.text, start, end)
            return self._balanced(i + 1, match.start(), end) if match else end
        if source.text.endswith("```", 0, end):
            return max(self._tail_start(), i + 1)
        return self._before_commas(i, end)

    def _balanced(self, start: int, cut: int, end: int) -> int:
        """Move an end after closing brackets that belong to the string, because the string has the opening ones too."""
        text = self.source.text
        room = {
            "}": text.count("{", start, cut) - text.count("}", start, cut),
            "]": text.count("[", start, cut) - text.count("]", start, cut),
        }
        while cut < end and room.get(text[cut], 0) > 0:
            room[text[cut]] -= 1
            cut += 1
        return cut

    def _before_commas(self, i: int, cut: int) -> int:
        while cut > i + 1 and self.source.text[cut - 1] == ",":
            cut -= 1
        return cut

    def _member_at_end(self, i: int, end: int) -> int:
        text, tail = self.source.text, max(self._tail_start(), i + 1)
        rows = _MEMBER_STOP.finditer(text, i + 1, tail) if i < self._no_stop else iter(())
        match = next((row for row in rows if row[1]), None)
        if match is None:
            self._no_stop = min(self._no_stop, i)
        wrong = _WRONG_QUOTE.search(text, i + 1, match.start() if match else end)
        if wrong:
            return wrong.end()
        return match.start() if match else self._before_commas(i, self._balanced(i + 1, tail, end))

    def _key_at_end(self, i: int, end: int, last: str) -> int:
        if i < self._no_colon:
            colon = self.source.text.find(":", i + 1, end)
            if colon >= 0:
                return colon
            self._no_colon = i
        match = _STOP.search(self.source.text, i + 1, end) if last in ",[]{}" else None
        return match.start() if match else end

    def _tail_start(self) -> int:
        """The start of the closing brackets, fences and blanks at the end of the text."""
        if self._tail is None:
            text, i = self.source.text, self.source.content_end
            while i > 0 and (text[i - 1] in "}]) \t\r\n" or text.endswith("```", 0, i)):
                i -= 1 if text[i - 1] != "`" else 3
            self._tail = i
        return self._tail
