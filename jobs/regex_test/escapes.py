"""Reads what follows a backslash: characters, classes of characters and properties. Without the flag u nearly everything is
allowed (Annex B of ECMAScript). With it, every escape must have a meaning."""

import re

from jobs.regex_test.cursor import Cursor
from jobs.regex_test.unicode import is_property

_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_CLASSES = frozenset("dDsSwW")
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_OCTAL = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?")
_PROPERTY = re.compile(r"\{([A-Za-z0-9_]*)(?:=([A-Za-z0-9_]*))?\}")

_BACKSLASH = 0x5C


def class_escape(cursor: Cursor) -> bool:
    """Skip the rest of a class after its backslash (`d`, `S`, `p{...}`). False when it is not a class."""
    c = cursor.at()
    if c in _CLASSES:
        cursor.i += 1
        return True
    if cursor.unicode and (c == "p" or c == "P"):
        _property(cursor)
        return True
    return False


def character_escape(cursor: Cursor, *, in_class: bool) -> int:
    """Skip the rest of an escape that is neither a class, an assertion nor a reference, and return the character that it means.

    Raises:
        PatternError: the escape has no meaning.
    """
    start = cursor.i - 1
    c = cursor.at()
    if not c:
        raise cursor.error("\\ at end of pattern", start)
    if c in _DIGITS:
        return _digits(cursor, start)
    if c == "c":
        return _control(cursor, start, in_class=in_class)
    cursor.i += 1
    if c in _CONTROLS:
        return _CONTROLS[c]
    if c == "x" or c == "u":
        value = cursor.hex(2) if c == "x" else unicode_escape(cursor, unicode=cursor.unicode)
        if value is not None:
            return value
        if cursor.unicode:
            raise cursor.error("Invalid escape" if c == "x" else "Invalid Unicode escape", start)
    elif cursor.unicode and c not in _SYNTAX and not (c == "-" and in_class):
        raise cursor.error("Invalid escape", start)
    return ord(c)


def unicode_escape(cursor: Cursor, *, unicode: bool) -> int | None:
    """Skip the rest of a complete `\\u` escape. With `unicode` it may have braces, or be a surrogate pair."""
    if unicode and cursor.at() == "{":
        return cursor.braced_hex()
    value = cursor.hex(4)
    if unicode and value is not None and 0xD800 <= value <= 0xDBFF and cursor.at() == "\\" and cursor.at(1) == "u":
        after_lead = cursor.i
        cursor.i += 2
        trail = cursor.hex(4)
        if trail is not None and 0xDC00 <= trail <= 0xDFFF:
            return 0x10000 + ((value - 0xD800) << 10) + (trail - 0xDC00)
        cursor.i = after_lead
    return value


def _digits(cursor: Cursor, start: int) -> int:
    if cursor.unicode:
        if cursor.at() != "0" or cursor.at(1) in _DIGITS:
            raise cursor.error("Invalid decimal escape", start)
        cursor.i += 1
        return 0
    octal = _OCTAL.match(cursor.text, cursor.i)
    if octal is None:  # \8 and \9 mean the digits themselves
        cursor.i += 1
        return ord(cursor.text[cursor.i - 1])
    cursor.i = octal.end()
    return int(octal[0], 8)


def _control(cursor: Cursor, start: int, *, in_class: bool) -> int:
    letter = cursor.at(1)
    if letter in _LETTERS or (in_class and not cursor.unicode and (letter in _DIGITS or letter == "_")):
        cursor.i += 2
        return ord(letter) & 0x1F
    if cursor.unicode:
        raise cursor.error("Invalid Unicode escape", start)
    return _BACKSLASH  # the backslash is literal, and the c is the next character


def _property(cursor: Cursor) -> None:
    found = _PROPERTY.match(cursor.text, cursor.i + 1)
    if found is None or not is_property(found[1], found[2]):
        raise cursor.error("Invalid property name", cursor.i - 1)
    cursor.i = found.end()
