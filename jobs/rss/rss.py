"""Reads RSS of every version, and the extensions that replace its own elements. Where several element names are listed, the
first one found counts: first the names in gofeed's table, in its order, then fallbacks of our own."""

from collections.abc import Iterator
from itertools import chain

from jobs.engines.text.html_text import MAX_SNIPPET
from jobs.engines.text.names import names
from jobs.rss.document import Element
from jobs.rss.fields import (
    MAX_LIST,
    Fields,
    content,
    distinct,
    html_line,
    identifier,
    local_name,
    name_of,
    namespace,
    plain,
)
from jobs.rss.shape import Enclosure, Feed, Format, Item, Reading

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_FEED = names(
    """
    title description link lastbuilddate pubdate managingeditor webmaster language image copyright generator
    category atom:link atom:updated atom:title atom:subtitle atom:author dc:title dc:description dc:date dc:author
    dc:creator dc:language dc:rights dc:subject itunes:author itunes:category itunes:image itunes:keywords
    itunes:subtitle itunes:summary dcterms:modified dcterms:issued media:copyright media:thumbnail
    """
)
_ITEM = names(
    """
    title description link guid pubdate author category enclosure content:encoded dc:title dc:description dc:date
    dc:author dc:creator dc:subject media:content media:group itunes:author itunes:keywords itunes:subtitle
    itunes:summary itunes:title xhtml:body dcterms:modified dcterms:issued dcterms:created atom:link atom:updated
    atom:published atom:summary atom:content atom:author media:title media:description
    """
)
_PUBLISHED = ("pubdate", "dc:date", "dcterms:issued", "dcterms:created", "atom:published")
_IMAGE = frozenset({"url", "link", "title"})
_OF_THE_ITEM = ("author", "dc:author", "dc:creator", "itunes:author", "atom:author")
_OF_THE_FEED = ("managingeditor", "webmaster", "dc:author", "dc:creator", "itunes:author", "atom:author")
_SNIPPETS = (
    *("description", "dc:description", "content:encoded", "atom:content", "atom:summary"),
    *("itunes:summary", "media:description", "itunes:subtitle", "xhtml:body"),
)


def read_rss(root: Element, url: str, limit: int) -> Reading:
    """Read a document whose root is `rss` or `RDF`."""
    own = namespace(root) if local_name(root) == "rss" else ""
    channel = next((child for child in root.iterchildren("*") if local_name(child) == "channel"), root)
    fields = Fields(channel, own=own, names=_FEED, url=url)
    around = Fields(root, own=own, names=_FEED, url=url)
    items: list[Item] = []
    total = 0
    for element in _items(root, channel):
        total += 1
        if total <= limit:
            items.append(_item(Fields(element, own=own, names=_ITEM, url=url)))
    return Reading(feed=_feed(fields, around, _format(root), own, url), items=items, total=total)


def _items(root: Element, channel: Element) -> Iterator[Element]:
    """The items. In RSS 1.0, and in broken feeds of other versions, they are siblings of the channel."""
    for parent in (channel, root) if channel is not root else (root,):
        for child in parent.iterchildren("*"):
            if local_name(child) == "item":
                yield child


def _format(root: Element) -> Format:
    if local_name(root) == "rss":
        version = (root.get("version") or "2.0").strip()
        return "rss0.9x" if version.startswith("0.9") else "rss2"
    # The root's own namespace is RDF's. The namespace of its children shows the version of RSS.
    return "rss0.9x" if any("netscape.com" in namespace(child) for child in root.iterchildren("*")) else "rss1"


def _feed(fields: Fields, around: Fields, kind: Format, own: str, url: str) -> Feed:
    return Feed(
        format=kind,
        title=fields.text("title", "dc:title", "atom:title"),
        description=fields.text("description", "itunes:subtitle", "dc:description", "itunes:summary", "atom:subtitle"),
        link=fields.last_link("link") or fields.related("alternate", "atom:link", "link"),
        feed_link=fields.related("self", "atom:link", "link"),
        language=fields.text("language", "dc:language"),
        updated_at=fields.date("lastbuilddate", "dc:date", "atom:updated", "dcterms:modified"),
        published_at=fields.date("pubdate", "dcterms:issued"),
        author=_author(fields, *_OF_THE_FEED),
        image_url=_image(fields, own, url) or _image(around, own, url),
        generator=fields.text("generator"),
        copyright=fields.text("copyright", "dc:rights", "media:copyright"),
        categories=distinct(_categories(fields)),
    )


