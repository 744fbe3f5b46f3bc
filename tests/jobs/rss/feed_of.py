"""Feeds of a few lines, read."""

from typing import Any

import msgspec
import pytest

from jobs.rss.reading import calculate, read
from jobs.rss.shape import Fetched, Reading
from shared.outcome import UpstreamFailed

URL = "https://feeds.example.com/news/feed.xml?x=1"
NAMESPACES = " ".join(
    (
        'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"',
        'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/"',
        'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:dcterms="http://purl.org/dc/terms/"',
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"',
    )
)


def fetched(body: str | bytes, *, content_type: str | None = None, limit: int = 20, url: str = URL) -> Fetched:
    raw = body if isinstance(body, bytes) else body.encode()
    return Fetched(url=url, content_type=content_type, body=raw, limit=limit)


def reading(body: str | bytes, **more: Any) -> Reading:
    """As it comes out of the child."""
    raw = calculate(msgspec.msgpack.encode(fetched(body, **more)))
    result = msgspec.msgpack.decode(raw, type=Reading)
    msgspec.json.encode(result).decode()
    return result


def reason(body: str | bytes, **more: Any) -> str | None:
    with pytest.raises(UpstreamFailed) as caught:
        read(fetched(body, **more))
    return caught.value.reason


def rss(channel: str = "", item: str | None = None) -> str:
    items = "" if item is None else f"<item>{item}</item>"
    return f'<?xml version="1.0"?><rss version="2.0" {NAMESPACES}><channel>{channel}{items}</channel></rss>'


def atom(feed: str = "", entry: str | None = None, attributes: str = "") -> str:
    entries = "" if entry is None else f"<entry>{entry}</entry>"
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {NAMESPACES} {attributes}>{feed}{entries}</feed>'


def of_feed(body: str, field: str, **more: Any) -> Any:
    return getattr(reading(body, **more).feed, field)


def of_item(body: str, field: str, **more: Any) -> Any:
    return getattr(reading(body, **more).items[0], field)
