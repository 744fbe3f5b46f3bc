"""A copy of a text in which all spellings of a character are the same, with positions in the original.

Removed: characters without width (zero-width spaces and joiners, soft hyphens, direction marks, variation selectors, keycaps).
Folded: digits of every script, full-width and mathematical letters and signs, dashes, spaces, middle dots. Each character is
folded alone, so folding a part of a text gives that part of the folded text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from jobs.pii_redact.linear import compiled
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


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text.

    Attributes:
        text: the text to search.
        starts: for each of its characters, the start in the original.
        ends: for each of its characters, the end in the original.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def original(self, span: Span) -> Span:
        """The same span in the original. Characters without width belong to it inside, but not at its edges."""
        return Span(self.starts[span.start], self.ends[span.end - 1], span.kind)

    def without(self, spans: Sequence[Span]) -> Folded:
        """A copy with a barrier in the place of each span. The spans are in order and do not overlap."""
        pieces: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for span in spans:
            pieces += (self.text[done : span.start], BARRIERS[span.kind])
            starts += (*self.starts[done : span.start], self.starts[span.start])
            ends += (*self.ends[done : span.start], self.ends[span.end - 1])
            done = span.end
        pieces.append(self.text[done:])
        starts += self.starts[done:]
        ends += self.ends[done:]
        return Folded("".join(pieces), starts, ends)


def fold(text: str) -> Folded:
    """Fold a text. Placeholders in it become barriers, so redacted places are not searched again."""
    folded = Folded(text, range(len(text)), range(1, len(text) + 1))
    if not text.isascii():
        table = {char: _fold(char) for char in set(text) if not char.isascii()}
        pairs = [(table.get(char, char), place) for place, char in enumerate(text)]
        kept = [pair for pair in pairs if pair[0]]
        starts = [place for _, place in kept]
        folded = Folded("".join(char for char, _ in kept), starts, [place + 1 for place in starts])
    placeholders = _PLACEHOLDER.finditer(folded.text)
    return folded.without([Span(match.start(), match.end(), _KIND_OF[match[0] or ""]) for match in placeholders])


def _fold(char: str) -> str:
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
