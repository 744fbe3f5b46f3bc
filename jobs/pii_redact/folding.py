"""A copy of a text in which all spellings of a character are the same, with positions in the original.

Removed: characters without width (zero-width spaces and joiners, soft hyphens, direction marks, variation selectors, keycaps).
Folded: digits of every script, full-width and mathematical letters and signs, dashes, spaces, middle dots. Each character is
folded alone, so folding a part of a text gives that part of the folded text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import compiled
from jobs.engines.text.table import Table
from jobs.pii_redact.spans import PLACEHOLDERS, PiiKind, Span

BARRIERS: dict[PiiKind, str] = {kind: chr(0xFDD0 + index) for index, kind in enumerate(PLACEHOLDERS)}
"""The character that replaces something redacted. No pattern matches it, and no text contains it after folding."""

_KIND_OF = {placeholder: kind for kind, placeholder in PLACEHOLDERS.items()}
_PLACEHOLDER = compiled("|".join(f"\\[{placeholder[1:-1]}\\]" for placeholder in _KIND_OF))
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


def fold(text: str) -> Layer:
    """Fold a text. Placeholders in it become barriers, so redacted places are not searched again."""
    layer = Layer(text) if text.isascii() else Layer(text).translated(_folded)
    placeholders = _PLACEHOLDER.finditer(layer.text)
    return barred(layer, [Span(match.start(), match.end(), _KIND_OF[match[0] or ""]) for match in placeholders])


def barred(layer: Layer, spans: Sequence[Span]) -> Layer:
    """A copy with a barrier in the place of each span. The spans are in order and do not overlap."""
    return layer.replaced((span.start, span.end, BARRIERS[span.kind]) for span in spans) if spans else layer


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
    if category == "Cs" or char in BARRIERS.values():
        return _REPLACEMENT
    if unicodedata.decomposition(char).startswith(_SAME_BUT):
        same = unicodedata.normalize("NFKC", char)
        return same if len(same) == 1 else char
    return char
