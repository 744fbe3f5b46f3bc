"""The one form in which texts of pages are returned, hashed, compared and kept."""

import hashlib
import re
import unicodedata

MAX_MARKDOWN = 60_000
"""Code points of the Markdown of one answer."""

_BLANKS = re.compile(r"[ \t\u00a0]+(?=\n|$)")
_ENDS = re.compile(r"\r\n?|[\u2028\u2029\u0085]")
_NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def normalised(text: str) -> str:
    """The text in NFC, with `\\n` at the end of lines, and without blanks there, blank lines around it, and control characters.

    Two texts that differ in nothing else are the same text. Normalising twice changes nothing more.
    """
    text = _NOT_TEXT.sub("", _ENDS.sub("\n", text))
    return _BLANKS.sub("", unicodedata.normalize("NFC", text)).strip("\n")


def lines_of(text: str) -> list[str]:
    """The lines of a normalised text. The empty text has none."""
    return text.split("\n") if text else []


def sha256(text: str) -> str:
    """The SHA-256 of the text as UTF-8, in lower-case hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def bounded(text: str, limit: int = MAX_MARKDOWN) -> tuple[str, bool]:
    """The blocks of a normalised text that fit, and whether that is less than all of it.

    It ends after a block where one ends in the second half of what fits, else after a line there, else after a word.
    """
    if len(text) <= limit:
        return text, False
    for end in ("\n\n", "\n", " "):
        if (at := text.rfind(end, limit // 2, limit + len(end))) >= 0:
            return text[:at].rstrip(), True
    return text[:limit].rstrip(), True
