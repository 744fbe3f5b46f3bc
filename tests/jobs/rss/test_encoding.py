"""Bytes as text: what is declared is often wrong."""

import codecs

from jobs.rss.encoding import text_of
from tests.each import each
from tests.jobs.rss.feed_of import of_feed, rss

TEXT = "Caf\u00e9 \u2014 na\u00efve \u20ac \u201cquoted\u201d"
CYRILLIC = "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440"
JAPANESE = "\u65e5\u672c\u8a9e\u306e\u30cb\u30e5\u30fc\u30b9"


def document(title: str, encoding: str, declared: str | None) -> bytes:
    body = rss(f"<title>{title}</title>").partition("?>")[2]
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    return (declaration + body).encode(encoding)


@each(
    ("title", "encoding", "declared", "content_type"),
    [
        (TEXT, "utf-8", None, None),
        (TEXT, "utf-8", "utf-8", "text/xml"),
        (TEXT, "utf-8", "iso-8859-1", None),
        (TEXT, "utf-8", None, "text/xml; charset=iso-8859-1"),
        (TEXT, "utf-8", "nonsense", "text/html; charset=nonsense"),
        (TEXT, "utf-8-sig", "iso-8859-1", "text/xml; charset=iso-8859-1"),
        (TEXT, "windows-1252", "windows-1252", None),
        (TEXT, "windows-1252", "iso-8859-1", None),
        (TEXT, "windows-1252", "us-ascii", None),
        (TEXT, "windows-1252", "utf-8", "text/xml; charset=utf-8"),
        (TEXT, "windows-1252", None, None),
        (TEXT, "windows-1252", None, "text/xml; charset='windows-1252'"),
        (TEXT, "utf-16", None, None),
        (TEXT, "utf-16", "utf-16", "text/xml; charset=utf-8"),
        (TEXT, "utf-16-le", "utf-16", None),
        (TEXT, "utf-16-be", "utf-8", None),
        (TEXT, "utf-32", None, None),
        (TEXT, "utf-32-be", None, None),
        (CYRILLIC, "windows-1251", "windows-1251", "text/xml; charset=utf-8"),
        (CYRILLIC, "windows-1251", "windows-1251", "text/xml; charset=iso-8859-1"),
        (CYRILLIC, "koi8-r", None, "application/rss+xml; charset=KOI8-R"),
        (CYRILLIC, "iso8859-5", "ISO-8859-5", None),
        (JAPANESE, "shift_jis", "Shift_JIS", None),
        (JAPANESE, "euc_jp", "EUC-JP", None),
        (JAPANESE, "iso2022_jp", "ISO-2022-JP", None),
        (JAPANESE, "utf-8", "ISO-2022-JP", None),
        (JAPANESE, "gb18030", "GB2312", "text/xml; charset=gb18030"),
    ],
)
def test_the_title_is_read(title: str, encoding: str, declared: str | None, content_type: str | None) -> None:
    """The text is decoded with its real encoding, whatever is declared."""
    assert of_feed(document(title, encoding, declared), "title", content_type=content_type) == title


def test_a_broken_byte_spoils_itself_alone() -> None:
    """UTF-8 with one error stays UTF-8."""
    body = document(TEXT, "utf-8", "utf-8").replace(b" na", b" \xffna")
    assert of_feed(body, "title") == TEXT.replace(" na", " \ufffdna")


def test_bytes_that_mean_nothing() -> None:
    """They are replaced: also those that Windows' code page leaves open."""
    assert text_of(b"<a>\x81\xe9</a>", None) == "<a>\ufffd\u00e9</a>"


@each(
    "label",
    [
        "zlib",
        "base64",
        "hex",
        "rot13",
        "punycode",
        "idna",
        "unicode_escape",
        "utf-7",
        "undefined",
        "mbcs",
        "../x",
        "a" * 40,
    ],
)
def test_codecs_that_are_no_encodings(label: str) -> None:
    """They are not used when a document or a server names them."""
    body = document(TEXT, "windows-1252", label)
    assert of_feed(body, "title", content_type=f"text/xml; charset={label}") == TEXT


def test_marks_are_told_apart() -> None:
    """UTF-32's begins as UTF-16's does."""
    assert text_of(codecs.BOM_UTF32_LE + "x".encode("utf-32-le"), None) == "x"
    assert text_of(codecs.BOM_UTF16_LE + "x".encode("utf-16-le") + b"y", None) == "x\ufffd"
    assert text_of(b"", None) == ""