def _item(fields: Fields) -> Item:
    return Item(
        title=fields.text("title", "dc:title", "atom:title", "itunes:title", "media:title"),
        link=_link(fields),
        guid=fields.identifier("guid") or identifier(fields.element.get(f"{_RDF}about")),
        published_at=fields.date(*_PUBLISHED, "dcterms:modified", "atom:updated"),
        updated_at=fields.date("dc:date", "dcterms:modified", "atom:updated"),
        author=_author(fields, *_OF_THE_ITEM),
        categories=distinct(_categories(fields)),
        content_snippet=_snippet(fields),
        enclosures=_enclosures(fields),
    )


def _link(fields: Fields) -> str | None:
    if link := fields.last_link("link") or fields.related("alternate", "atom:link", "link"):
        return link
    for guid in fields.all("guid"):
        # A guid is a permalink unless it says that it is not. A guid without a scheme never is one.
        text = content(guid).strip()
        if str(guid.get("isPermaLink", "true")).lower() == "true" and text.startswith(("http://", "https://")):
            return fields.resolved(guid, text)
    return None


def _author(fields: Fields, *names: str) -> str | None:
    for element in fields.all(*names):
        # Some feeds put Atom's <name> inside.
        inner = next((child for child in element.iterchildren("*") if local_name(child) == "name"), element)
        if name := name_of(plain(inner)):
            return name
    return None


def _image(fields: Fields, own: str, url: str) -> str | None:
    for image in fields.all("image", "itunes:image", "media:thumbnail"):
        inner = Fields(image, own=own, names=_IMAGE, url=url)
        attribute = image.get("href") or image.get("url") or image.get(f"{_RDF}resource")
        if link := inner.link("url") or inner.resolved(image, attribute):
            return link
    return None


def _categories(fields: Fields) -> Iterator[str | None]:
    for category in fields.all("category"):
        yield plain(category)
    for category in fields.all("itunes:category"):
        for part in category.iter("*"):
            yield (part.get("text") or "").strip()[:200] or None
    for keywords in fields.all("itunes:keywords"):
        for keyword in (plain(keywords) or "").split(","):
            yield keyword.strip()
    for subject in fields.all("dc:subject"):
        yield plain(subject)


def _snippet(fields: Fields) -> str | None:
    elements = chain(
        fields.all(*_SNIPPETS), *(group.all("media:description") for group in fields.inside("media:group"))
    )
    return next((text for element in elements if (text := html_line(element, limit=MAX_SNIPPET))), None)


def _enclosures(fields: Fields) -> list[Enclosure]:
    """The enclosures of an item. If it has none, the files of Media RSS."""
    found = list(_files(fields, list(fields.all("enclosure")), "length"))
    if not found:
        media = list(fields.all("media:content"))
        for group in fields.inside("media:group"):
            media += group.all("media:content")
        found = list(_files(fields, media, "filesize"))
    return list({enclosure.url: enclosure for enclosure in found[:MAX_LIST]}.values())


def _files(fields: Fields, elements: list[Element], length: str) -> Iterator[Enclosure]:
    for element in elements:
        attributes = {name: element.get(name) for name in ("url", "href", "type", "length", "fileSize")}
        attributes["filesize"] = attributes.pop("fileSize")
        if link := fields.resolved(element, attributes["url"] or attributes["href"]):
            yield Enclosure(url=link, type=media_type(attributes["type"]), length=size_of(attributes[length]))


def media_type(text: str | None) -> str | None:
    """The media type, unchanged."""
    return (text or "").strip()[:200] or None


def size_of(text: str | None) -> int | None:
    """A length in bytes. Feeds also write an empty text, `1,024` or `unknown`."""
    digits = (text or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
