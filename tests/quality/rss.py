"""rss: the fields of one article, in feeds of every format, whole and broken."""

from collections.abc import Iterator, Mapping

from jobs.rss.reading import read
from jobs.rss.shape import Fetched
from shared.outcome import UpstreamFailed
from tests.quality.scorer import Measure

_RIGHT = ("News", "https://shop.example/", "Tea & cups", "https://shop.example/tea", "2026-11-22T09:00:00Z")
_ITEM = "<title>Tea &amp; cups</title><link>https://shop.example/tea</link>"
_CHANNEL = "<title>News</title><link>https://shop.example/</link>"
_PUBLISHED = "<pubDate>Sun, 22 Nov 2026 10:00:00 +0100</pubDate>"
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
_DATE = "<dc:date>2026-11-22T09:00:00Z</dc:date>"
_RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'

_OPEN: Mapping[str, str] = {
    "rss 2": f'<rss version="2.0"><channel>{_CHANNEL}<item>{_ITEM}{_PUBLISHED}</item></channel></rss>',
    "rss 1": f"<rdf:RDF {_RDF} {_DC}><channel>{_CHANNEL}</channel><item>{_ITEM}{_DATE}</item></rdf:RDF>",
    "atom": (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><link href="https://shop.example/"/><entry>'
        '<title>Tea &amp; cups</title><link href="https://shop.example/tea"/><published>2026-11-22T09:00:00Z</published></entry></feed>'
    ),
}
_SET_ASIDE: Mapping[str, str] = {
    "atom without published": _OPEN["atom"].replace("published>", "updated>"),
    "atom with relative links": _OPEN["atom"].replace('href="https://shop.example/tea"', 'href="/tea"'),
    "bare ampersand": _OPEN["rss 2"].replace("&amp;", "&"),
    "not closed": _OPEN["rss 2"].removesuffix("</item></channel></rss>"),
    "warning before": "<br />\n<b>Warning</b>: x in y on line 3\n" + _OPEN["rss 2"],
    "two links": _OPEN["rss 2"].replace(
        "<link>https://shop.example/tea</link>", "<link>/old</link><link>https://shop.example/tea</link>"
    ),
    "html entities": _OPEN["rss 2"].replace("&amp;", "&#38;amp;"),
    "channel alone": f"<channel>{_CHANNEL}<item>{_ITEM}{_PUBLISHED}</item></channel>",
    "cdf": (
        '<CHANNEL HREF="https://shop.example/"><TITLE>News</TITLE><ITEM HREF="https://shop.example/tea" '
        'LASTMOD="2026-11-22T09:00:00Z"><TITLE>Tea &amp; cups</TITLE></ITEM></CHANNEL>'
    ),
}


def measures(held_out: bool) -> Iterator[Measure]:
    """Five fields of each feed."""
    for name, body in (_SET_ASIDE if held_out else _OPEN).items():
        found = _fields(body)
        yield Measure(name, len(_RIGHT), sum(one == right for one, right in zip(found, _RIGHT, strict=True)))


def _fields(body: str) -> tuple[str | None, ...]:
    try:
        reading = read(Fetched(url="https://shop.example/feed.xml", content_type=None, body=body.encode(), limit=5))
    except UpstreamFailed:
        return (None,) * len(_RIGHT)
    item = reading.items[0] if reading.items else None
    of_item = (item.title, item.link, item.published_at) if item else (None, None, None)
    return (reading.feed.title, reading.feed.link, *of_item)
