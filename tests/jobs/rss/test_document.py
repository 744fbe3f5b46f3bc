"""What is not quite XML, and what is made to do harm."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.outcome import UpstreamFailed
from tests.each import each
from tests.jobs.rss.feed_of import atom, of_feed, of_item, reading, reason, rss


def refusal(body: str | bytes, **more: Any) -> str | None:
    """The reason, or None for what is read."""
    try:
        reading(body, **more)
    except UpstreamFailed as refused:
        return refused.reason
    return None


BOMB = (
    '<!DOCTYPE r [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]><rss><channel><title>&a9;</title></channel></rss>"
)


@each(
    ("title", "expected"),
    [
        ("AT&T", "AT&T"),
        ("a &nbsp; b &eacute; &copy;", "a b \u00e9 \u00a9"),
        ("a & b &; &#; &foo", "a & b &; &#; &foo"),
        ("1 < 2", "1 < 2"),
        ("x\x00y\x01\x0bz\ufffe", "xyz"),
        ("a &#0; b", "a b"),
        ("a &#xD800; b", "a b"),
        ("<![CDATA[AT&T < x & y &nbsp;]]> & more", "AT&T < x & y & more"),
        ("<b>unclosed", "unclosed"),
        ("<b>wrong</i>", "wrong"),
    ],
)
def test_what_html_allows(title: str, expected: str) -> None:
    """It is read as it was meant."""
    assert of_feed(rss(f"<title>{title}</title>"), "title") == expected


@each(
    "body",
    [
        "\n\n  " + rss("<title>t</title>"),
        "\ufeff\ufeff" + rss("<title>t</title>"),
        "<br />\n<b>Warning</b>: in <b>/x.php</b>\n" + rss("<title>t</title>"),
        "garbage " + rss("<title>t</title>"),
        rss("<title>t</title>") + "<!-- cached --><script>x</script>",
        rss("<title>t</title>")[:-20],
        "<!-- a --><?xml-stylesheet href='x'?><!DOCTYPE rss PUBLIC 'x' 'http://127.0.0.1:9/x.dtd'>"
        + rss("<title>t</title>").partition("?>")[2],
        '<rss version="2.0"><channel><title>t</title><dc:creator>x</dc:creator></channel></rss>',
        rss("<title>t</title><!-- a -- b --><x y=1 y=2>"),
        rss("<?php echo 1 ?><title><!-- c -->t<?x y?></title>"),
    ],
    ids=[
        *("blank lines", "two marks", "warnings", "garbage", "after the end", "cut off", "doctype"),
        *("undeclared prefix", "broken comment", "comments and instructions"),
    ],
)
def test_what_is_not_well_formed(body: str) -> None:
    """The feed in it is read."""
    assert of_feed(body, "title") == "t"


def test_undeclared_prefixes_are_taken_at_their_word() -> None:
    """Many feeds forget to declare them."""
    body = "<rss><channel><item><dc:creator>me</dc:creator><title>x</title></item></channel></rss>"
    assert of_item(body, "author") == "me"


def test_items_before_a_mistake_are_kept() -> None:
    """Also when a tag is not closed."""
    read = reading(rss("<item><title>a</title></item><item><title>b<item><title>c</title></item>"))
    assert read.items[0].title == "a"


@each(
    "body",
    [
        "<!DOCTYPE html><html><head><title>t</title></head><body><p>x<br></body></html>",
        "<html><body><rss><channel><title>t</title></channel></rss></body></html>",
        '{"version": "https://jsonfeed.org/version/1.1", "items": []}',
        "plain text",
        "",
        " \n",
        "<",
        "<" * 100_000,
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"\x00" * 1000,
        "<?xml version='1.0'?>",
        "<rss",
        "<!DOCTYPE rss>",
    ],
)
def test_no_feed(body: str | bytes) -> None:
    """HTML, JSON, text, nothing."""
    assert reason(body) == "not_a_feed"


def test_bombs() -> None:
    """Entities that grow are refused; those that do not are read."""
    assert reason(BOMB) == "bad_content"
    quadratic = '<!DOCTYPE r [<!ENTITY a "' + "x" * 50_000 + '">]><rss><channel><title>' + "&a;" * 50_000
    assert reason(quadratic) == "bad_content"
    assert reason(rss("&x;" + "<a>" * 200_000)) == "bad_content"
    kind = '<!DOCTYPE r [<!ENTITY who "Ann &amp; Bob">]><rss><channel><title>by &who;</title></channel></rss>'
    assert of_feed(kind, "title") == "by Ann & Bob"


def test_nothing_is_loaded() -> None:
    """No file: its content is nowhere. That nothing is connected to is tested with a listener (tests/workers/test_rss.py)."""
    body = (
        '<!DOCTYPE rss [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY net SYSTEM "http://127.0.0.1:9/x">'
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/p.dtd"> %p;]><rss xmlns:xi="http://www.w3.org/2001/XInclude"><channel>'
        '<title>a&file;b&net;c</title><description><xi:include href="file:///etc/passwd" parse="text"/></description>'
        "</channel></rss>"
    )
    feed = reading(body).feed
    assert (feed.title, feed.description) == ("abc", None)


def test_a_surrogate_in_an_entity() -> None:
    """What is hidden from the repair makes no text."""
    body = '<!DOCTYPE r [<!ENTITY a "&#38;#xD800;">]><rss><channel><title>&a;</title></channel></rss>'
    assert refusal(body) in (None, "bad_content")


M = 2_000_000
CDATA = "<![CDATA["
HOSTILE: dict[str, Callable[[], str | bytes]] = {
    "2600 items": lambda: rss(
        "".join(
            f"<item><title>I {n} &lt;b>x&lt;/b></title><link>/i/{n}</link><pubDate>Mon, 06 Sep 2021 12:00:00 +0200</pubDate>"
            f"<description>{'&lt;p>hello world&lt;/p> ' * 25}</description></item>"
            for n in range(2600)
        )
    ),
    "200k nested": lambda: rss("", "<a>" * 200_000),
    "nested in HTML": lambda: rss("", f"<description>{CDATA}{'<div>' * (M // 6)}]]></description>"),
    "100k attributes": lambda: "<rss><channel " + " ".join(f'a{n}="1"' for n in range(100_000)) + "><title>t</title>",
    "100k namespaces": lambda: (
        "<rss " + " ".join(f'xmlns:a{n}="u{n}"' for n in range(60_000)) + "><channel>" + "<item/>" * 9000
    ),
    "same attribute": lambda: "<rss " + 'a="1" ' * 300_000 + "><channel/></rss>",
    "megabyte of <": lambda: rss("<title>" + "<" * M),
    "megabyte of &": lambda: rss("<title>" + "&" * M),
    "&a": lambda: rss("", f"<description>{CDATA}{'&a' * (M // 2)}]]></description>"),
    "&#9": lambda: rss("", f"<description>{CDATA}&#{'9' * M};]]></description>"),
    "tags in a title": lambda: rss("", f"<title>{CDATA}{'<b>' * (M // 3)}</b>]]></title>"),
    "naked tags": lambda: rss("", f"<title>{'<i/>' * (M // 4)}</title>"),
    "CDATA opened": lambda: rss("<x>&" + CDATA * (M // 9)),
    "comments opened": lambda: rss("<x>&" + "<!--" * (M // 4)),
    "instructions": lambda: "<rss><channel>" + "<?a?>" * (M // 5),
    "declarations": lambda: b"<?xml " + b'encoding="' * (M // 10),
    "doctypes": lambda: "<!DOCTYPE " * (M // 10) + rss(),
    "entities": lambda: (
        "<!DOCTYPE a [" + "".join(f'<!ENTITY e{n} "x">' for n in range(90_000)) + "]><rss><channel/></rss>"
    ),
    "authors": lambda: atom("", "<author/>" * 200_000),
    "categories": lambda: rss("", "".join(f"<category>{n}</category>" for n in range(70_000))),
    "deep categories": lambda: rss(('<itunes:category text="a">' * 150 + "</itunes:category>" * 150) * 250),
    "keywords": lambda: rss("", "<itunes:keywords>" + ",x" * (M // 2) + "</itunes:keywords>"),
    "enclosures": lambda: rss("", "".join(f'<enclosure url="/{n}"/>' for n in range(70_000))),
    "media": lambda: rss("", "<media:group><media:content url='x'/></media:group>" * 35_000),
    "long base": lambda: atom(
        '<entry xml:base="a/"><link href="x"/></entry>' * 20_000, attributes=f'xml:base="{"a/" * 400_000}"'
    ),
    "address": lambda: rss("", "<author>" + "a@b (" * (M // 5) + "</author>"),
    "date": lambda: rss("", "<pubDate>" + " 1" * (M // 2) + "</pubDate>"),
    "spaces": lambda: rss("", "<description>" + " " * M + "</description>"),
    "spaces before": lambda: " " * M + "<rss><channel/></rss>",
    "spaces after": lambda: "<rss><channel/></rss>" + " " * M,
    "spaces in tags": lambda: "<rss" + " " * (M // 2) + "><channel" + "\n" * (M // 2) + "/></rss>",
    "spaces everywhere": lambda: rss(
        "", f"<title>{' ' * (M // 4)}</title><pubDate>{' ' * (M // 4)}</pubDate><link>{' ' * (M // 4)}"
    ),
    "NUL": lambda: b"\x00" * M,
    "UTF-16": lambda: rss("", "<description>" + "x " * (M // 5) + "</description>").encode("utf-16"),
    "surrogates": lambda: b"<rss><channel><title>\xed\xa0\x80" + b"\xed\xb0\x80" * (M // 3),
    "garbage": lambda: bytes(range(256)) * (M // 256),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_worst_2_mb(name: str) -> None:
    """An answer or a clear refusal, in a fraction of the time a child has (4 s); what comes out can be encoded."""
    body = HOSTILE[name]()
    start = time.process_time()
    assert refusal(body, limit=100) in (None, "not_a_feed", "bad_content")
    assert time.process_time() - start < 3


_PARTS = st.sampled_from(
    [
        *("<rss>", "<channel>", "</channel>", "</rss>", "<item>", "</item>", "<title>", "</title>", "<feed>"),
        "</feed>",
        *("<entry>", "</entry>", "<link href='x' rel='self'/>", "<link>", "</link>", CDATA, "]]>", "<!--", "-->"),
        *("&", "&amp;"),
        *("&nbsp;", "&#0;", "<", ">", "text", " ", "\x00", "\ud7ff", "<author>", "<name>", "</author>"),
        *("xml:base='//'", "<?x"),
        *("<!DOCTYPE x [", "]>", "<!ENTITY a 'b'>", "&a;", "<rdf:RDF xmlns:rdf='x'>", "<content type='xhtml'>"),
        "<image><url>",
        *("<enclosure url='http://['/>", "<pubDate>1 Jan", "<x:y xmlns:x=''>", "<guid>", "</guid>"),
    ]
)


@given(st.lists(_PARTS, max_size=40))
def test_any_sequence_of_parts_is_a_feed_or_none(parts: list[str]) -> None:
    """Nothing else is ever raised."""
    assert refusal("".join(parts)) in (None, "not_a_feed", "bad_content")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_feed_or_none(body: bytes) -> None:
    """Before and within a feed."""
    for raw in (body, b"<rss><channel><title>" + body, b"<feed>" + body + b"<entry/></feed>"):
        assert refusal(raw) in (None, "not_a_feed", "bad_content")
