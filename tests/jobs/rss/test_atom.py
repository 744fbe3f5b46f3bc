"""Atom: which element becomes which field."""

from tests.each import each
from tests.jobs.rss.feed_of import atom, of_feed, of_item, reading

BASE = "https://feeds.example.com/news/"


@each(
    ("feed", "field", "expected"),
    [
        ("<title>A</title>", "title", "A"),
        ('<title type="text">a &lt;b&gt; &amp;amp;</title>', "title", "a <b> &amp;"),
        ('<title type="html">a &lt;b&gt;c&lt;/b&gt; &amp;amp;</title>', "title", "a c &"),
        (
            '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">a <b>c</b> &lt;</div></title>',
            "title",
            "a c <",
        ),
        ("<title>a &lt;b&gt;c&lt;/b&gt;</title>", "title", "a c"),
        ("<title>the &lt;div&gt; tag</title>", "title", "the <div> tag"),
        ("<entry><title>E</title></entry>", "title", None),
        ("<subtitle>s</subtitle><tagline>t</tagline>", "description", "s"),
        ("<tagline>t</tagline>", "description", "t"),
        ('<link rel="self" href="f"/><link rel="alternate" href="a"/>', "link", BASE + "a"),
        ('<link rel="self" href="f"/><link href="b"/>', "link", BASE + "b"),
        ('<link rel="self" href="f"/>', "link", None),
        ('<link rel="alternate"/><link href="b"/>', "link", BASE + "b"),
        ('<link rel="http://www.iana.org/assignments/relation/alternate" href="b"/>', "link", BASE + "b"),
        ('<link rel="SELF" href="f"/>', "feed_link", BASE + "f"),
        ("<updated>2003-12-13T18:30:02+01:00</updated>", "updated_at", "2003-12-13T17:30:02Z"),
        ("<modified>2003-12-13</modified>", "updated_at", "2003-12-13T00:00:00Z"),
        ("<updated>2003-12-13</updated>", "published_at", None),
        ("<icon>/i.ico</icon>", "image_url", "https://feeds.example.com/i.ico"),
        ("<icon>/i.ico</icon><logo>/l.png</logo>", "image_url", "https://feeds.example.com/l.png"),
        ("<author><name>N</name><email>e@a.example</email></author>", "author", "N"),
        ("<author><email>e@a.example</email></author>", "author", "e@a.example"),
        ("<author><uri>http://a.example/</uri></author><author><name>M</name></author>", "author", "M"),
        ("<author>plain</author>", "author", "plain"),
        ("<dc:creator>C</dc:creator>", "author", "C"),
        ("<logo>l.png</logo><icon>i.ico</icon>", "image_url", BASE + "l.png"),
        ('<generator uri="http://a.example/" version="1.0"> G </generator>', "generator", "G v1.0 http://a.example/"),
        ('<rights type="html">&amp;copy; 2003</rights>', "copyright", "© 2003"),
        ("<copyright>c</copyright>", "copyright", "c"),
        (
            '<category term="t" label="Label"/><category term="u"/><category scheme="x"/><category>v</category>',
            "categories",
            ["Label", "u", "v"],
        ),
    ],
)
def test_feed(feed: str, field: str, expected: object) -> None:
    """The first of gofeed's table that is there and not empty."""
    assert of_feed(atom(feed), field) == expected


@each(
    ("entry", "field", "expected"),
    [
        ("<id> urn:x:1 </id>", "guid", "urn:x:1"),
        ("<link href='1'/>", "link", BASE + "1"),
        ("<link rel='alternate' type='text/html' href='1'/><link rel='edit' href='2'/>", "link", BASE + "1"),
        ("<link rel='enclosure' href='2'/>", "link", None),
        ("<published>2003-12-13</published><updated>2004-01-01</updated>", "published_at", "2003-12-13T00:00:00Z"),
        ("<issued>2003-12-13</issued>", "published_at", "2003-12-13T00:00:00Z"),
        ("<updated>2004-01-01</updated>", "published_at", "2004-01-01T00:00:00Z"),
        ("<updated>2004-01-01</updated>", "updated_at", "2004-01-01T00:00:00Z"),
        ("<modified>2004-01-01</modified>", "updated_at", "2004-01-01T00:00:00Z"),
        ("<author><name>N</name></author><author><name>M</name></author>", "author", "N"),
        ("<contributor><name>N</name></contributor>", "author", None),
        ("<source><title>S</title><author><name>N</name></author></source>", "author", "N"),
        ("<source><title>S</title><id>x</id><updated>2003-12-13</updated></source>", "title", None),
        ("<category term='a'/><dc:subject>b</dc:subject>", "categories", ["a", "b"]),
        ("<summary>s</summary><content>c</content>", "content_snippet", "c"),
        ("<summary>s</summary><content type='html'> &lt;img/&gt; </content>", "content_snippet", "s"),
        ("<summary>s</summary><content src='x.mp3' type='audio/mpeg'/>", "content_snippet", "s"),
        ("<summary>s</summary><content type='image/png'>iVBORw0KGgo=</content>", "content_snippet", "s"),
        ("<content type='text'>a &lt;b&gt;\n c</content>", "content_snippet", "a <b> c"),
        ("<content type='html'>&lt;p&gt;a&lt;/p&gt;&lt;p&gt;b &amp;amp; c</content>", "content_snippet", "a b & c"),
        ("<content type='text/html'>&lt;p&gt;a&lt;/p&gt;</content>", "content_snippet", "a"),
        ("<content>&lt;p&gt;no type&lt;/p&gt;</content>", "content_snippet", "no type"),
        (
            "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><h1>a</h1>b<br/>c<script>x</script><i>d</i>e"
            "</div></content>",
            "content_snippet",
            "a b c de",
        ),
        (
            "<content type='xhtml'><x:div xmlns:x='http://www.w3.org/1999/xhtml'><x:p>a</x:p><x:style>x</x:style></x:div>"
            "</content>",
            "content_snippet",
            "a",
        ),
        (
            "<media:group><media:description type='plain'>m &lt;b></media:description></media:group>",
            "content_snippet",
            "m <b>",
        ),
        ("<content type='application/xml'><x><y>a</y></x></content>", "content_snippet", "a"),
    ],
)
def test_entry(entry: str, field: str, expected: object) -> None:
    """Text by its type; what a type does not call text is none."""
    assert of_item(atom("", entry), field) == expected


