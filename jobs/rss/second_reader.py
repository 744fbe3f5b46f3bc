"""feedparser, for documents that our own reader cannot read: CDF, unclosed elements, undeclared namespaces.

It gets bytes, so it fetches and opens nothing. Its texts become plain text here.
"""

import calendar
import io
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from jobs.engines.text.html_text import MAX_SNIPPET, text_of_html
from jobs.rss.fields import MAX_LIST, distinct, identifier, line, name_of, resolved
from jobs.rss.rss import media_type, size_of
from jobs.rss.shape import Enclosure, Feed, Fetched, Format, Item, Reading

_FORMATS: Mapping[str, Format] = {
    **dict.fromkeys(("rss090", "rss091n", "rss091u", "rss092", "rss093", "rss094"), "rss0.9x"),
    "rss10": "rss1",
    **dict.fromkeys(("atom", "atom10", "atom03"), "atom1"),
    "atom03": "atom0.3",
    "cdf": "cdf",
}
"""By feedparser's version. Every other is RSS 2."""


_MOST_BYTES = 500_000
_MOST_DECLARATIONS = 100
"""Limits of what feedparser is given: it takes minutes for a long text of declarations."""
_DECLARATION = re.compile(rb"<!(?!\[CDATA\[|--)")
_CDF = re.compile(rb"<channel\b[^>]{0,1000}\bhref\s{0,9}=", re.IGNORECASE)


def read(fetched: Fetched) -> Reading | None:
    """Read a response. None when it is no feed for feedparser either, or too much for it."""
    import feedparser  # type: ignore[import-untyped]

    if len(fetched.body) > _MOST_BYTES or len(_DECLARATION.findall(fetched.body)) > _MOST_DECLARATIONS:
        return None
    # It would search the disk for this parser at every call, and a child may not.
    feedparser.api.PREFERRED_XML_PARSERS.clear()
    headers = {"content-type": fetched.content_type} if fetched.content_type else {}
    found = feedparser.parse(
        io.BytesIO(fetched.body), response_headers=headers, resolve_relative_uris=False, sanitize_html=False
    )
    if not found.get("version") and not (found.entries and _is_named(found.feed)):
        return None
    items = [_item(entry, fetched.url) for entry in found.entries[: fetched.limit]]
    if not items and not _is_named(found.feed):
        return None
    return Reading(
        feed=_feed(found.feed, _format(found.get("version"), fetched.body), fetched.url),
        items=items,
        total=len(found.entries),
        parsed_by="feedparser",
    )


def _format(version: str | None, body: bytes) -> Format:
    return _FORMATS.get(version or "", "cdf" if not version and _CDF.search(body, 0, 4096) else "rss2")


def _is_named(feed: Mapping[str, Any]) -> bool:
    return bool(_text(feed.get("title")) or _text(feed.get("link")))


def _feed(feed: Mapping[str, Any], kind: Format, url: str) -> Feed:
    image = feed.get("image")
    return Feed(
        format=kind,
        title=_text(feed.get("title")),
        description=_text(feed.get("subtitle")),
        link=resolved(feed.get("link"), [], url),
        feed_link=next(
            (resolved(one.get("href"), [], url) for one in feed.get("links", ()) if one.get("rel") == "self"), None
        ),
        language=line(str(feed.get("language") or "")),
        updated_at=_time(feed.get("updated_parsed")),
        published_at=_time(feed.get("published_parsed")),
        author=name_of(_text(feed.get("author"))),
        image_url=resolved(image.get("href") if isinstance(image, dict) else None, [], url)
        or resolved(feed.get("logo") or feed.get("icon"), [], url),
        generator=_text(feed.get("generator")),
        copyright=_text(feed.get("rights")),
        categories=_categories(feed),
    )


def _item(entry: Mapping[str, Any], url: str) -> Item:
    updated = _time(entry.get("updated_parsed"))
    body = next((one.get("value") for one in entry.get("content", ()) if one.get("value")), None)
    enclosures = [
        Enclosure(url=link, type=media_type(one.get("type")), length=size_of(one.get("length")))
        for one in entry.get("enclosures", ())[:MAX_LIST]
        if (link := resolved(one.get("href"), [], url))
    ]
    return Item(
        title=_text(entry.get("title")),
        link=resolved(entry.get("link"), [], url),
        guid=identifier(entry.get("id")),
        published_at=_time(entry.get("published_parsed")) or updated,
        updated_at=updated,
        author=name_of(_text(entry.get("author"))),
        categories=_categories(entry),
        content_snippet=text_of_html(str(entry.get("summary") or body or ""), limit=MAX_SNIPPET) or None,
        enclosures=enclosures,
    )


def _text(value: Any) -> str | None:
    return text_of_html(value, limit=1000) or None if isinstance(value, str) else None


def _categories(part: Mapping[str, Any]) -> list[str]:
    return distinct(line(str(tag.get("term") or tag.get("label") or "")) for tag in part.get("tags", ()))


def _time(moment: Any) -> str | None:
    """feedparser's struct_time, in UTC."""
    if moment is None:
        return None
    try:
        read_moment = datetime.fromtimestamp(calendar.timegm(moment), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return read_moment.isoformat().replace("+00:00", "Z")
