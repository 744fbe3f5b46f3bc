"""feedparser's view of ordinary feeds: another reader, written by others, sees the same in them.

Where the two differ on purpose is left out: which of two elements counts (gofeed's table), and HTML in texts.
"""

import calendar
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

import feedparser  # type: ignore[import-untyped]

from compose.sandbox.upstreams import feeds
from jobs.rss.shape import Item
from tests.each import each
from tests.jobs.rss.feed_of import URL, atom, reading, rss

PODCAST = rss(
    "<title>P</title><link>http://p.example/</link><itunes:author>A</itunes:author><language>en</language>",
    '<title>E 1</title><guid isPermaLink="false">e1</guid><link>http://p.example/1</link>'
    "<pubDate>Tue, 5 Jan 2021 06:07:08 -0800</pubDate><itunes:author>A</itunes:author>"
    '<enclosure url="http://p.example/1.mp3" length="10" type="audio/mpeg"/><itunes:keywords>x</itunes:keywords>'
    "<description>d</description>",
)
OLD = (
    '<rss version="0.91"><channel><title>Old</title><link>http://o.example/</link><description>d</description>'
    "<item><title>I</title><link>http://o.example/1</link><description>text &amp;amp; more</description></item></channel></rss>"
)
OLDEST = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>R</title>'
    "<link>http://r.example/</link></channel><item><title>I</title><link>http://r.example/1</link></item></rdf:RDF>"
)
ATOM_03 = (
    '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>T</title><link rel="alternate" href="http://t.example/"/>'
    "<modified>2004-01-02T03:04:05Z</modified><entry><title>E</title><id>tag:t</id><issued>2004-01-02T03:04:05+02:00</issued>"
    '<modified>2004-02-03T00:00:00Z</modified><link rel="alternate" href="/1"/><author><name>N</name></author></entry></feed>'
)
BASES = atom(
    '<title>t</title><link href="x"/>',
    '<title>e</title><link href="y"/><link rel="enclosure" href="z.mp3" type="audio/mpeg" length="3"/><category term="c"/>',
    'xml:base="http://b.example/a/"',
)
FORMATS = {
    "rss20": "rss2",
    "rss10": "rss1",
    "rss091u": "rss0.9x",
    "rss090": "rss0.9x",
    "atom10": "atom1",
    "atom03": "atom0.3",
}
DOCUMENTS = {
    "sandbox rss": feeds.RSS,
    "sandbox atom": feeds.ATOM,
    "sandbox rdf": feeds.RDF,
    "podcast": PODCAST,
    "0.91": OLD,
    "0.90": OLDEST,
    "atom 0.3": ATOM_03,
    "bases": BASES,
}


def _iso(time: Any) -> str | None:
    return datetime.fromtimestamp(calendar.timegm(time), UTC).isoformat().replace("+00:00", "Z") if time else None


@each("name", DOCUMENTS)
def test_another_reader_sees_the_same(name: str) -> None:
    """Format, titles, links, ids, dates, authors, categories and enclosures."""
    body = DOCUMENTS[name]
    ours = reading(body)
    theirs = feedparser.parse(body.encode(), response_headers={"content-location": URL, "content-type": "text/xml"})
    assert ours.feed.format == FORMATS[theirs.version]
    assert (ours.feed.title, ours.feed.link) == (theirs.feed.get("title"), theirs.feed.get("link"))
    assert len(ours.items) == len(theirs.entries)
    for our, their in zip(ours.items, theirs.entries, strict=True):
        _agree(our, their)


def _agree(ours: Item, theirs: Any) -> None:
    if ours.title and theirs.title_detail.type == "text/plain":
        assert ours.title == theirs.title
    assert ours.link == theirs.get("link")
    assert ours.guid == theirs.get("id")
    assert (ours.published_at or ours.updated_at) == _iso(
        theirs.get("published_parsed") or dict.get(theirs, "updated_parsed")
    )
    assert ours.author == theirs.get("author")
    assert ours.categories == [tag.term for tag in theirs.get("tags", ())]
    # It leaves those of RSS relative.
    assert [(found.url, found.type, str(found.length)) for found in ours.enclosures] == [
        (urljoin(URL, found.href), found.type, found.length) for found in theirs.get("enclosures", ())
    ]
