"""RSS: which element becomes which field."""

import msgspec
import pytest

from tests.each import each
from tests.jobs.rss.feed_of import NAMESPACES, of_feed, of_item, reading, reason, rss

LINK = "https://feeds.example.com/news/"


@each(
    ("channel", "field", "expected"),
    [
        ("<title>A</title><dc:title>B</dc:title>", "title", "A"),
        ("<dc:title>B</dc:title><title> </title>", "title", "B"),
        ("<image><title>I</title></image><title>A</title>", "title", "A"),
        ("<image><title>I</title></image>", "title", None),
        ("<title>A &amp;amp; &lt;i&gt;B&lt;/i&gt;\n C</title>", "title", "A & B C"),
        ("<title>the &lt;div> tag</title>", "title", "the <div> tag"),
        ("<TITLE>A</TITLE>", "title", "A"),
        ("<description>A</description><itunes:subtitle>B</itunes:subtitle>", "description", "A"),
        ("<itunes:subtitle>B</itunes:subtitle>", "description", "B"),
        ("<link>http://a.example/</link>", "link", "http://a.example/"),
        ("<link>\n http://a.example/x \n</link>", "link", "http://a.example/x"),
        ("<link><![CDATA[http://a.example/?a=1&b=2]]></link>", "link", "http://a.example/?a=1&b=2"),
        (
            '<atom:link rel="self" href="http://a.example/f"/><link>http://a.example/</link>',
            "link",
            "http://a.example/",
        ),
        ('<atom:link rel="self" href="http://a.example/f"/>', "link", None),
        ('<atom:link href="http://a.example/f"/>', "link", "http://a.example/f"),
        ("<link>javascript:alert(1)</link>", "link", None),
        ("<link>/home</link>", "link", "https://feeds.example.com/home"),
        ('<atom:link rel="self" href="f.xml"/><atom:link rel="hub" href="h"/>', "feed_link", LINK + "f.xml"),
        ("<link>http://a.example/</link>", "feed_link", None),
        (
            "<lastBuildDate>2021-09-06</lastBuildDate><dc:date>2020-01-01</dc:date>",
            "updated_at",
            "2021-09-06T00:00:00Z",
        ),
        ("<lastBuildDate>soon</lastBuildDate><dc:date>2020-01-01</dc:date>", "updated_at", "2020-01-01T00:00:00Z"),
        ("<pubDate>Mon, 06 Sep 2021 12:00:00 EST</pubDate>", "published_at", "2021-09-06T17:00:00Z"),
        ("<dc:date>2020-01-01</dc:date>", "published_at", None),
        ("<webMaster>W</webMaster><managingEditor>M</managingEditor>", "author", "M"),
        ("<webMaster>w@a.example (W)</webMaster><dc:creator>C</dc:creator>", "author", "W"),
        ("<itunes:author>I</itunes:author><dc:creator>C</dc:creator>", "author", "C"),
        ("<itunes:author>I</itunes:author>", "author", "I"),
        ("<managingEditor>m@a.example</managingEditor>", "author", "m@a.example"),
        ("<managingEditor>Ann B &lt;m@a.example&gt;</managingEditor>", "author", "Ann B"),
        ("<language>en-us</language><dc:language>de</dc:language>", "language", "en-us"),
        ("<dc:language>de</dc:language>", "language", "de"),
        ("<image><url>i.png</url><link>x</link></image>", "image_url", LINK + "i.png"),
        ('<itunes:image href="http://a.example/p.jpg"/>', "image_url", "http://a.example/p.jpg"),
        ('<itunes:image href="p.jpg"/><image><url>i.png</url></image>', "image_url", LINK + "i.png"),
        ("<image/>", "image_url", None),
        ("<copyright>(c)</copyright><dc:rights>r</dc:rights>", "copyright", "(c)"),
        ("<dc:rights>r</dc:rights>", "copyright", "r"),
        ("<generator>g 1</generator>", "generator", "g 1"),
        (
            "<dc:subject>s</dc:subject><itunes:keywords>k, l ,, k</itunes:keywords><category> c </category>"
            '<category domain="x">d</category><category/>'
            '<itunes:category text="Arts &amp; C"><itunes:category text="Sub"/></itunes:category>',
            "categories",
            ["c", "d", "Arts & C", "Sub", "k", "l", "s"],
        ),
        ("", "categories", []),
    ],
)
def test_channel(channel: str, field: str, expected: object) -> None:
    """The first of gofeed's table that is there and not empty."""
    assert of_feed(rss(channel), field) == expected


