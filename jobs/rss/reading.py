"""The calculation that reads the body of a response as a feed."""

from __future__ import annotations

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
