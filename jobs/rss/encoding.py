"""Decodes the bytes of a feed, whatever encoding they declare.

Valid UTF-8 is always read as UTF-8, because other text is practically never valid UTF-8 by chance. A declared encoding
counts only for other bytes. The document's declaration comes before the server's, which is often a default.
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = (
    (b"<\x00\x00\x00", "utf-32-le"),
    (b"\x00\x00\x00<", "utf-32-be"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""", re.IGNORECASE)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)

# The WHATWG encodings that Python has. Any other codec may not be a text codec, or may take quadratic time (punycode).
_KNOWN = frozenset(
    (
        *("big5", "big5hkscs", "cp866", "cp874", "cp932", "cp949", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk"),
        *("iso2022_jp", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman", "shift_jis", "tis-620", "utf-8"),
        *(f"cp125{n}" for n in range(9)),
        *(f"iso8859-{n}" for n in range(1, 17)),
    )
)
_IN_ASCII = frozenset({"iso2022_jp"})
"""Encodings whose bytes are all ASCII, and therefore valid UTF-8."""


def text_of(body: bytes, content_type: str | None) -> str:
    """Decode a body. Bytes that cannot be decoded become U+FFFD."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    for start, name in _UNMARKED:
        if body.startswith(start):
            return body.decode(name, "replace")
    declared = [known for label in _labels(body, content_type) if (known := _known(label))]
    if declared and declared[0] in _IN_ASCII and b"\x1b" in body:
        return body.decode(declared[0], "replace")
    for name in ("utf-8", *declared):
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    return _repaired(body, declared)


def _labels(body: bytes, content_type: str | None) -> list[str]:
    own = _DECLARED.search(body[:1024])
    server = _CHARSET.search((content_type or "")[:500])
    return [found for found in (own and own[1].decode("ascii"), server and server[1]) if found]


def _known(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    # As in browsers: a declaration of Latin-1 or ASCII means windows-1252, which contains both.
    name = "cp1252" if name in ("iso8859-1", "ascii") else name
    return name if name in _KNOWN else None


def _repaired(body: bytes, declared: list[str]) -> str:
    """Decode a body that fits no encoding, with the encoding that gives fewer errors."""
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    if right >= wrong:
        return text
    return body.decode(next((name for name in declared if name != "utf-8"), "cp1252"), "replace")