@each(
    ("item", "field", "expected"),
    [
        ("<title>A</title><dc:title>B</dc:title><media:title>M</media:title>", "title", "A"),
        ("<media:title>M</media:title><title>A</title>", "title", "A"),
        ("<dc:title>B</dc:title>", "title", "B"),
        ("<title><b>naked</b> markup</title>", "title", "naked markup"),
        ("<title><![CDATA[Caf&eacute; <em>au</em> lait &#38; more]]></title>", "title", "Café au lait & more"),
        ("<title><![CDATA[1 < 2 & 3]]></title>", "title", "1 < 2 & 3"),
        ("<title/>", "title", None),
        ("<link>/x?a=1&amp;b=2</link>", "link", "https://feeds.example.com/x?a=1&b=2"),
        ("<link>x y</link>", "link", LINK + "x%20y"),
        ("<link>https://m\u00fcnchen.example/\u00fc</link>", "link", "https://m\u00fcnchen.example/\u00fc"),
        ("<link>//cdn.example/x</link>", "link", "https://cdn.example/x"),
        ("<link>?p=1</link>", "link", LINK + "feed.xml?p=1"),
        ("<guid>http://a.example/1</guid>", "link", "http://a.example/1"),
        ('<guid isPermaLink="true">http://a.example/1</guid>', "link", "http://a.example/1"),
        ('<guid isPermaLink="false">http://a.example/1</guid>', "link", None),
        ("<guid>abc</guid>", "link", None),
        ("<guid>http://a.example/1</guid><link>http://a.example/2</link>", "link", "http://a.example/2"),
        ('<atom:link href="http://a.example/3"/>', "link", "http://a.example/3"),
        ("<link>data:text/html,x</link>", "link", None),
        ("<link>http://[::1</link>", "link", "http://[::1"),
        ("<guid> abc \n</guid>", "guid", "abc"),
        (f"<guid>{'x' * 4096}</guid>", "guid", "x" * 4096),
        (f"<guid>{'x' * 4097}</guid>", "guid", None),
        ('<guid isPermaLink="false">tag:a.example,2021:1</guid>', "guid", "tag:a.example,2021:1"),
        ("<link>http://a.example/</link>", "guid", None),
        ("<dc:date>2020-01-01</dc:date><pubDate>2021-09-06</pubDate>", "published_at", "2021-09-06T00:00:00Z"),
        ("<dc:date>2020-01-01</dc:date>", "published_at", "2020-01-01T00:00:00Z"),
        ("<pubDate>someday</pubDate>", "published_at", None),
        ("<dc:date>2020-01-01</dc:date><pubDate>2021-09-06</pubDate>", "updated_at", "2020-01-01T00:00:00Z"),
        ("<pubDate>2021-09-06</pubDate>", "updated_at", None),
        ("<author>a@a.example (Ann)</author><dc:creator>C</dc:creator>", "author", "Ann"),
        ("<dc:creator>C</dc:creator><itunes:author>I</itunes:author>", "author", "C"),
        ("<author><name>N</name><email>n@a.example</email></author>", "author", "N"),
        ("<author> </author><itunes:author>I</itunes:author>", "author", "I"),
        (
            "<category>a</category><category>b</category><dc:subject>c</dc:subject><category>a</category>"
            "<itunes:keywords>d,e</itunes:keywords>",
            "categories",
            ["a", "b", "d", "e", "c"],
        ),
        ("<category>a, b/c</category>", "categories", ["a, b/c"]),
        ("<description>&lt;p&gt;a&lt;/p&gt;</description><content:encoded>b</content:encoded>", "content_snippet", "a"),
        ("<description/><content:encoded><![CDATA[<p>b</p>]]></content:encoded>", "content_snippet", "b"),
        ("<description>&lt;img src='x'&gt;</description><itunes:summary>s</itunes:summary>", "content_snippet", "s"),
        ("<description><p>a</p><p>b &lt; c</p></description>", "content_snippet", "a b < c"),
        ("<description>a &amp;amp; b &amp;lt;c&amp;gt;</description>", "content_snippet", "a & b <c>"),
        ("<media:group><media:description>m</media:description></media:group>", "content_snippet", "m"),
        ("<title>t</title>", "content_snippet", None),
        ("<description>" + "word " * 200 + "</description>", "content_snippet", ("word " * 100).strip() + "…"),
    ],
)
def test_item(item: str, field: str, expected: object) -> None:
    """The first of gofeed's table that is there and not empty; then what else says the same."""
    assert of_item(rss("", item), field) == expected


