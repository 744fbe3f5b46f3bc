"""What is read of a page, and how it is written."""

import importlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.page import read_page, read_text
from jobs.engines.page.markdown import tidied
from jobs.engines.page.markup import markup_hash
from jobs.engines.page.metadata import Metadata, metadata
from jobs.engines.page.reading import Asked, Extract, Reading
from jobs.engines.page.text import MAX_MARKDOWN, bounded
from jobs.engines.page.tree import body_of, parsed
from jobs.engines.page.writer import body_text
from tests.each import each

LONG = "The harbour has forty berths for visitors, and every one of them has water and power. "


def read(html: str, *, source: str = "", extract: Extract = "article", query: str | None = None) -> Reading:
    asked = Asked(html=html, source=source, url="https://example.com/a/b", extract=extract, query=query)
    return read_page.read(asked)


def scanned(html: str, extract: Extract = "full") -> str:
    return read_text.read(Asked(html=html, source="", url="https://example.com/", extract=extract, query=None)).markdown


def metadata_of(head: str, body: str = "") -> Metadata:
    return metadata(parsed(f"<html><head>{head}</head><body>{body}</body></html>"), "https://example.com/a/b")


STRUCTURED = """\
<nav><ul><li>Home</li><li>News</li></ul></nav><h1>Title</h1><p>One <b>bold</b>
 word</p><ol><li>first</li><li><p>second</p><ul><li>nested</li></ul></li></ol><pre>a  b
*c*</pre><blockquote><p>said</p></blockquote><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>
<p>Press <kbd>Ctrl</kbd> and <code>a | b</code>.</p>
<script>no()</script><noscript>no</noscript><p hidden>no</p><p style="color:red; display: none">no</p><div>end</div>"""
MARKDOWN = """\
- Home
- News

# Title

One bold word

1. first
2. second
  - nested

```
a  b
*c*
```

> said

| A | B |
| --- | --- |
| 1 | 2 |

Press `Ctrl` and `a | b`.

end"""


def test_all_text_is_written_as_markdown() -> None:
    """What is hidden by its own markup is not; there are no link targets."""
    assert body_text(body_of(parsed(STRUCTURED)), is_markdown=True) == MARKDOWN


def test_all_text_is_written_without_markdown() -> None:
    """The same lines without signs."""
    text = body_text(body_of(parsed(STRUCTURED)), is_markdown=False)
    assert text.startswith(
        "Home\nNews\n\nTitle\n\nOne bold word\n\nfirst\nsecond\nnested\n\na  b\n*c*\n\nsaid\n\nA B\n1 2\n\n"
        "Press Ctrl and a | b.\n\nend"
    )


@each(
    ("html", "expected"),
    [
        ("<tr><td>a<td>b|c<tr><td>d", "| a | b\\|c |\n| --- | --- |\n| d |  |"),
        (
            "<thead><tr><th>A</th><th>B</th></tr></thead><tr><td><p>1</p><p>2</p></td><td><ul><li>x</li></ul></td></tr>",
            "| A | B |\n| --- | --- |\n| 1 2 | x |",
        ),
        ("<tr><td>menu</td><td><h2>News</h2><p>one</p><p>two</p></td></tr>", "menu\n\n## News\n\none\n\ntwo"),
        ("<tr><td><table><tr><td>1</td><td>2</td></tr></table></td></tr>", "| 1 | 2 |\n| --- | --- |"),
        ("<tr><td>one column</td></tr><tr><td>of rows</td></tr>", "one column\nof rows"),
        ("<caption>Prices</caption><tr><td>a</td><td>1</td></tr>", "Prices\n| a | 1 |\n| --- | --- |"),
    ],
)
def test_tables(html: str, expected: str) -> None:
    """One with data is a table of Markdown, and one that arranges the page is not; each with and without a tree."""
    html = f"<table>{html}</table>"
    assert body_text(body_of(parsed(html)), is_markdown=True) == expected
    if "</td>" in html or "</th>" in html:  # where ends are left out, only a parser knows them
        assert scanned(html) == expected


def test_a_page_is_read_without_a_tree_as_with_one() -> None:
    """But for what attributes hide, and the white space of preformatted text."""
    html = STRUCTURED.replace("<p hidden>no</p>", "").replace('<p style="color:red; display: none">no</p>', "")
    html = html.replace("<pre>a  b\n*c*</pre>", "")
    expected = body_text(body_of(parsed(html)), is_markdown=True)
    assert scanned(html) == expected


