"""Checks the characters directly before and after a number."""

import unicodedata

_CURRENCIES = frozenset(
    ("usd", "eur", "gbp", "chf", "inr", "jpy", "cny", "rmb", "aud", "cad", "nzd", "brl", "mxn", "rs", "kr")
)

BARRIER = "\ufdd0"
"""The character that replaces something redacted. No pattern finds it, and no text contains it after folding."""


def joins(char: str) -> bool:
    """Whether a character (or nothing, at either end of the text) belongs to the same word as a digit beside it.

    Letters of other scripts do not: some have no space between words, and in others no word contains a number. A barrier does,
    so a redaction never makes its neighbour a finding.
    """
    return char.isdigit() or is_barrier(char) or is_latin(char)


def is_barrier(char: str) -> bool:
    """Whether the character replaces something redacted."""
    return "\ufdd0" <= char <= "\ufdef"


def is_latin(char: str) -> bool:
    """Whether it is a Latin letter, with or without accents."""
    return char.isalpha() and (char < "\u0250" or "\u1e00" <= char <= "\u1eff")


def joins_before(text: str, start: int) -> bool:
    """Whether the text before a place belongs to the same word as a digit there. An escaped line break does not."""
    return joins(text[start - 1 : start]) and not is_escape(text, start - 1)


def is_escape(text: str, place: int) -> bool:
    """Whether a letter belongs to the escape of a line break or tab, in a text that is itself JSON."""
    return text[max(0, place - 1) : place + 1] in ("\\n", "\\r", "\\t")


def glued_before(text: str, start: int) -> bool:
    """Whether the text before a number belongs to it: a letter, a digit, or the whole part of a decimal number."""
    return joins_before(text, start) or (text[start - 1 : start] == "." and text[start - 2 : start - 1].isdigit())


def glued_after(text: str, end: int) -> bool:
    """Whether the text after a number belongs to it: a letter, a digit, decimals, a percent or degree sign."""
    char = text[end : end + 1]
    return joins(char) or char in ("%", "\u2030", "\u00b0") or (char == "." and text[end + 1 : end + 2].isdigit())


def is_money(text: str, start: int, end: int) -> bool:
    """Whether a currency is before or after a number."""
    word = word_before(text, start)
    if word.lower() in _CURRENCIES:
        return True
    before, after = text[max(0, start - 2) : start].rstrip(" "), text[end : end + 2].lstrip(" ")
    if any(char and unicodedata.category(char) == "Sc" for char in (before[-1:], after[:1])):
        return True
    return text[end : end + 4].strip(" ").lower() in _CURRENCIES


def word_before(text: str, start: int) -> str:
    """The last 12 letters of the Latin word that ends at a place, or one space or full stop before it."""
    before = text[max(0, start - 14) : start]
    before = before.removesuffix(" ").removesuffix(".")
    letters = len(before)
    while letters and is_latin(before[letters - 1]):
        letters -= 1
    return before[letters:]