@each(
    ("item", "expected"),
    [
        (
            '<enclosure url="a.mp3" type="audio/mpeg" length="123"/><enclosure url="http://b.example/b" length=""/>',
            [(LINK + "a.mp3", "audio/mpeg", 123), ("http://b.example/b", None, None)],
        ),
        ('<enclosure url="http://b.example/b" length="1,024" type=" "/>', [("http://b.example/b", None, None)]),
        ('<enclosure url="http://b.example/b" length="-1"/>', [("http://b.example/b", None, None)]),
        (f'<enclosure url="http://b.example/b" length="{"9" * 5000}"/>', [("http://b.example/b", None, None)]),
        ('<enclosure type="audio/mpeg"/><enclosure url=""/>', []),
        (
            '<enclosure url="http://b.example/b"/><enclosure url="http://b.example/b"/>',
            [("http://b.example/b", None, None)],
        ),
        (
            '<media:content url="http://b.example/v" type="video/mp4" fileSize="9"/><media:group>'
            '<media:content url="w"/></media:group>',
            [("http://b.example/v", "video/mp4", 9), (LINK + "w", None, None)],
        ),
        ('<enclosure url="http://b.example/b"/><media:content url="x"/>', [("http://b.example/b", None, None)]),
    ],
)
def test_enclosures(item: str, expected: list[object]) -> None:
    """Links are absolute, sizes are numbers or nothing; Media RSS counts where there is no enclosure."""
    found = of_item(rss("", item), "enclosures")
    assert [(enclosure.url, enclosure.type, enclosure.length) for enclosure in found] == expected


def test_bases_apply_from_the_outside_in() -> None:
    """`xml:base` of the root, the channel, the item and the element itself."""
    body = (
        '<rss version="2.0" xml:base="http://b.example/r/"><channel xml:base="c/"><link>1</link>'
        '<item xml:base="i/"><link xml:base="l/">2</link><enclosure url="3"/></item>'
        '<item xml:base="javascript:x"><link>4</link></item></channel></rss>'
    )
    read = reading(body)
    assert read.feed.link == "http://b.example/r/c/1"
    assert read.items[0].link == "http://b.example/r/c/i/l/2"
    assert read.items[0].enclosures[0].url == "http://b.example/r/c/i/3"
    assert read.items[1].link == "http://b.example/r/c/4"


def test_items_are_counted_and_cut() -> None:
    """In the feed's order."""
    body = rss("".join(f"<item><title>{n}</title></item>" for n in range(30)))
    read = reading(body, limit=3)
    assert ([item.title for item in read.items], read.total) == (["0", "1", "2"], 30)


def test_a_feed_without_items() -> None:
    """It is a feed."""
    assert reading(rss("<title>t</title>")).total == 0
    assert reading("<rss><channel/></rss>").feed.format == "rss2"


@each(
    ("start", "expected"),
    [
        ('<rss version="2.0">', "rss2"),
        ('<rss version="2.0.1">', "rss2"),
        ("<rss>", "rss2"),
        ('<rss version="0.91">', "rss0.9x"),
        ('<rss version=" 0.92 ">', "rss0.9x"),
        ('<rss version="0.94" xmlns="http://backend.userland.com/rss2">', "rss0.9x"),
        ('<rss version="2.0" xmlns="http://backend.userland.com/rss2">', "rss2"),
        ('<rss version="2.0" xmlns="http://www.w3.org/2005/Atom">', "rss2"),
        ('<RSS version="2.0">', "rss2"),
    ],
)
def test_formats(start: str, expected: str) -> None:
    """By version; a namespace changes nothing."""
    name = start[1:4]
    read = reading(f"{start}<channel><title>t</title><item><title>i</title></item></channel></{name}>")
    assert (read.feed.format, read.feed.title, read.items[0].title) == (expected, "t", "i")


