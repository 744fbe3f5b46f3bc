"""The shape that every feed is converted to."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Format = Literal["rss2", "rss1", "rss0.9x", "atom1", "atom0.3", "cdf"]
Parser = Literal["native", "feedparser"]
Time = Annotated[str, msgspec.Meta(description="ISO 8601, UTC.", extra_json_schema={"format": "date-time"})]


class Enclosure(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that belongs to an item. `length`: bytes, as the feed states it."""

    url: str
    type: str | None
    length: int | None


class Item(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry. `guid`: as in the feed, a permalink or not. `contentSnippet`: text without markup, at most 500 characters."""

    title: str | None
    link: str | None
    guid: str | None
    published_at: Time | None
    updated_at: Time | None
    author: str | None
    categories: list[str]
    content_snippet: str | None
    enclosures: list[Enclosure]


class Feed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The feed itself. `feedLink`: the address that the feed states for itself."""

    format: Format
    title: str | None
    description: str | None
    link: str | None
    feed_link: str | None
    language: str | None
    updated_at: Time | None
    published_at: Time | None
    author: str | None
    image_url: str | None
    generator: str | None
    copyright: str | None
    categories: list[str]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A feed with its first items. `total`: the number of all items. `parsed_by`: the reader."""

    feed: Feed
    items: list[Item]
    total: int
    parsed_by: Parser = "native"


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A response to be read as a feed. `limit`: how many items to return."""

    url: str
    content_type: str | None
    body: bytes
    limit: int
