"""Decodes text in invisible characters."""

import unicodedata

from jobs.prompt_injection_scan.invisible import SELECTORS, TAGS

_CHANCE = 2
"""A decoded text this short is a coincidence."""


def readable(text: str) -> bool:
    """Whether a person may have written this: nearly all letters, digits, punctuation and blanks."""
    if len(text) <= _CHANCE:
        return False
    odd = sum(1 for sign in text if sign not in "\t\n\r" and unicodedata.category(sign)[0] in "CM")
    return odd * 20 <= len(text) and any(sign.isalnum() for sign in text)


def as_text(data: bytes) -> str | None:
    """Decode bytes as UTF-8 or, as PowerShell writes it, UTF-16."""
    encoding = "utf-16-le" if data[1::2].count(0) * 2 > len(data[1::2]) else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if readable(text) else None


def from_tags(run: str) -> str:
    """Decode tag characters: each is ASCII plus an offset."""
    signs = (chr(ord(tag) - 0xE0000) for tag in run if tag in TAGS)
    return "".join(sign for sign in signs if sign == "\n" or " " <= sign <= "~")


def from_selectors(run: str) -> str | None:
    """Decode variation selectors: 256 of them are the 256 bytes, or the higher 240 are ASCII plus an offset, or two are
    bits."""
    codes = [ord(sign) for sign in run if sign in SELECTORS]
    data = bytes(code - 0xFE00 if code < 0xFE10 else code - 0xE0100 + 16 for code in codes)
    text = as_text(data)
    if text is None and min(codes) >= 0xE0120:
        text = as_text(bytes(code - 0xE0100 for code in codes))
    return text or from_bits(run)


def from_bits(run: str) -> str | None:
    """Decode bytes in two characters that stand for bits. A third one may separate the bytes."""
    kinds = sorted(set(run), key=lambda kind: (-run.count(kind), kind))
    if not 2 <= len(kinds) <= 3:
        return None
    for zero, one in ((min(kinds[:2]), max(kinds[:2])), (max(kinds[:2]), min(kinds[:2]))):
        bits = "".join("0" if sign == zero else "1" for sign in run if sign in (zero, one))
        for width in (8, 7):
            if len(bits) < 3 * width or len(bits) % width:
                continue
            text = as_text(bytes(int(bits[at : at + width], 2) for at in range(0, len(bits), width)))
            if text is not None:
                return text
    return None
