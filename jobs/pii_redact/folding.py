"""A copy of a text in which all spellings of a character are the same, with positions in the original.

Removed: characters without width (zero-width spaces and joiners, soft hyphens, direction marks, variation selectors, keycaps).
Folded: digits of every script, full-width and mathematical letters and signs, dashes, spaces, middle dots. Each character is
folded alone, so folding a part of a text gives that part of the folded text.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import compiled, escaped
from jobs.engines.text.table import Table
from jobs.pii_redact.spans import PLACEHOLDERS
from jobs.pii_redact.surroundings import BARRIER, is_barrier

_PLACEHOLDERS = "|".join(map(escaped, PLACEHOLDERS.values()))
_PLACEHOLDER = compiled(_PLACEHOLDERS)
_BRACKETS = 2
_REPLACEMENT = "\ufffd"
_NO_WIDTH = frozenset(
    map(chr, (0x034F, 0x180B, 0x180C, 0x180D, 0x20E3, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_LOOK_ALIKE = {
    **dict.fromkeys("\u2043\u2212\u30fc\uff70", "-"),  # the last two: the long vowel sign of Japanese keyboards
    **dict.fromkeys("\u00b7\u2024\u2219\u22c5", "."),
    **dict.fromkeys("\u2044\u2215", "/"),
}
_SAME_BUT = ("<wide>", "<narrow>", "<font>", "<small>")


def fold(text: str, own: Iterable[str] = ()) -> Layer:
    """Fold a text. Placeholders in it become barriers, so redacted places are not searched again.

    Args:
        own: placeholders of the caller. Those in square brackets become barriers too: others may be anywhere in a text.
    """
    layer = _translated(text)
    if "[" not in layer.text:
        return layer
    marks = [_translated(mark).text for mark in own if mark[:1] == "[" and mark[-1:] == "]" and len(mark) > _BRACKETS]
    pattern = compiled("|".join((*map(escaped, marks), _PLACEHOLDERS))) if marks else _PLACEHOLDER
    return barred(layer, [(match.start(), match.end()) for match in pattern.finditer(layer.text)])


def barred(layer: Layer, ranges: Sequence[tuple[int, int]]) -> Layer:
    """A copy with a barrier in the place of each range. The ranges are in order and do not overlap."""
    return layer.replaced((start, end, BARRIER) for start, end in ranges) if ranges else layer


def _translated(text: str) -> Layer:
    return Layer(text) if text.isascii() else Layer(text).translated(_folded)


@Table
def _folded(char: str) -> str:
    """The folded form of one character: one character or nothing."""
    if char in _LOOK_ALIKE:
        return _LOOK_ALIKE[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category == "Cf" or char in _NO_WIDTH:
        return ""
    if category == "Pd":
        return "-"
    if category == "Zs":
        return " "
    if category == "Cs" or is_barrier(char):
        return _REPLACEMENT
    if unicodedata.decomposition(char).startswith(_SAME_BUT):
        same = unicodedata.normalize("NFKC", char)
        return same if len(same) == 1 else char
    return char
