"""The shape that every feed is converted to."""

from typing import Annotated, Literal

import msgspec

from jobs.fields import Time, doc

Format = Literal["rss2", "rss1", "rss0.9x", "atom1", "atom0.3", "cdf"]
Parser = Literal["native", "feedparser"]


class Enclosure(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that belongs to an item, such as an audio file."""

    url: Annotated[str, doc("The file's absolute address.")]
    type: Annotated[str | None, doc("The file's media type. Null when the feed does not state it.")]
    length: Annotated[int | None, doc("The file's size in bytes, as the feed states it. Null when it does not.")]


class Item(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry of the feed. A field that the feed does not state is null."""

    title: Annotated[str | None, doc("The item's title, without markup.")]
    link: Annotated[str | None, doc("The item's absolute address.")]
    guid: Annotated[str | None, doc("The item's id, as in the feed. It need not be an address.")]
    published_at: Annotated[Time | None, doc("When the item was published, ISO 8601 in UTC.")]
    updated_at: Annotated[Time | None, doc("When the item was last changed, ISO 8601 in UTC.")]
    author: Annotated[str | None, doc("The author's name.")]
    categories: Annotated[list[str], doc("The item's categories or tags.")]
    content_snippet: Annotated[str | None, doc("The beginning of the content, without markup, at most 500 characters.")]
    enclosures: Annotated[list[Enclosure], doc("Files that belong to the item.")]


class Feed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The feed itself. A field that the feed does not state is null."""

    format: Annotated[Format, doc("The format that was recognised.")]
    title: Annotated[str | None, doc("The feed's title, without markup.")]
    description: Annotated[str | None, doc("The feed's description, without markup.")]
    link: Annotated[str | None, doc("The absolute address of the website.")]
    feed_link: Annotated[str | None, doc("The address that the feed states for itself.")]
    language: Annotated[str | None, doc("The language that the feed states, such as `en-us`.")]
    updated_at: Annotated[Time | None, doc("When the feed was last changed, ISO 8601 in UTC.")]
    published_at: Annotated[Time | None, doc("When the feed was published, ISO 8601 in UTC.")]
    author: Annotated[str | None, doc("The author's name.")]
    image_url: Annotated[str | None, doc("The absolute address of the feed's image.")]
    generator: Annotated[str | None, doc("The program that made the feed.")]
    copyright: Annotated[str | None, doc("The copyright notice.")]
    categories: Annotated[list[str], doc("The feed's categories.")]


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