@each(
    ("markdown", "expected"),
    [
        (r"snake\_case\_name and \_emphasis\_", r"snake_case_name and \_emphasis\_"),
        (r"a \* b and \*c\*", r"a * b and \*c\*"),
        (r"\* no list", r"\* no list"),
        (r"about \~5, not \~\~6\~\~", r"about ~5, not \~\~6\~\~"),
        (r"1 \< 2 and \<b>", r"1 < 2 and \<b>"),
        (r"see \[1\] and \[2\](x) and \[a\]\[b\]", r"see [1] and \[2\](x) and [a][b]"),
        (r"- \[x\] done", r"- \[x\] done"),
        ("`a\\_b` and a\\_b", "`a\\_b` and a_b"),
        ("```\na\\_b\n```\na\\_b", "```\na\\_b\n```\na_b"),
        ("a\n\n\n\n\nb  \n", "a\n\nb"),
        ("- a\n  - b", "- a\n  - b"),
    ],
)
def test_needless_escapes_are_stripped(markdown: str, expected: str) -> None:
    """Those that keep a sign from being syntax stay."""
    assert tidied(markdown) == expected


@given(st.text("a\\_*[]`~<( \n", max_size=40))
def test_only_backslashes_and_empty_lines_are_stripped(markdown: str) -> None:
    """Tidying twice may strip more, but never text."""
    assert tidied(markdown).replace("\\", "").split() == markdown.replace("\\", "").split()


@given(st.text("ab \n", max_size=60), st.integers(1, 50))
def test_a_text_is_cut_at_the_end_of_a_block(text: str, limit: int) -> None:
    """Else at the end of a line, else of a word; what is left begins the text."""
    cut, is_cut = bounded(text, limit)
    assert len(cut) <= limit
    assert text.startswith(cut)
    assert is_cut == (len(text) > limit)


def test_a_long_page_is_truncated_after_a_block() -> None:
    """And says so."""
    found = read("<article>" + "".join(f"<p>{n} {LONG * 3}</p>" for n in range(400)) + "</article>")
    assert found.is_truncated
    assert len(found.markdown) <= MAX_MARKDOWN
    assert found.markdown.endswith(LONG.strip())


def test_metadata_is_that_of_the_page() -> None:
    """Linked data come before what is older."""
    found = metadata_of(
        '<title> A \n title </title><meta property="og:title" content="Other"><link rel="canonical" href="../c?x#y">'
        '<script type="application/ld+json">{"@graph": [{"@type": "NewsArticle", "datePublished": "2026-11-02T08:00:00+01:00",'
        ' "author": [{"name": "Ann"}, {"name": "Bo"}]}]}</script><meta name="author" content="Nobody">'
        '<meta property="og:locale" content="en_GB">',
        '<a href="/1">1</a><a href="/1">1</a><a href="#top">2</a><a href="/2">3</a>',
    )
    assert found == Metadata(
        title="A title",
        language="en-GB",
        canonical_url="https://example.com/c?x",
        author="Ann, Bo",
        published_at="2026-11-02T07:00:00Z",
        link_count=2,
    )


@each(
    "head",
    [
        '<script type="application/ld+json">{"author": 5, "datePublished": {}}</script>',
        '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
        '<script type="application/ld+json">{"@graph": [[[[1, null, "x"]]]]}</script>',
        '<link rel="canonical" href="javascript:alert(1)"><link rel=canonical href="http://127.0.0.1/">',
        '<meta name="date" content="soon"><meta name="language" content="English, mostly">',
    ],
)
def test_metadata_of_another_form_are_none(head: str) -> None:
    """Invalid metadata is ignored."""
    assert metadata_of(head) == Metadata()


def test_links_and_images_are_absolute_and_once() -> None:
    """In the order of the page, with a text where any of them has one; what is hidden, or no address, is not among them."""
    many = "".join(f"<a href='/many/{n}'>{n}</a>" for n in range(300))
    html = f"""<base href="/c/"><a href="d?x#y"><img src="i.png" alt=" An  image "></a><a href="/c/d?x">other</a>
    <a href="#top">top</a><a href="/a/b#self">self</a><a href="javascript:x()">no</a><a href="mailto:a@b.c">no</a>
    <a hidden href="/hidden">no</a><a href="http://[">no</a><img data-src="//cdn.example/late.jpg">
    <img src="data:image/png;base64,AAAA"><a href="https://other.example"> Other </a>{many}"""
    url = "https://example.com/a/b"
    asked = Asked(html=html, source="", url=url, extract="text", query=None, with_links=True, with_images=True)
    found = read_page.read(asked)
    assert found.links is not None
    assert len(found.links) == 200
    assert [(link.url, link.text) for link in found.links[:3]] == [
        ("https://example.com/c/d?x", "An image"),
        ("https://other.example", "Other"),
        ("https://example.com/many/0", "0"),
    ]
    assert [(image.url, image.alt) for image in found.images or []] == [
        ("https://example.com/c/i.png", "An image"),
        ("https://cdn.example/late.jpg", None),
    ]
    assert (read(html).links, read(html).images) == (None, None)