def test_enclosures() -> None:
    """Links of that relation, each once."""
    entry = (
        "<link rel='enclosure' href='a.mp3' type='audio/mpeg' length='12'/><link rel='enclosure' href='a.mp3'/>"
        "<link rel='enclosure' href='http://b.example/'/><link rel='enclosure'/>"
    )
    found = of_item(atom("", entry), "enclosures")
    assert [(enclosure.url, enclosure.type, enclosure.length) for enclosure in found] == [
        (BASE + "a.mp3", "audio/mpeg", 12),
        ("http://b.example/", None, None),
    ]


def test_language_and_bases() -> None:
    """They are attributes of the feed, and of what is in it."""
    attributes = 'xml:lang="de-AT" xml:base="http://b.example/x/"'
    read = reading(
        atom('<link href="."/>', '<link xml:base="/e/" href="1"/><title xml:lang="en">t</title>', attributes)
    )
    assert (read.feed.language, read.feed.link) == ("de-AT", "http://b.example/x/")
    assert read.items[0].link == "http://b.example/e/1"


def test_atom_03() -> None:
    """Its own names, and texts by their mode."""
    read = reading(
        '<feed version="0.3" xmlns="http://purl.org/atom/ns#">'
        '<title mode="escaped" type="text/html">a &lt;b&gt;c&lt;/b&gt;</title>'
        '<tagline>t</tagline><modified>2003-12-13T18:30:02Z</modified><copyright>c</copyright><link rel="alternate" '
        'type="text/html" href="http://a.example/"/><entry><title>E</title><id>i</id><issued>2003-12-13T08:29:29-04:00</issued>'
        "<modified>2003-12-13T18:30:02Z</modified><created>2003-12-12</created>"
        '<content type="application/xhtml+xml" mode="xml"><div xmlns="http://www.w3.org/1999/xhtml">x <b>y</b></div></content>'
        '</entry><entry><content type="text/plain" mode="escaped">a &lt;b</content></entry>'
        '<entry><content type="text/html" mode="base64">PHA+YmFzZTwvcD4=</content></entry>'
        '<entry><content mode="base64">%%%</content></entry></feed>'
    )
    assert (read.feed.format, read.feed.title, read.feed.description) == ("atom0.3", "a c", "t")
    assert (read.feed.copyright, read.feed.updated_at) == ("c", "2003-12-13T18:30:02Z")
    entry = read.items[0]
    assert (entry.published_at, entry.updated_at) == ("2003-12-13T12:29:29Z", "2003-12-13T18:30:02Z")
    assert [item.content_snippet for item in read.items] == ["x y", "a <b", "base", None]


@each(
    ("start", "expected"),
    [
        ('<feed xmlns="http://www.w3.org/2005/Atom">', "atom1"),
        ('<a:feed xmlns:a="http://www.w3.org/2005/Atom">', "atom1"),
        ("<feed>", "atom1"),
        ('<feed version="0.3">', "atom0.3"),
        ('<feed version="0.3" xmlns="http://purl.org/atom/ns#">', "atom0.3"),
    ],
)
def test_formats(start: str, expected: str) -> None:
    """By namespace; without one by version."""
    prefix = "a:" if start.startswith("<a:") else ""
    body = f"{start}<{prefix}title>t</{prefix}title><{prefix}entry/></{prefix}feed>"
    read = reading(body)
    assert (read.feed.format, read.feed.title, read.total) == (expected, "t", 1)
