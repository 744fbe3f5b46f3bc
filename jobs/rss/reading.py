"""The calculation that reads the body of a response as a feed."""

from collections.abc import Iterator

import msgspec

from jobs.rss import second_reader
from jobs.rss.atom import read_atom
from jobs.rss.document import Element, root_of
from jobs.rss.encoding import text_of
from jobs.rss.fields import local_name
from jobs.rss.rss import read_rss
from jobs.rss.shape import Fetched, Reading
from shared.outcome import UpstreamFailed

NAME = "read_feed"


def calculate(argument: bytes) -> bytes:
    """Read a Fetched and return its Reading, both as MessagePack. Raises UpstreamFailed, as `read` does."""
    fetched = msgspec.msgpack.decode(argument, type=Fetched)
    return msgspec.msgpack.encode(read(fetched))


def examples() -> Iterator[bytes]:
    """RSS and Atom, and two for the second reader: CDF, and RSS that is no XML."""
    for body in (
        b"""<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://shop.example/</link>
<item><title>Tea &amp; cups</title><pubDate>Sun, 22 Nov 2026 10:00:00 +0100</pubDate><guid>1</guid></item></channel></rss>""",
        b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>Tea</title><id>1</id>
<updated>2026-11-22T10:00:00Z</updated><content type="html">&lt;p&gt;Tea&lt;/p&gt;</content></entry></feed>""",
        b"""<CHANNEL HREF="https://shop.example/"><TITLE>News</TITLE><ITEM HREF="https://shop.example/tea" LASTMOD="2026-11-22">
<TITLE>Tea</TITLE><ABSTRACT>Green &amp; black</ABSTRACT></ITEM></CHANNEL>""",
        b"<channel><title>News</title><item><title>Tea<link>https://shop.example/tea",
    ):
        yield msgspec.msgpack.encode(
            Fetched(url="https://shop.example/feed", content_type="application/xml", body=body, limit=10)
        )


def read(fetched: Fetched) -> Reading:
    """Read the feed in a response. Raises UpstreamFailed `not_a_feed` or `bad_content`.

    What is no feed to our own reader is given to feedparser, which knows CDF and guesses more from broken XML.
    """
    try:
        return _read(root_of(text_of(fetched.body, fetched.content_type)), fetched)
    except UpstreamFailed as refused:
        if refused.reason == "not_a_feed" and (found := second_reader.read(fetched)):
            return found
        raise
    except UnicodeDecodeError:  # lxml cannot return a surrogate, which an entity may contain
        detail = "The feed contains characters that do not exist."
        raise UpstreamFailed(detail, reason="bad_content", is_final=True) from None


def _read(root: Element, fetched: Fetched) -> Reading:
    match local_name(root):
        case "rss" | "rdf" if any(local_name(child) in ("channel", "item") for child in root.iterchildren("*")):
            return read_rss(root, fetched.url, fetched.limit)
        case "feed":
            return read_atom(root, fetched.url, fetched.limit)
    raise UpstreamFailed("The response is XML, but neither RSS nor Atom.", reason="not_a_feed", is_final=True)
