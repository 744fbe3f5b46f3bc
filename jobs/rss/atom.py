"""Reads Atom 1.0 and 0.3. Where several element names are listed, the first one found counts."""

from collections.abc import Iterator
from itertools import chain

from jobs.engines.text.html_text import MAX_SNIPPET
from jobs.rss.document import Element
from jobs.rss.fields import (
    MAX_LIST,
    Fields,
    distinct,
    language,
    line,
    local_name,
    name_of,
    namespace,
    plain,
    rel,
    typed_line,
)
from jobs.rss.rss import media_type, size_of
from jobs.rss.shape import Enclosure, Feed, Item, Reading

_FEED = frozenset(
    (
        *("title", "subtitle", "tagline", "link", "updated", "modified", "published", "author", "logo", "icon"),
        *("generator", "rights", "copyright", "category", "dc:language", "itunes:author", "itunes:image", "dc:creator"),
    )
)
_ENTRY = frozenset(
    (
        *("title", "link", "id", "published", "issued", "created", "updated", "modified", "author", "category"),
        *("summary", "content", "source", "dc:creator", "dc:subject", "media:group", "media:description"),
    )
)
_PERSON = frozenset({"name", "email", "uri", "url"})


def read_atom(root: Element, url: str, limit: int) -> Reading:
    """Read a document whose root is `feed`."""
    own = namespace(root)
    items: list[Item] = []
    total = 0
    for child in root.iterchildren("*"):
        if local_name(child) == "entry":
            total += 1
            if total <= limit:
                items.append(_entry(Fields(child, own=own, names=_ENTRY, url=url), own, url))
    return Reading(feed=_feed(Fields(root, own=own, names=_FEED, url=url), own, url), items=items, total=total)


def _feed(fields: Fields, own: str, url: str) -> Feed:
    is_old = own == "purl.org/atom/ns" or (not own and (fields.element.get("version") or "").strip() == "0.3")
    return Feed(
        format="atom0.3" if is_old else "atom1",
        title=_text(fields, "title"),
        description=_text(fields, "subtitle", "tagline"),
        link=fields.related("alternate", "link"),
        feed_link=fields.related("self", "link"),
        language=language(fields.element) or fields.text("dc:language"),
        updated_at=fields.date("updated", "modified"),
        published_at=fields.date("published"),
        author=_author(fields, own, url),
        image_url=fields.link("logo") or fields.link("icon"),
        generator=_generator(fields),
        copyright=_text(fields, "rights", "copyright"),
        categories=distinct(_categories(fields)),
    )


def _entry(fields: Fields, own: str, url: str) -> Item:
    return Item(
        title=_text(fields, "title"),
        link=fields.related("alternate", "link"),
        guid=fields.identifier("id"),
        published_at=fields.date("published", "issued", "created", "updated", "modified"),
        updated_at=fields.date("updated", "modified"),
        author=_author(fields, own, url) or _author_of_source(fields, own, url),
        categories=distinct(_categories(fields)),
        content_snippet=_snippet(fields),
        enclosures=list(_enclosures(fields)),
    )


def _generator(fields: Fields) -> str | None:
    """The program's name with its version and address: `WordPress v6.4 https://wordpress.org/`, as gofeed writes it."""
    for element in fields.all("generator"):
        version = line(element.get("version") or "")
        address = line(element.get("uri") or element.get("url") or "")
        parts = (plain(element), version and f"v{version.removeprefix('v')}", address)
        if text := " ".join(part for part in parts if part):
            return text
    return None


def _text(fields: Fields, *names: str, limit: int = 1000) -> str | None:
    return next((text for element in fields.all(*names) if (text := typed_line(element, limit=limit))), None)


def _snippet(fields: Fields) -> str | None:
    names = ("content", "summary", "media:description")
    parts = chain((fields,), fields.inside("media:group"))
    return next((text for part in parts if (text := _text(part, *names, limit=MAX_SNIPPET))), None)


def _author(fields: Fields, own: str, url: str) -> str | None:
    for author in fields.all("author"):
        person = Fields(author, own=own, names=_PERSON, url=url)
        if name := name_of(person.text("name", "email") or (None if len(author) else plain(author))):
            return name
    return name_of(fields.text("dc:creator", "itunes:author"))


def _author_of_source(fields: Fields, own: str, url: str) -> str | None:
    """The author of the feed from which an entry was copied (RFC 4287, 4.2.1)."""
    sources = fields.all("source")
    return next((name for s in sources if (name := _author(Fields(s, own=own, names=_ENTRY, url=url), own, url))), None)


def _categories(fields: Fields) -> Iterator[str | None]:
    for category in fields.all("category"):
        yield line(category.get("label") or category.get("term") or "") or plain(category)
    for subject in fields.all("dc:subject"):
        yield plain(subject)


def _enclosures(fields: Fields) -> Iterator[Enclosure]:
    urls: set[str] = set()
    for element in fields.all("link"):
        if rel(element) != "enclosure" or len(urls) == MAX_LIST:
            continue
        if (link := fields.resolved(element, element.get("href"))) and link not in urls:
            urls.add(link)
            yield Enclosure(url=link, type=media_type(element.get("type")), length=size_of(element.get("length")))
