"""https://feeds.example.com:8443: a feed of each kind, a feed that has moved, and a page that is not a feed."""

from __future__ import annotations

from aiohttp import web

from compose.sandbox.upstreams.place import Place

HOST = "feeds.example.com"

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel>
  <title>Harbour News</title>
  <link>https://feeds.example.com:8443/</link>
  <atom:link rel="self" type="application/rss+xml" href="/news.rss"/>
  <description>What arrives and what leaves</description>
  <language>en-GB</language>
  <copyright>Harbour Office</copyright>
  <managingEditor>office@example.com (Harbour Office)</managingEditor>
  <lastBuildDate>Fri, 20 Nov 2026 16:00:00 +0100</lastBuildDate>
  <pubDate>Fri, 20 Nov 2026 09:00:00 GMT</pubDate>
  <category>shipping</category>
  <generator>harbourmaster 3</generator>
  <image><url>/logo.png</url><title>Harbour News</title><link>https://feeds.example.com:8443/</link></image>
  <item>
    <title>The &lt;em&gt;Marie Celeste&lt;/em&gt; is back &amp;amp; well</title>
    <link>/2026/marie-celeste</link>
    <guid isPermaLink="false">harbour-2</guid>
    <pubDate>Fri, 20 Nov 2026 15:04:05 +0100</pubDate>
    <dc:creator>Ann Chor</dc:creator>
    <category>ships</category>
    <category>history</category>
    <description><![CDATA[<p>After <b>154 years</b>:</p><ul><li>nobody aboard&nbsp;&ndash; again</li></ul>]]></description>
    <enclosure url="/2026/horn.mp3" length="48000" type="audio/mpeg"/>
  </item>
  <item>
    <title>Low tide</title>
    <guid>https://feeds.example.com:8443/2026/low-tide</guid>
    <dc:date>2026-11-19T08:00:00Z</dc:date>
    <description>No ships today.</description>
  </item>
</channel>
</rss>
"""

ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="https://feeds.example.com:8443/log/">
  <title>Harbour Log</title>
  <id>urn:uuid:60a76c80-d399-11d9-b93c-0003939e0af6</id>
  <link href="./"/>
  <link rel="self" href="/log.atom"/>
  <updated>2026-11-20T15:00:00Z</updated>
  <author><name>Harbour Office</name></author>
  <entry>
    <title type="html">Fog &amp;mdash; &lt;b&gt;dense&lt;/b&gt;</title>
    <id>urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a</id>
    <link href="fog"/>
    <published>2026-11-20T06:30:00+01:00</published>
    <updated>2026-11-20T07:00:00+01:00</updated>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Nothing to be <i>seen</i>.</p></div></content>
  </entry>
</feed>
"""

RDF = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
         xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://feeds.example.com:8443/tides.rdf">
    <title>Tides</title>
    <link>https://feeds.example.com:8443/tides</link>
    <description>High and low</description>
    <dc:date>2026-11-20T00:00:00Z</dc:date>
    <items><rdf:Seq><rdf:li rdf:resource="https://feeds.example.com:8443/tides/1"/></rdf:Seq></items>
  </channel>
  <item rdf:about="https://feeds.example.com:8443/tides/1">
    <title>High water 04:12</title>
    <link>https://feeds.example.com:8443/tides/1</link>
    <dc:date>2026-11-20T04:12:00Z</dc:date>
  </item>
</rdf:RDF>
"""

PAGE = "<!doctype html><html><head><title>Harbour</title></head><body><p>No feed here.</p></body></html>"

_FILES = {
    "/": (PAGE, "text/html"),
    "/news.rss": (RSS, "application/rss+xml"),
    "/log.atom": (ATOM, "application/atom+xml"),
    "/tides.rdf": (RDF, "text/plain"),  # servers often do not know what they have
}


async def start(place: Place) -> None:
    """Add the site."""
    place.add_site(HOST, _answer)


async def _answer(request: web.Request) -> web.StreamResponse:
    if request.path == "/old.rss":
        return web.HTTPMovedPermanently("/news.rss")
    if request.path not in _FILES:
        return web.Response(status=404, text="no such feed")
    text, content_type = _FILES[request.path]
    return web.Response(text=text, content_type=content_type, charset="utf-8")
