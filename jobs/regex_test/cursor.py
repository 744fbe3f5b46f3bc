"""The position of the reader in a pattern."""

import re

_HEX = re.compile(r"[0-9a-fA-F]*")
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


class PatternError(ValueError):
    """A pattern that is not in the language.

    Attributes:
        message: what is wrong, in the words of JavaScript engines. It never quotes the pattern.
        index: position in UTF-16 units.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.message = message
        self.index = index


class Cursor:
    """A pattern as a sequence of code points with the flag u, or of UTF-16 units without it.

    Attributes:
        text: one character per code point or unit.
        size: number of characters.
        unicode: whether the flag u is set.
        i: the position in `text`.
    """

    def __init__(self, pattern: str, *, unicode: bool) -> None:
        self.unicode = unicode
        self.text = pattern if unicode else units_of(pattern)
        self.size = len(self.text)
        self.i = 0

    def at(self, offset: int = 0) -> str:
        """The character at this offset; empty at the end."""
        i = self.i + offset
        return self.text[i] if i < self.size else ""

    def error(self, message: str, i: int) -> PatternError:
        """The error for a problem at a position in `text`."""
        return PatternError(message, i + sum(c > "\uffff" for c in self.text[:i]))

    def hex(self, digits: int) -> int | None:
        """Skip exactly `digits` hexadecimal digits and return their value. None, without skipping, when they are not there."""
        found = self.text[self.i : self.i + digits]
        if len(found) < digits or not _HEX_DIGITS.issuperset(found):
            return None
        self.i += digits
        return int(found, 16)

    def braced_hex(self) -> int | None:
        """Skip a code point in hexadecimal digits within braces. None, without skipping, when there is none."""
        found = _HEX.match(self.text, self.i + 1)
        assert found is not None
        digits = found[0].lstrip("0")
        if not found[0] or len(digits) > 6 or self.text[found.end() : found.end() + 1] != "}":
            return None
        value = int(digits or "0", 16)
        if value > 0x10FFFF:
            return None
        self.i = found.end() + 1
        return value


def units_of(text: str) -> str:
    """The UTF-16 units of a text, one character each, as in JavaScript's strings."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")))
