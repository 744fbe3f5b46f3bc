"""What a page states about itself: title, language, canonical URL, author, date of publication, and how many links it has.

The first source that says something counts: what search engines ask for (JSON-LD, Open Graph) comes before what is older.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from jobs.engines.page.tree import Element
from jobs.engines.text.dates import first_date
from jobs.hosts import NotPublic, public_url
from jobs.site import Site

_MAX_TEXT = 500
_MAX_JSON = 200_000
_MAX_NODES = 2_000
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}", re.ASCII)
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author")
_DATES = (
    *("article:published_time", "datepublished", "date", "dc.date", "dcterms.created", "dc.date.issued", "pubdate"),
    *("parsely-pub-date", "publish-date", "sailthru.date", "og:article:published_time"),
)

_SITE = Site(own=())
"""Children have no settings, and what a page says of its address is only reported, never called."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says of itself. None: nothing.

    Attributes:
        language: as the page states it, e.g. ``en-GB``.
        canonical_url: absolute, http or https.
        published_at: ISO 8601 in UTC.
        link_count: distinct targets of links, fragments of the page itself aside.
    """

    title: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    author: str | None = None
    published_at: str | None = None
    link_count: int = 0


def metadata(root: Element, url: str) -> Metadata:
    """Read the metadata of a page whose own URL is `url`."""
    named = named_contents(root)
    linked = list(linked_data(root))
    return Metadata(
        title=_first(_texts(root, "title"), [named.get("og:title"), named.get("twitter:title")], _texts(root, "h1")),
        language=_language(root, named),
        canonical_url=_canonical(root, named, url),
        author=_first(_people(linked), map(named.get, _AUTHORS), _properties(root, "author")),
        published_at=first_date(
            (
                *(item["datePublished"] for item in linked if isinstance(item.get("datePublished"), str)),
                *map(named.get, _DATES),
                *_properties(root, "datePublished"),
                *(element.get("datetime") for element in list(root.iter("time"))[:1]),
            )
        ),
        link_count=_link_count(root),
    )


def line(text: str | None) -> str | None:
    """The text in one line of at most 500 code points; None when that is empty."""
    found = (text or "")[: 4 * _MAX_TEXT].encode("utf-8", "replace").decode()
    return " ".join(found.split())[:_MAX_TEXT] or None


def language_tag(text: str | None) -> str | None:
    """The text if it has the form of a language tag (BCP 47), with hyphens."""
    text = (text or "").strip()
    return text.replace("_", "-") if _LANGUAGE.fullmatch(text) else None


def _first(*sources: Any) -> str | None:
    return next((found for source in sources for text in source if (found := line(text))), None)


def named_contents(root: Element) -> dict[str, str]:
    """The contents of `meta` elements by their names in lower case; of equal names, the first."""
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        name = element.get("property") or element.get("name") or element.get("itemprop")
        if name and element.get("content"):
            found.setdefault(name.strip().lower(), element.get("content"))
    return found


def _texts(root: Element, tag: str) -> Iterator[str]:
    return ("".join(element.itertext()) for element in root.iter(tag))


def _properties(root: Element, name: str) -> Iterator[str]:
    """The values of microdata."""
    for element in root.iter("*"):
        if element.get("itemprop") == name:
            yield element.get("content") or element.get("datetime") or "".join(element.itertext())


def _language(root: Element, named: dict[str, str]) -> str | None:
    texts = (root.get("lang"), named.get("og:locale"), named.get("content-language"), named.get("language"))
    return next(filter(None, map(language_tag, texts)), None)


def _canonical(root: Element, named: dict[str, str], url: str) -> str | None:
    links = (e.get("href") for e in root.iter("link") if "canonical" in (e.get("rel") or "").lower().split())
    for text in (*links, named.get("og:url")):
        try:
            if text:
                return str(public_url(text.strip(), _SITE, base=public_url(url, _SITE)))
        except NotPublic:
            continue
    return None


def linked_data(root: Element) -> Iterator[dict[str, Any]]:
    """The objects of JSON-LD, those of lists and graphs included."""
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower() != "application/ld+json":
            continue
        try:
            nodes = [json.loads((script.text or "")[:_MAX_JSON])]
        except (ValueError, RecursionError):
            continue
        for _ in range(_MAX_NODES):
            if not nodes:
                break
            node = nodes.pop(0)
            if isinstance(node, list):
                nodes.extend(node[:_MAX_NODES])
            elif isinstance(node, dict):
                yield node
                nodes.extend(node[key] for key in ("@graph", "mainEntity") if key in node)


def _people(linked: list[dict[str, Any]]) -> Iterator[str]:
    for item in linked:
        people = item.get("author")
        names = [
            person.get("name") if isinstance(person, dict) else person
            for person in (people if isinstance(people, list) else [people])
        ]
        if texts := [name for name in names if isinstance(name, str) and name.strip()]:
            yield ", ".join(texts[:10])


def _link_count(root: Element) -> int:
    targets = {(element.get("href") or "").strip() for element in root.iter("a")}
    return sum(1 for target in targets if target and not target.lower().startswith(("#", "javascript:")))