def test_rdf() -> None:
    """RSS 1.0: items and image beside the channel, `rdf:about` in the place of a guid."""
    read = reading(
        f'<rdf:RDF {NAMESPACES} xmlns="http://purl.org/rss/1.0/"><channel rdf:about="http://a.example/"><title>T</title>'
        "<link>http://a.example/</link><dc:creator>C</dc:creator><dc:date>2020-01-01</dc:date><dc:subject>s</dc:subject>"
        '<image rdf:resource="http://a.example/other.png"/></channel>'
        '<image rdf:about="x"><url>http://a.example/i.png</url></image>'
        '<item rdf:about="http://a.example/1"><title>I</title><link>http://a.example/1?x</link><dc:date>2020-01-02</dc:date>'
        "<dc:subject>u</dc:subject><dc:creator>D</dc:creator><content:encoded>&lt;p&gt;c</content:encoded></item></rdf:RDF>"
    )
    assert msgspec.to_builtins(read) == {
        "feed": {
            "format": "rss1",
            "title": "T",
            "description": None,
            "link": "http://a.example/",
            "feedLink": None,
            "language": None,
            "updatedAt": "2020-01-01T00:00:00Z",
            "publishedAt": None,
            "author": "C",
            "imageUrl": "http://a.example/other.png",
            "generator": None,
            "copyright": None,
            "categories": ["s"],
        },
        "items": [
            {
                "title": "I",
                "link": "http://a.example/1?x",
                "guid": "http://a.example/1",
                "publishedAt": "2020-01-02T00:00:00Z",
                "updatedAt": "2020-01-02T00:00:00Z",
                "author": "D",
                "categories": ["u"],
                "contentSnippet": "c",
                "enclosures": [],
            }
        ],
        "total": 1,
        "parsed_by": "native",
    }


def test_rss_090() -> None:
    """RDF, with Netscape's namespace."""
    read = reading(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">'
        "<channel><title>T</title></channel><item><title>I</title></item></rdf:RDF>"
    )
    assert (read.feed.format, read.feed.title, read.items[0].title) == ("rss0.9x", "T", "I")


@each(
    "body",
    [
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description/></rdf:RDF>',
        "<rss/>",
        "<opml><body/></opml>",
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>',
        "<channel><item/></channel>",
    ],
)
def test_other_documents_are_no_feeds(body: str) -> None:
    """Also those that have the right root and nothing of a feed in it."""
    assert reason(body) == "not_a_feed"


def test_other_namespaces_are_not_mistaken() -> None:
    """A `title` of another namespace is not the title. Prefixes may have any name, and namespaces several spellings."""
    body = (
        '<rss version="2.0" xmlns:x="http://x.example/" xmlns:d="HTTP://purl.org/dc/elements/1.1" '
        'xmlns:it="https://www.itunes.com/dtds/Podcast-1.0.dtd"><channel><x:title>no</x:title><d:title>yes</d:title>'
        "<it:author>who</it:author></channel></rss>"
    )
    assert (of_feed(body, "title"), of_feed(body, "author")) == ("yes", "who")


def test_of_several_links_the_last_one_counts() -> None:
    """As in gofeed. An empty one is none."""
    links = "<link>/first</link><link>/second</link><link> </link>"
    assert of_feed(rss(links), "link") == "https://feeds.example.com/second"
    assert of_item(rss(item=links), "link") == "https://feeds.example.com/second"


@pytest.mark.parametrize("name", ["atom:updated", "dcterms:modified"])
def test_an_item_without_a_date_of_publication_has_that_of_its_update(name: str) -> None:
    """A reader that sorts by one date has one."""
    body = rss(item=f"<{name}>2004-01-02T03:04:05Z</{name}>")
    assert of_item(body, "published_at") == of_item(body, "updated_at") == "2004-01-02T03:04:05Z"
