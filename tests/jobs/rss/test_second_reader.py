"""What our own reader calls no feed is given to feedparser."""

import pytest

from tests.each import each
from tests.jobs.rss.feed_of import reading, reason, rss

CDF = """<CHANNEL HREF="https://shop.example/"><TITLE>News</TITLE>
<ITEM HREF="/tea" LASTMOD="2026-11-22"><TITLE>Tea</TITLE><ABSTRACT>Green &amp; black</ABSTRACT></ITEM></CHANNEL>"""
NO_ROOT = "<channel><title>News</title><item><title>Tea</title><link>https://shop.example/tea</link></item>"


@pytest.mark.parametrize(("body", "kind"), [(CDF, "cdf"), (NO_ROOT, "rss2")])
def test_what_only_feedparser_reads(body: str, kind: str) -> None:
    """The answer has the same shape, and names the reader."""
    found = reading(body)
    assert (found.parsed_by, found.feed.format, found.feed.title, found.total) == ("feedparser", kind, "News", 1)
    assert (found.items[0].title, (found.items[0].link or "").rpartition("/")[2]) == ("Tea", "tea")


def test_our_own_reader_comes_first() -> None:
    """feedparser is not asked about what we can read."""
    assert reading(rss("<title>A</title>")).parsed_by == "native"


@each(
    "body",
    [
        "<html><head><title>x</title></head><body><item>a</item></body></html>",
        "file:///etc/passwd",
        "http://127.0.0.1:9/feed.xml",
        "hello",
        '{"items": [{"title": "a"}]}',
        "<urlset><url><loc>https://shop.example/</loc></url></urlset>",
        "<!ELEMENT a>" * 200 + NO_ROOT,
    ],
)
def test_what_neither_reader_reads(body: str) -> None:
    """It is refused as `not_a_feed`. An address in a body is not opened."""
    assert reason(body) == "not_a_feed"