def test_the_markup_hash_has_what_a_reader_sees() -> None:
    """And nothing that changes at every load beside it."""

    def of(body: str) -> str:
        return markup_hash(parsed(f"<html><body>{body}</body></html>"))

    base = (
        '<p class="a">text <img src="/x.png?{0}"></p><input type="hidden" value="{0}"><script nonce="{0}">{0}</script>'
    )
    same = [of(base.format(value) + f'<div data-t="{value}" id="r{value}"></div><!-- {value} -->') for value in "12"]
    assert same[0] == same[1]
    assert of("<p>text</p>") != of("<p>Text</p>")
    assert of('<a href="/a">x</a>') != of('<a href="/b">x</a>')
    assert of("<p>a</p>b") != of("<p>ab</p>")


def test_hashes_name_content_not_form() -> None:
    """The text's hash does not see emphasis, the Markdown's does."""
    plain, bold = (
        read(f"<article><p>{LONG}{LONG}</p><p>{word} {LONG * 3}</p></article>") for word in ("Now", "<b>Now</b>")
    )
    assert plain.text_hash == bold.text_hash
    assert plain.markdown_hash != bold.markdown_hash


def test_a_page_that_blanked_itself_is_read_from_its_source() -> None:
    """But not one that scripts filled."""
    full, empty = f"<body><article><p>{LONG * 5}</p></article></body>", "<body><p>Loading</p></body>"
    assert read(empty, source=full).from_source
    assert not read(full, source=empty).from_source
    assert not read(full, source=full).from_source
    assert read(empty, source=full, extract="text").markdown == (LONG * 5).strip()


def test_an_article_that_the_precision_mode_misses_is_found_by_the_default_mode() -> None:
    """The precision mode drops blocks with names of advertisements, here nearly all of the text."""
    blocks = "".join(f'<div class="header teaser promo"><p>{LONG}{n}</p></div>' for n in range(20))
    found = read(f"<article><p>{LONG}</p>{blocks}</article>")
    assert (found.method, found.markdown.count(LONG.strip())) == ("default", 21)


def test_the_larger_run_is_taken_and_the_share_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where trafilatura finds less than half of an article, all of it is taken; comments are no part of it."""
    importlib.import_module("trafilatura.core")
    paragraphs = "".join(f"<p>{n} {LONG}</p>" for n in range(10))
    html = f"<main><h1>Berths</h1>{paragraphs}</main><div class='comments'><p>{LONG * 3}</p></div>"
    for share, method in ((0.3, "main"), (0.7, "precision")):
        part = "\n\n".join(f"{n} {LONG}" for n in range(int(10 * share)))
        monkeypatch.setattr("trafilatura.core.extract", lambda *_, part=part, **__: part)
        found = read(html)
        assert (found.kind, found.method) == ("article", method)
        assert found.coverage == (1.0 if method == "main" else pytest.approx(share, abs=0.05))
        assert found.markdown.count(LONG.strip()) == (10 if method == "main" else 7)


def test_the_librarys_own_error_leaves_the_main_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page must not decide whether a call fails."""

    def fail(*_: object, **__: object) -> str:
        raise RecursionError

    importlib.import_module("trafilatura.core")
    monkeypatch.setattr("trafilatura.core.extract", fail)
    found = read(f"<nav>Menu</nav><p>{LONG}</p>")
    assert (found.method, found.markdown) == ("main", LONG.strip())


@each("html", ["", "   ", "\x00", "<", "</", "<!--", "<p", "&#1114112;", "<html></html>", "plain text", "\ud800"])
@each("extract", ["article", "full", "text"])
def test_hardly_a_page_is_read(html: str, extract: Extract) -> None:
    """As what it shows, or as nothing."""
    assert len(read(html, extract=extract).markdown) <= 10
    assert len(scanned(html.encode("utf-8", "replace").decode(), extract)) <= 10


def test_nothing_of_a_page_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A library's warnings hold its text."""
    read("<p><a>secret</a></p><ref>secret</ref>")
    read("<p></p>")
    assert not caplog.records


@pytest.mark.parametrize("depth", [100, 300, 5_000])
def test_a_deep_page_is_read(depth: int) -> None:
    """Deeper than libxml2 does it, without a tree."""
    assert "deep text" in read("<div>" * depth + "deep text" + "</div>" * depth).markdown


ENDLESS = (
    "<div>",
    "<p>a",
    "<b>a</b>",
    "<ul><li>a",
    "<a ",
    "<",
    "<!--",
    "<script>",
    "&#x",
    "`a",
    "[ ",
    "a_",
    "<pre>",
    "</p>",
)


@pytest.mark.parametrize("part", ENDLESS)
def test_reading_without_a_tree_takes_a_moment(part: str) -> None:
    """Whatever the markup: it is what is left when reading with one takes too long."""
    begin = time.process_time()
    scanned((part * (1_000_000 // len(part) + 1))[:1_000_000])
    assert time.process_time() - begin < 10
