"""Reads one step inside an array, a tuple or the arguments of a call."""

import re

from jobs.json_repair.frames import ListFrame, ObjectFrame
from jobs.json_repair.reader import CLOSERS, Reader
from jobs.json_repair.result import RepairKind
from jobs.json_repair.verdicts import Context

_ARROW = re.compile(r":|=>")


def step(reader: Reader, frame: ListFrame) -> None:
    """Read one element or one bracket."""
    source = reader.source
    commas = reader.separators(frame)
    frame.commas += commas
    c = source.at(reader.i)
    if reader.at_end():
        if not (frame.empty and c and reader.skip_opening_fence()):
            reader.close_unclosed()
        return
    if c in CLOSERS:
        reader.closing_bracket(c)
        return
    if c == ":":
        source.note(RepairKind.REDUNDANT_COLON, reader.i)
        reader.i += 1
        return
    if not frame.empty and not commas:
        source.note(RepairKind.MISSING_COMMA, reader.i)
    if reader.open():
        return
    start = reader.i
    value, solid = reader.scalar(Context.ARGUMENT if frame.closer == ")" else Context.ELEMENT)
    if not reader.strings.opens(start) or not _ARROW.match(source.text, source.gap(reader.i)):
        frame.add(value, solid=solid)
    elif not frame.empty and len(reader.stack) > 1 and isinstance(reader.stack[-2], ObjectFrame):
        reader.i = start  # the array's end is missing: this is the next key of the enclosing object
        reader.close_unclosed()
    else:
        _member(reader, frame, value, start)


def _member(reader: Reader, frame: ListFrame, key: str, start: int) -> None:
    """Read a key among elements. `["a": 1]` is an object. After an element, an object was not opened, or closed too early."""
    source = reader.source
    last = frame.items[-1] if frame.items else None
    if frame.empty and frame.closer == "]":
        source.note(RepairKind.MISMATCHED_BRACKET, start)
        reader.pop()
        members = ObjectFrame("]")
    elif isinstance(last, dict) and last and key not in last:
        source.note(RepairKind.REDUNDANT_BRACKET, start)
        frame.items.pop()
        members = ObjectFrame("", last)
    else:
        source.note(RepairKind.MISSING_BRACKET, start, "{")
        members = ObjectFrame("")
    members.key = key
    members.colons = 1
    colon = _ARROW.match(source.text, source.gap(reader.i))
    reader.i = colon.end() if colon else reader.i
    reader.push(members)
