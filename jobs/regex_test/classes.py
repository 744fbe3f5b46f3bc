"""Reads character classes: `[^a-z\\d]`."""

from __future__ import annotations

from jobs.regex_test.cursor import Cursor
from jobs.regex_test.escapes import character_escape, class_escape


def pass_class(cursor: Cursor, escaped_k: list[int]) -> None:
    """Skip a class; the cursor is at its `[`.

    Args:
        escaped_k: receives the position of each `\\k`, which means the letter k unless the pattern has named groups.

    Raises:
        PatternError: the class is not valid.
    """
    opening = cursor.i
    cursor.i += 1
    if cursor.at() == "^":
        cursor.i += 1
    while (c := cursor.at()) != "]":
        if not c:
            raise cursor.error("Unterminated character class", opening)
        start = cursor.i
        first = _atom(cursor, escaped_k)
        if cursor.at() != "-" or cursor.at(1) in ("]", ""):
            continue
        cursor.i += 1
        last = _atom(cursor, escaped_k)
        if first is None or last is None:
            if cursor.unicode:
                raise cursor.error("Invalid character class", start)
        elif first > last:
            raise cursor.error("Range out of order in character class", start)
    cursor.i += 1


def _atom(cursor: Cursor, escaped_k: list[int]) -> int | None:
    """Skip one member. Returns its character, or None for a class inside the class."""
    c = cursor.at()
    cursor.i += 1
    if c != "\\":
        return ord(c)
    if class_escape(cursor):
        return None
    match cursor.at():
        case "b":
            cursor.i += 1
            return 0x08
        case "k":
            escaped_k.append(cursor.i - 1)
    return character_escape(cursor, in_class=True)
