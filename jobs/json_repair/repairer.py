"""`repair`: returns strict JSON unchanged, and repairs anything else by the rules of the other modules."""

import re

from jobs.json_repair import strict
from jobs.json_repair.document import Document
from jobs.json_repair.escapes import decode
from jobs.json_repair.result import Repaired, RepairKind
from jobs.json_repair.source import Source
from jobs.json_repair.unwrap import unwrap

_SURROGATE = re.compile("[\ud800-\udfff]")

_INNER = {quote: re.compile(rf"(?<!\\){quote}") for quote in "\"'"}
_OPENS = re.compile(r"[\s(\u2013\u2014-][\"'][^\s,:}\])\"']")
"""A quote that opens a quotation, with the characters before and after it."""
_STRUCTURE = re.compile(r"[{\[]\s{0,8}[\"'{\[]|\"\s{0,8}[,:+]\s{0,8}\"|'\s{0,8}[,:+]\s{0,8}'|`{3}|~{3}")
"""What documents and rows of strings have, and sentences have not."""


def repair(text: str) -> Repaired:
    """The JSON value that a text means.

    Strict RFC 8259 JSON is returned unchanged (strict.py names the exceptions). Everything else is repaired by the rules that
    npm jsonrepair documents, and JSON is found in prose and code blocks. The work is linear in the text.

    Raises:
        NotRepairable: the text has no value (only blanks, comments, punctuation or prose), or nests deeper than 512.
    """
    source = Source(text)
    is_strict, value = strict.read(source)
    if is_strict:
        return Repaired(value, bool(source.repairs), tuple(source.repairs))
    surrogate = None if text.isascii() else _SURROGATE.search(text)
    if surrogate:
        source = Source(_SURROGATE.sub("\ufffd", text))
        source.note(RepairKind.LONE_SURROGATE, surrogate.start())
    source = unwrap(source)
    value = whole(source)
    if value is None:
        value = Document(source).read()
    if not source.repairs:
        # Text that was skipped before the value (a model's reasoning, for example) has no own repair kind.
        source.note(RepairKind.STRAY_TEXT, 0)
    return Repaired(value, True, tuple(source.repairs))


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
