"""The calculation `read_feed`: a body in, a feed out."""

from __future__ import annotations

import msgspec

from jobs.rss.atom import read_atom
from jobs.rss.document import Element, root_of
from jobs.rss.encoding import text_of
from jobs.rss.fields import local_name
from jobs.rss.rss import read_rss
from jobs.rss.shape import Fetched, Reading
from shared.outcome import UpstreamFailed


def read_feed(argument: bytes) -> bytes:
    """MessagePack of Fetched in, of Reading out. Raises UpstreamFailed `not_a_feed` or `bad_content`."""
    fetched = msgspec.msgpack.decode(argument, type=Fetched)
    return msgspec.msgpack.encode(read(fetched))


def read(fetched: Fetched) -> Reading:
    """Raises UpstreamFailed `not_a_feed` or `bad_content`."""
    try:
        return _read(root_of(text_of(fetched.body, fetched.content_type)), fetched)
    except UnicodeDecodeError:  # an entity may still hide a surrogate, of which lxml makes no text
        raise UpstreamFailed("The feed has characters that there are not.", reason="bad_content") from None


def _read(root: Element, fetched: Fetched) -> Reading:
    match local_name(root):
        case "rss" | "rdf" if any(local_name(child) in ("channel", "item") for child in root.iterchildren("*")):
            return read_rss(root, fetched.url, fetched.limit)
        case "feed":
            return read_atom(root, fetched.url, fetched.limit)
    raise UpstreamFailed("What came back is XML, but neither RSS nor Atom.", reason="not_a_feed")
