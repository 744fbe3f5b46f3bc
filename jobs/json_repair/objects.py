"""Reads one step inside an object: a key, a value, or the end."""

import re

from jobs.json_repair import literals
from jobs.json_repair.frames import ListFrame, ObjectFrame
from jobs.json_repair.reader import CLOSERS, Reader
from jobs.json_repair.result import RepairKind
from jobs.json_repair.source import QUOTES
from jobs.json_repair.verdicts import Context

_COLON = re.compile(r"[:=]++>?+|->")
_SYMBOL = re.compile(r":(?=[A-Za-z_]\w*+\s*+=>)")
"""A Ruby symbol as a key: `{:name => 1}`."""


def step(reader: Reader, frame: ObjectFrame) -> None:
    """Read one key, one value or one bracket."""
    if frame.key is not None:
        _value(reader, frame)
        return
    source = reader.source
    commas = reader.separators(frame)
    c = source.at(reader.i)
    if reader.at_end():
        if not (frame.empty and c and reader.skip_opening_fence()):
            reader.close_unclosed()
    elif c in CLOSERS:
        reader.closing_bracket(c)
    elif c in "{[":
        _bracket_for_key(reader, frame, c)
    elif c == ":" and not frame.empty and not commas:
        source.note(RepairKind.REDUNDANT_COLON, reader.i)
        reader.i += 1
    else:
        if not frame.empty and not commas:
            source.note(RepairKind.MISSING_COMMA, reader.i)
        _key(reader, frame, separated=frame.empty or commas > 0)


def _bracket_for_key(reader: Reader, frame: ObjectFrame, c: str) -> None:
    """Read an opening bracket in the place of a key: the object before it did not close, or was not an object."""
    source = reader.source
    if frame.empty and c == "[":
        source.note(RepairKind.REDUNDANT_BRACKET, reader.i)
        reader.pop()
        reader.open()
    elif frame.empty:
        source.note(RepairKind.REDUNDANT_BRACKET, reader.i)
        reader.i += 1
    elif len(reader.stack) == 1 or isinstance(reader.stack[-2], ListFrame):
        reader.close_unclosed()
    else:
        source.note(RepairKind.REDUNDANT_BRACKET, reader.i)
        reader.i += 1


def _key(reader: Reader, frame: ObjectFrame, *, separated: bool) -> None:
    source, start = reader.source, reader.i
    quoted = reader.strings.opens(start)
    if quoted:
        key, reader.i = reader.strings.read(start, Context.KEY)
        if reader.i == start + 1:
            return  # the text ends directly after the quote that opens the key
    else:
        symbol = _SYMBOL.match(source.text, start)
        key, reader.i = reader.words.key(symbol.end() if symbol else start)
        if reader.i == start and source.text[start] not in ":=":
            source.note(RepairKind.STRAY_TEXT, start)
            reader.i += 1
            return
        source.note(RepairKind.UNQUOTED_KEY if key else RepairKind.MISSING_KEY, start)
    end = reader.i
    reader.i = source.space(end)
    colon = _COLON.match(source.text, reader.i)
    if colon:
        if colon.group() != ":":
            source.note(RepairKind.WRONG_SEPARATOR, reader.i)
        reader.i = colon.end()
        frame.key = key
        frame.colons += 1
        return
    _without_colon(reader, frame, key, end, quoted=quoted, separated=separated)


def _without_colon(reader: Reader, frame: ObjectFrame, key: str, end: int, *, quoted: bool, separated: bool) -> None:
    """Read a key without a colon: the colon is missing, or the value too, or the key is only stray words."""
    source = reader.source
    c = source.at(reader.i)
    if c in QUOTES and c:
        quotes = reader.strings.quotes(c)
        next_is_key = quotes.opens_key(quotes.first(reader.i))
        if next_is_key and not quoted:
            source.note(RepairKind.STRAY_TEXT, end)
            return
    else:
        next_is_key = source.broken(end, reader.i)
    if reader.at_end() or c in ",;" or c in CLOSERS or next_is_key:
        if not quoted and not separated:
            source.note(RepairKind.STRAY_TEXT, end)
            return
        source.note(RepairKind.TRUNCATED if reader.at_end() else RepairKind.MISSING_VALUE, end)
        frame.members[key] = None
        literal = None if quoted else literals.read(key)
        frame.bare.append(literal.value if literal else key)
        return
    source.note(RepairKind.MISSING_COLON, end)
    frame.key = key
    frame.colons += 1


def _value(reader: Reader, frame: ObjectFrame) -> None:
    source = reader.source
    reader.i = source.space(reader.i)
    c = source.at(reader.i)
    if reader.at_end() or c in ",;" or reader.is_closing(c):
        source.note(
            RepairKind.TRUNCATED if reader.at_end() else RepairKind.MISSING_VALUE, min(reader.i, source.content_end)
        )
        frame.add(None, solid=True)
        return
    ellipsis = source.ellipsis(reader.i)
    if ellipsis is not None:
        source.note(RepairKind.ELLIPSIS, reader.i)
        reader.i = ellipsis
        frame.add(None, solid=True)
        return
    if not reader.open():
        context = Context.ARGUMENT if frame.closer == ")" else Context.MEMBER
        value, solid = reader.scalar(context)
        frame.add(value, solid=solid)
