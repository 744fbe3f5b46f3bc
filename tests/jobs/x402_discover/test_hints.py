"""Hints in pages, well-made and hostile."""

from jobs.x402_discover.document import Hint, Source
from jobs.x402_discover.hints import MAX_HINTS
from jobs.x402_discover.reading import read
from tests.each import each

URL = "https://shop.example.com/a/b"


def hints(html: bytes | str, content_type: str = "text/html; charset=utf-8") -> list[tuple[str, str, str | None]]:
    body = html.encode() if isinstance(html, str) else html
    result = read(Source("page", "GET", URL, 200, (("content-type", content_type),), body))
    assert result.entries == ()
    return [(hint.type, hint.value, hint.url) for hint in result.hints]


def test_the_three_hints() -> None:
    """A meta, a link and anchors, with their addresses made absolute."""
    page = """<!DOCTYPE html><META NAME="X402" CONTENT="/.well-known/x402">
    <meta name="x402:version" content="2"><meta name=description content=x402>
    <link rel="alternate x402" href="pay.json"><link rel=stylesheet href=x402.css>
    <a href="../bazaar.json?page=1#top">Bazaar</a> <a href="/x402">no</a>
    <A HREF=//api.shop.example.com/.well-known/x402>well known</A><a name=x402>"""
    assert hints(page) == [
        ("meta", "/.well-known/x402", "https://shop.example.com/.well-known/x402"),
        ("meta", "2", None),
        ("link", "pay.json", "https://shop.example.com/a/pay.json"),
        ("anchor", "../bazaar.json?page=1#top", "https://shop.example.com/bazaar.json?page=1"),
        ("anchor", "//api.shop.example.com/.well-known/x402", "https://api.shop.example.com/.well-known/x402"),
    ]


def test_a_base_element() -> None:
    """The first one is what addresses are relative to."""
    page = "<base href='https://cdn.example.org/x/'><base href=https://other.example/><link rel=x402 href=y>"
    assert hints(page) == [("link", "y", "https://cdn.example.org/x/y")]


@each(
    "href",
    [
        "javascript:alert(1)//.well-known/x402",
        "file:///bazaar.json",
        "http://u:p@h/bazaar.json",
        "http://[::1/bazaar.json",
    ],
)
def test_an_address_that_cannot_be_called(href: str) -> None:
    """It is reported as written, without a URL."""
    assert hints(f'<a href="{href}">x</a>') == [("anchor", href, None)]


def test_hints_where_none_are() -> None:
    """Comments, scripts, text and attributes of other elements do not count."""
    page = """<!-- <link rel=x402 href=/a> --><script>'<link rel=x402 href=/b>'</script><p>x402 /bazaar.json</p>
    <div rel=x402 href=/c></div><meta content=x402><link href=/bazaar.json><textarea><a href=/bazaar.json></a></textarea>"""
    assert hints(page) == []


def test_hints_are_reported_once_and_bounded() -> None:
    """A page of many hints gives each once, up to the limit."""
    assert len(hints("<a href=/bazaar.json>x</a>" * 5_000)) == 1
    assert len(hints("".join(f"<a href=/{number}/bazaar.json>" for number in range(5_000)))) == MAX_HINTS


@each("charset", ["utf-16", "iso-8859-1", "utf-7", "nonsense", "base64", "rot13", "idna", "undefined", "hex"])
def test_any_charset(charset: str) -> None:
    """An encoding that cannot be used is ignored."""
    page = "<link rel=x402 href=/a>"
    assert hints(page, f"text/html; charset={charset}") in ([("link", "/a", "https://shop.example.com/a")], [])


@each(
    "page",
    [
        b"<div>" * 200_000,
        b"<a href=/bazaar.json " + b" ".join(b"a%d=1" % number for number in range(50_000)) + b">",
        b"<" * 500_000,
        b"<!--" * 200_000,
        b"<\0a href=/bazaar.json>",
        bytes(range(256)) * 2_000,
        b"<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><p>&b;&b;",
        b"<!DOCTYPE x SYSTEM 'http://127.0.0.1/'><p>",
        b"<html",
        b"<",
    ],
)
def test_hostile_pages(page: bytes) -> None:
    """They are read to hints or to nothing."""
    assert all(kind == "anchor" for kind, _, _ in hints(page))


def test_a_paywalls_page_has_hints_too() -> None:
    """A 402 with a page for browsers is searched for hints."""
    result = read(Source("page", "GET", URL, 402, (("content-type", "text/html"),), b"<link rel=x402 href=/p>"))
    assert result.hints == (Hint("link", "/p", "https://shop.example.com/p"),)
    assert result.challenge is None


@each("body", [b"", b"plain text", b"{}", b"5", b"\xff\xd8\xff\xe0JFIF"])
def test_what_is_no_page(body: bytes) -> None:
    """Content that is not HTML has no hints."""
    assert read(Source("page", "GET", URL, 200, (("content-type", "image/jpeg"),), body)).hints == ()
