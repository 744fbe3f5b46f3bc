"""Folds all forms of a character to the one that the rules use."""

import unicodedata

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import Haystack, Pattern
from jobs.engines.text.table import Table
from jobs.prompt_injection_scan.invisible import STRIPPED

_LONGEST = 3
"""One code point can expand to eighteen. An expansion longer than this spells no word of a rule."""
_AS_IT_IS = (("\u3400", "\u9fff"), ("\ua000", "\ud7a3"), ("\U00020000", "\U0003ffff"))
"""Han, Yi and others, Hangul: they have no case, and no accents to drop."""

_UNMARKED = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "HIRAGANA", "KATAKANA", "COMBINING")
"""Scripts whose accents are dropped: `précédentes` becomes `precedentes`. In other scripts a mark may be a vowel."""
_LETTERS = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ħ": "h", "ـ": ""}
_SYLLABLE = Pattern(r"[\x{1100}-\x{1112}][\x{1161}-\x{1175}][\x{11A8}-\x{11C2}]?")
_CONTROLS = sorted(filter(str.isascii, STRIPPED))


@Table
def _plain(sign: str) -> str:
    """Removes invisible characters, and makes wide, bold and encircled letters ordinary."""
    if sign in STRIPPED:
        return ""
    if sign.isascii():
        return sign
    plain = unicodedata.normalize("NFKC", sign)
    return plain if len(plain) <= _LONGEST else sign


@Table
def _folded(sign: str) -> str:
    """Also removes case and accents."""
    if sign.isascii():
        return sign.lower()
    if any(low <= sign <= high for low, high in _AS_IT_IS):
        return sign
    form = "".join(_LETTERS.get(letter, letter) for letter in _without_marks(sign.casefold()))
    return form if len(form) <= _LONGEST else sign


def _without_marks(signs: str) -> str:
    parts = unicodedata.normalize("NFKD", signs)
    if len(parts) == 1 and not unicodedata.category(parts).startswith("M"):
        return signs
    if not any(unicodedata.name(part, "").startswith(_UNMARKED) for part in parts):
        return signs
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def plain(layer: Layer) -> Layer:
    """Convert to compatibility form, without invisible characters, and with composed Hangul syllables."""
    if layer.text.isascii() and not any(control in layer.text for control in _CONTROLS):
        return layer
    result = layer.translated(_plain)
    if result.text.isascii() or not any("\u1100" <= sign <= "\u1112" for sign in set(result.text)):
        return result
    found = _SYLLABLE.spans(Haystack(result.text), len(result.text))
    return result.replaced((start, end, unicodedata.normalize("NFC", result.text[start:end])) for start, end in found)


def folded(layer: Layer) -> Layer:
    """Remove case and accents too."""
    return layer.same_length(layer.text.lower()) if layer.text.isascii() else layer.translated(_folded)


def fold(text: str) -> str:
    """Fold the words of a rule. ASCII stays as it is, because it is syntax there."""
    return "".join(sign if sign.isascii() else _folded[ord(sign)] for sign in text)
