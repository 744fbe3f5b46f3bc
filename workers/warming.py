"""Runs what children will run, once, in the process that forks them.

Two reasons. The first call of a library may take most of a second, and a child that pays for it again and again is late. And a
child cannot open a file: what a library loads when it is first needed must be there, or the answer is another one and no
exception tells of it. Confined and cold, phonenumbers knows no numbers, and personal data stays in the text.
"""

from __future__ import annotations

import codecs
import contextlib
import encodings
import gc
import importlib
import pkgutil
from collections.abc import Collection, Iterator

import msgspec

from jobs.catalogue import CATALOGUE
from jobs.ports import Context
from shared.endpoint import Endpoint
from shared.pools import Pool
from workers.execute import calculate, execute

_LAZY = ("_strptime", "stringprep", "unicodedata", "zoneinfo")
"""Modules that the standard library imports inside functions."""

_PAGE = """<!doctype html><html lang="en">
<head><title>A shop</title><meta name="description" content="Tea, and cups.">
<link rel="canonical" href="https://shop.example/tea"><script type="application/ld+json">{"@type": "Article"}</script></head>
<body><nav><a href="/">Home</a></nav><article><h1>Tea</h1><p>Green tea is <b>4 dollars</b> a cup, and black tea is three.</p>
<ul><li>one</li><li>two</li></ul><table><tr><th>a</th></tr><tr><td>1</td></tr></table>
<pre>x = 1</pre></article></body></html>"""
_FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://shop.example/</link>
<item><title>Tea &amp; cups</title><pubDate>Sun, 22 Nov 2026 10:00:00 +0100</pubDate><guid>1</guid></item></channel></rss>"""
_ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>Tea</title><id>1</id>
<updated>2026-11-22T10:00:00Z</updated><content type="html">&lt;p&gt;Tea&lt;/p&gt;</content></entry></feed>"""
_CDF = b"""<CHANNEL HREF="https://shop.example/"><TITLE>News</TITLE><ITEM HREF="https://shop.example/tea" LASTMOD="2026-11-22">
<TITLE>Tea</TITLE><ABSTRACT>Green &amp; black</ABSTRACT></ITEM></CHANNEL>"""
_BROKEN_FEED = b"<channel><title>News</title><item><title>Tea<link>https://shop.example/tea"
_CAPTIONS = (
    b'<transcript><text start="1.2" dur="3.4">it&amp;#39;s &amp;lt;i&amp;gt;here&amp;lt;/i&amp;gt;</text></transcript>'
)
_CATALOG = b"""{"x402Version": 2, "items": [{"resource": "https://shop.example/tea", "accepts": [{"scheme": "exact",
"network": "eip155:8453", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "amount": "1000", "payTo": "0x1"}]}]}"""


def warm(pools: Collection[Pool]) -> None:
    """Load and run what the children of these pools need; of all pools when none is named."""
    served = tuple(pools) or tuple(Pool)
    for name in _LAZY:
        importlib.import_module(name)
    for module in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(ImportError, LookupError):  # those of another operating system
            importlib.import_module(f"encodings.{module.name}")
            codecs.lookup(module.name)
    for endpoint in isolated(served):
        execute(endpoint, msgspec.json.encode(endpoint.example.request), Context(payer=""))
    for name, argument in examples(served):
        calculate(name, argument)
    if Pool.FAST in served:
        _warm_more()
    gc.collect()


def isolated(pools: Collection[Pool]) -> list[Endpoint]:
    """The endpoints of these pools that may run in a child."""
    return [item for item in CATALOGUE if item.pool in pools and item.calculates]


def examples(pools: Collection[Pool]) -> Iterator[tuple[str, bytes]]:
    """Calculations of these pools, with arguments."""
    from jobs.page import compare, read_page, read_text
    from jobs.page.reading import Asked
    from jobs.rss import reading as feed
    from jobs.rss.shape import Fetched
    from jobs.ssl_info import examination
    from jobs.x402_discover import reading as discovery
    from jobs.x402_discover.document import Source
    from jobs.youtube import transcript

    encode = msgspec.msgpack.encode
    if Pool.YOUTUBE in pools:
        yield transcript.NAME, _CAPTIONS
    if Pool.NET in pools:
        for body in (_FEED, _ATOM, _CDF, _BROKEN_FEED):
            fetched = Fetched(url="https://shop.example/feed", content_type="application/xml", body=body, limit=10)
            yield feed.NAME, encode(fetched)
        url = "https://shop.example/"
        html = (("content-type", "text/html; charset=utf-8"),)
        yield discovery.NAME, encode(Source("page", "GET", url, 200, html, _PAGE.encode()))
        yield discovery.NAME, encode(Source("catalog", "GET", url, 200, (), _CATALOG))
        yield examination.NAME, encode(examination.example())
    if Pool.RENDER in pools:
        for extract in ("article", "text"):
            asked = Asked(html=_PAGE, source=_PAGE, url="https://shop.example/", extract=extract, query="tea")
            yield read_page.NAME, encode(asked)
            yield read_text.NAME, encode(asked)
        yield compare.NAME, encode(compare.Texts("green tea\nis 4 dollars\n", "green tea\nis 5 dollars\nnow\n"))


def _warm_more() -> None:
    """What the examples of the pool `fast` do not load."""
    from phonenumbers import PhoneMetadata

    from jobs.faker.allowlist import METHODS
    from jobs.faker.locales import LOCALES
    from jobs.faker.records import SEEDED_REFERENCE, records
    from jobs.regex_test.matching import isolate

    PhoneMetadata.load_all()
    for locale in LOCALES:
        records({name: name for name in METHODS}, 1, seed=1, now=SEEDED_REFERENCE, locale=locale)
    isolate().close()  # it has a thread, which a forked process would not have
