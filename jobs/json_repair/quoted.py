"""Reads a text that is one string as a whole: it begins and ends with the same quote, and has quotations in it.

`"My name is "Bob", and I like {tea}."` is a sentence that somebody quoted, and no document with strings in it.
"""

from __future__ import annotations

import re

from jobs.json_repair.escapes import decode
from jobs.json_repair.result import RepairKind
from jobs.json_repair.source import Source

_INNER = {quote: re.compile(rf"(?<!\\){quote}") for quote in "\"'"}
_OPENS = re.compile(r"[\s(\u2013\u2014-][\"'][^\s,:}\])\"']")
"""A quote that opens a quotation, with the characters before and after it."""
_STRUCTURE = re.compile(r"[{\[]\s{0,8}[\"'{\[]|\"\s{0,8}[,:+]\s{0,8}\"|'\s{0,8}[,:+]\s{0,8}'|`{3}|~{3}")
"""What documents and rows of strings have, and sentences have not."""


def whole(source: Source) -> str | None:
    """The string that the text is. None when it is no such text."""
    text = source.text
    start, end = len(text) - len(text.lstrip()), source.content_end - 1
    quote = text[start : start + 1]
    if end <= start + 1 or quote not in _INNER or text[end] != quote or text[end - 1] == "\\":
        return None
    first = _INNER[quote].search(text, start + 1, end)
    if first is None or first.start() < start + 2 or not _OPENS.match(text, first.start() - 1, end):
        return None
    if text[start + 1] in "{[" or _STRUCTURE.search(text, start + 1, end):
        return None
    if quote == "'":
        source.note(RepairKind.SINGLE_QUOTES, start)
    source.note(RepairKind.UNESCAPED_QUOTE, first.start())
    return decode(source, start + 1, end)
