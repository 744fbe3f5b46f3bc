"""The words view: lower-case words with blanks between them, so that one rule fits every layout of a sentence.

Few other signs remain: `.` ends a sentence, a paragraph or an item of a list; `:` and the line feed keep their meaning; a URL
becomes `#####` and a mail address `@@@@@`, each as long as before. Inline HTML tags become blanks, and block tags end a
sentence. The text of attributes that a reader may see (`alt`, `title`) stays.
"""

import unicodedata

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import Haystack, Pattern
from jobs.engines.text.names import names
from jobs.engines.text.table import Table
from jobs.prompt_injection_scan.folding import folded

_URL = Pattern(
    r"(?:(?:https?|hxxps?|ftps?|wss?)://|www\.)[^\s<>\"'`()\[\]{}|]+"
    r"|[a-z0-9][a-z0-9.-]*\.(?:com|net|org|io|xyz|ru|cn|info|dev|app|co|site|top|online|example|test)\b"
    r"(?:/[^\s<>\"'`()\[\]{}|]*)?"
)
_MAIL = Pattern(r"[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,24}")


_INLINE = names("a b big br code del em font i ins kbd mark s small span strike strong sub sup tt u wbr")
_BLOCKS = names(
    """
    article aside blockquote body center dd div dl dt footer h1 h2 h3 h4 h5 h6 header li main ol p section table tbody td th tr
    ul
    """
)
_LOOKS = Pattern(
    r"^(?:(?:class|style|id|rel|target|color|face|size|lang|dir|align|role|data-[a-z-]+)"
    r"\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+)\s*)+$"
)
_END = "\x00"
_BULLETS = ("- ", "* ", "+ ", "• ", "#", "|")


@Table
def _signs(sign: str) -> str:
    """The sign that remains of a character of a folded text."""
    if sign in "!?;":
        return "."
    if sign in "。｡！？；؟۔।॥" or sign == _END:
        return _END
    return sign if sign.isalnum() or unicodedata.category(sign).startswith("M") or sign in ".:\n" else " "


def words(layer: Layer) -> Layer:
    """The words view of a plain layer."""
    low = folded(layer)
    text = _untagged(low.text)
    for bullet in _BULLETS:
        text = text.replace("\n" + bullet, _END + bullet)
    return low.same_length(_sentences(_masked(text)))


def _untagged(text: str) -> str:
    """Remove tags. They leave blanks, or an end of sentence where a block begins or ends."""
    first, *parts = text.split("<")
    pieces = [first]
    for part in parts:
        tag, closed, behind = part.partition(">")
        sign = _sign_of(tag) if closed else None
        pieces.append("<" + part if sign is None else sign + " " * (len(tag) + 1) + behind)
    return "".join(pieces)


def _sign_of(tag: str) -> str | None:
    """The sign that a tag leaves; None when the tag may contain text."""
    inner = tag.removeprefix("/").removesuffix("/")
    if not inner[:1].isalpha():
        return None
    name, *attributes = inner.split(maxsplit=1)
    if attributes and not _LOOKS.found_in(attributes[0]):
        return None
    return " " if name in _INLINE else _END if name in _BLOCKS else None


def _masked(text: str) -> str:
    """Remove signs, and mask addresses."""
    pieces: list[str] = []
    done = 0
    for start, end, mask in _addresses(text):
        if start < done:
            continue
        pieces += (text[done:start].translate(_signs), mask * (end - start))
        done = end
    pieces.append(text[done:].translate(_signs))
    return "".join(pieces)


def _addresses(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    if "." not in text:
        return found
    haystack = Haystack(text)
    if "@" in text:
        found += ((start, end, "@") for start, end in _MAIL.spans(haystack, len(text)))
    found += ((start, end, "#") for start, end in _URL.spans(haystack, len(text)))
    return sorted(found)


def _sentences(text: str) -> str:
    """Keep full stops before a blank only: `i.e`, `3.5`, `ignore.previous` and `wait...` do not end a sentence."""
    text = text.replace("...", "   ").replace(". ", _END + " ").replace(".\n", _END + "\n")
    if text.endswith("."):
        text = text[:-1] + _END
    text = text.replace(".", " ").replace(_END, ".")
    return text.replace("\n\n", "..").replace("\n \n", "...")
