"""Decides whether a pattern is a regular expression of ECMAScript 2025, without an engine and in linear time.

The grammar is the specification's with Annex B, as in browsers: without the flag u, much that looks wrong is literal text
(`a{`, `]`, `\\8`). The other flags make no difference.
"""

import re

from jobs.regex_test.cursor import Cursor, PatternError
from jobs.regex_test.escapes import character_escape, class_escape
from jobs.regex_test.group_names import GroupNames, read_name

__all__ = ["PatternError", "check"]

_LITERALS = re.compile(r"[^\\^$.*+?()\[\]{}|]+")
_BRACES = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_NUMBER = re.compile(r"[0-9]+")

_ENDLESS = 2**31 - 1
"""Engines treat larger numbers of repetitions as infinity."""


def check(pattern: str, flags: str) -> None:
    """Raise PatternError if `new RegExp(pattern, flags)` would be a SyntaxError.

    Args:
        flags: valid flags. Only `u` makes a difference.
    """
    _Reader(Cursor(pattern, unicode="u" in flags)).read()


class _Reader:
    """Reads one pattern once."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._open: list[tuple[int, bool]] = []  # position of each open group, and whether it may be repeated
        self._names = GroupNames()
        self._captures = 0
        # Problems that can only be judged at the end, each with its position.
        self._named_references: list[tuple[str, int]] = []
        self._highest_reference = (0, 0)
        self._escaped_k: list[int] = []
        self._is_repeatable = False

    def read(self) -> None:
        cursor = self._cursor
        while c := cursor.at():
            literals = _LITERALS.match(cursor.text, cursor.i)
            if literals:
                cursor.i = literals.end()
                self._is_repeatable = True
            else:
                self._special(c)
        if self._open:
            raise cursor.error("Unterminated group", self._open[-1][0])
        self._check_references()

    def _special(self, c: str) -> None:
        cursor = self._cursor
        match c:
            case "(":
                self._open_group()
            case ")":
                self._close_group()
            case "|":
                cursor.i += 1
                self._names.next_alternative()
                self._is_repeatable = False
            case "^" | "$":
                cursor.i += 1
                self._is_repeatable = False
            case "*" | "+" | "?":
                cursor.i += 1
                self._repeat(cursor.i - 1)
            case "{":
                self._braces()
            case "[":
                pass_class(cursor, self._escaped_k)
                self._is_repeatable = True
            case "\\":
                cursor.i += 1
                self._is_repeatable = self._escape()
            case "]" | "}" if cursor.unicode:
                raise cursor.error("Lone quantifier brackets", cursor.i)
            case _:  # the dot, and literal brackets
                cursor.i += 1
                self._is_repeatable = True

    def _open_group(self) -> None:
        cursor, start = self._cursor, self._cursor.i
        is_repeatable = True
        cursor.i += 1
        if cursor.at() != "?":
            self._captures += 1
        else:
            c, after = cursor.at(1), cursor.at(2)
            cursor.i += 2
            if c == "=" or c == "!":
                is_repeatable = not cursor.unicode
            elif c == "<" and (after == "=" or after == "!"):
                cursor.i += 1
                is_repeatable = False
            elif c == "<":
                self._captures += 1
                self._name(start)
            elif c != ":":
                cursor.i -= 1
                self._modifiers(start)
        self._open.append((start, is_repeatable))
        self._names.open()
        self._is_repeatable = False

    def _close_group(self) -> None:
        cursor = self._cursor
        if not self._open:
            raise cursor.error("Unmatched ')'", cursor.i)
        cursor.i += 1
        _, self._is_repeatable = self._open.pop()
        self._names.close()

    def _name(self, start: int) -> None:
        name = read_name(self._cursor)
        if name is None:
            raise self._cursor.error("Invalid capture group name", start)
        if not self._names.add(name):
            raise self._cursor.error("Duplicate capture group name", start)

    def _modifiers(self, start: int) -> None:
        """Skip the modifiers of a group: `(?i-ms:`"""
        cursor = self._cursor
        seen = ""
        while (c := cursor.at()) != ":" or not seen.strip("-"):
            if not c or c not in "ims-":
                raise cursor.error("Invalid flag group" if seen else "Invalid group", start)
            if c in seen:
                message = "Multiple dashes in flag group" if c == "-" else "Repeated flag in flag group"
                raise cursor.error(message, start)
            seen += c
            cursor.i += 1
        cursor.i += 1

    def _repeat(self, start: int) -> None:
        """Check a quantifier that was just skipped: something must precede it, and a `?` may follow it."""
        if not self._is_repeatable:
            raise self._cursor.error("Nothing to repeat", start)
        if self._cursor.at() == "?":
            self._cursor.i += 1
        self._is_repeatable = False

    def _braces(self) -> None:
        cursor, start = self._cursor, self._cursor.i
        found = _BRACES.match(cursor.text, start)
        if found is None:
            if cursor.unicode:
                message = "Incomplete quantifier" if self._is_repeatable else "Lone quantifier brackets"
                raise cursor.error(message, start)
            cursor.i += 1
            self._is_repeatable = True
            return
        if found[3] and _times(found[1]) > _times(found[3]) and self._is_repeatable:
            raise cursor.error("Numbers out of order in {} quantifier", start)
        cursor.i = found.end()
        self._repeat(start)

    def _escape(self) -> bool:
        """Skip the rest of an escape. Returns whether it may be repeated."""
        cursor, start = self._cursor, self._cursor.i - 1
        c = cursor.at()
        if c == "b" or c == "B":
            cursor.i += 1
            return False
        if class_escape(cursor):
            return True
        if c == "k":
            self._named_reference(start)
        elif (number := _NUMBER.match(cursor.text, cursor.i)) and c != "0" and cursor.unicode:
            self._highest_reference = max(self._highest_reference, (_times(number[0]), start), key=lambda pair: pair[0])
            cursor.i = number.end()
        else:
            character_escape(cursor, in_class=False)
        return True

    def _named_reference(self, start: int) -> None:
        """Skip `\\k<name>`. Any other `\\k` is the letter k, unless the pattern has named groups or the flag u."""
        cursor = self._cursor
        cursor.i += 1
        after = cursor.i
        name = None
        if cursor.at() == "<":
            cursor.i += 1
            name = read_name(cursor)
        if name is not None:
            self._named_references.append((name, start))
        elif cursor.unicode:
            raise cursor.error("Invalid named reference", start)
        else:
            cursor.i = after
            self._escaped_k.append(start)

    def _check_references(self) -> None:
        cursor = self._cursor
        number, place = self._highest_reference
        if number > self._captures:
            raise cursor.error("Invalid escape", place)
        if cursor.unicode or self._names.every:
            for place in self._escaped_k:
                raise cursor.error("Invalid named reference", place)
            for name, place in self._named_references:
                if name not in self._names.every:
                    raise cursor.error("Invalid named capture referenced", place)


def _times(digits: str) -> int:
    significant = digits.lstrip("0")
    return _ENDLESS if len(significant) > 10 else min(int(significant or "0"), _ENDLESS)


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
