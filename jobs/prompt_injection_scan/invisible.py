"""Lists invisible code points, and the places where they are legitimate."""

TAGS = frozenset(map(chr, range(0xE0000, 0xE0080)))
SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
PRESENTATION = frozenset("\ufe0e\ufe0f")
"""Text or emoji presentation: ordinary after any symbol, and often left behind when an emoji is removed."""
JOINERS = frozenset("\u200c\u200d")
MARKS = frozenset("\u200e\u200f\u061c")
"""Direction marks: single ones are ordinary."""
ZERO_WIDTH = (JOINERS | MARKS | frozenset("\u200b\u2060\ufeff\u034f\u180e\ufff9\ufffa\ufffb")) | frozenset(
    map(chr, (*range(0x2061, 0x2065), *range(0x206A, 0x2070), *range(0x1D173, 0x1D17B)))
)
FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
SOFT_HYPHEN = "\u00ad"
OVERRIDES = frozenset("\u202d\u202e")
EMBEDDINGS = frozenset("\u202a\u202b") | OVERRIDES
ISOLATES = frozenset("\u2066\u2067\u2068")
BIDI = EMBEDDINGS | ISOLATES | frozenset("\u202c\u2069")

BLANK = ZERO_WIDTH | FILLERS | {SOFT_HYPHEN}
"""Characters that look like nothing."""
STRIPPED = (
    TAGS
    | SELECTORS
    | BLANK
    | BIDI
    | frozenset(map(chr, (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))))
)
"""Characters that are removed before the rules search for words."""

_JOINING = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko
    (0x0900, 0x109F),  # Indic scripts, Thai, Lao, Tibetan, Myanmar
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0x1A00, 0x1CFF),  # scripts of South-East Asia
    (0xA800, 0xABFF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),
    (0x10A00, 0x10EFF),
    (0x11000, 0x11FFF),
)
"""Scripts where joiners are part of the spelling, or zero-width spaces separate words."""
_JAMO = ((0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF))
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_PRIVATE = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))


def _within(sign: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return bool(sign) and any(low <= ord(sign) <= high for low, high in ranges)


def is_private(sign: str) -> bool:
    """Whether a character is for private use."""
    return _within(sign, _PRIVATE)


def is_jamo(sign: str) -> bool:
    """Whether it is a part of a Hangul syllable, where a filler is legitimate."""
    return _within(sign, _JAMO)


def is_ideograph(sign: str) -> bool:
    """Whether it is a Han character, whose variants are named by variation selectors."""
    return _within(sign, _IDEOGRAPHS)


def joins(sign: str) -> bool:
    """Whether its script uses joiners."""
    return _within(sign, _JOINING)


def is_spelled(sign: str) -> bool:
    """Whether it is a letter of a script without invisible characters between letters."""
    return sign.isalpha() and not joins(sign) and not is_ideograph(sign) and not "\u3040" <= sign <= "\u30ff"


def is_flag(before: str, tags: str) -> bool:
    """Whether these tags make a flag: a black flag, three to six letters or digits, and the end tag."""
    if before != "\U0001f3f4" or tags[-1] != "\U000e007f" or not 4 <= len(tags) <= 7:
        return False
    return all("0" <= sign <= "9" or "a" <= sign <= "z" for sign in (chr(ord(tag) - 0xE0000) for tag in tags[:-1]))
