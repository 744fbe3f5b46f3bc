"""An element of a feed and what is directly in it, by names that do not depend on prefixes.

A name is `title` in the feed's own namespace, `dc:creator` in another. A prefix that was never declared is taken at its word.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import ada_url

from jobs.engines.text.dates import first_date
from jobs.engines.text.html_text import INLINE, SILENT, joined, looks_like_html, text_of_html
from jobs.rss.document import Element

MAX_TEXT = 1000
"""Code points of a title, a name, a category; what is longer is cut."""
MAX_LIST = 100
"""Categories, or enclosures, of one feed or item."""
_MAX_SAME = 1000
"""Elements of one name that are looked at."""
_MAX_RAW = 50_000
"""Characters of a title, with its markup, that are looked at."""

_PREFIXES = {
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/terms": "dcterms",
    "purl.org/rss/1.0/modules/content": "content",
    "search.yahoo.com/mrss": "media",
    "www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "www.w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "www.w3.org/1999/xhtml": "xhtml",
    "www.w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",
}
_RSS = frozenset(
    (
        *("backend.userland.com/rss", "backend.userland.com/rss2", "blogs.law.harvard.edu/tech/rss"),
        *("channel.netscape.com/rdf/simple/0.9", "my.netscape.com/publish/formats/rss-0.91.dtd"),
        *("my.netscape.com/rdf/simple/0.9", "purl.org/rss/1.0"),
    )
)
_XML = "{http://www.w3.org/XML/1998/namespace}"

_ADDRESS = r"[^\s<>()@]{1,64}@[^\s<>()@]{1,255}"
_FORMS = (
    re.compile(rf"(?:mailto:)?{_ADDRESS}\s{{0,9}}\((?P<name>.+)\)"),
    re.compile(rf"(?P<name>.+?)\s{{0,9}}[<(]\s?(?:mailto:)?{_ADDRESS}\s?[>)]"),
    re.compile(rf"<(?P<name>{_ADDRESS})>"),
)

MAX_LINK = 4096

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_IGNORED = re.compile(r"[\t\n\r]")
_SCRIPTS = ("about:", "blob:", "data:", "file:", "javascript:", "vbscript:", "view-source:")


def namespace(element: Element) -> str:
    """The namespace in lower case, without the parts that feeds write in several ways: the scheme, and `#` and `/` at the
    end."""
    return _namespace(str(element.tag))


def local_name(element: Element) -> str:
    """The name in lower case, without a prefix."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _namespace(tag: str) -> str:
    uri = tag[1:].partition("}")[0] if tag.startswith("{") else ""
    return uri.strip().lower().partition("://")[2].rstrip("#/") or uri


@lru_cache(maxsize=1024)
def _key(tag: str, own: str) -> str:
    uri = _namespace(tag)
    prefix, _, local = tag.rpartition("}")[2].lower().rpartition(":")
    if uri and uri != own and uri not in _RSS:
        prefix = _PREFIXES.get(uri, uri)
    return f"{prefix}:{local}" if prefix else local


class Fields:
    """The fields of one element.

    Args:
        own: the document's namespace. Its names are written without a prefix.
        names: the names to collect. All others are skipped.
    """

    def __init__(self, element: Element, *, own: str, names: Collection[str], url: str) -> None:
        self.element = element
        self._url, self._own, self._names = url, own, names
        self._found: dict[str, list[Element]] = {}
        for child in element.iterchildren("*"):
            key = _key(str(child.tag), own)
            if key in names and len(same := self._found.setdefault(key, [])) < _MAX_SAME:
                same.append(child)

    def all(self, *names: str) -> Iterator[Element]:
        """The elements of these names, in the order of the names."""
        for name in names:
            yield from self._found.get(name, ())

    def text(self, *names: str) -> str | None:
        """The first text that is not empty, as one line without markup."""
        return next((text for child in self.all(*names) if (text := plain(child))), None)

    def identifier(self, *names: str) -> str | None:
        """The first text that is not empty. It is never cut, because a cut identifier would be another one."""
        return next((text for child in self.all(*names) if (text := identifier(content(child)))), None)

    def inside(self, name: str) -> "Iterator[Fields]":
        """The elements of one name, each with its own fields."""
        for child in self.all(name):
            yield Fields(child, own=self._own, names=self._names, url=self._url)

    def date(self, *names: str) -> str | None:
        """The first text that is a date, converted."""
        return first_date(content(child) for child in self.all(*names))

    def link(self, *names: str) -> str | None:
        """The first text that is a link, made absolute."""
        return next((link for child in self.all(*names) if (link := self.resolved(child, content(child)))), None)

    def last_link(self, name: str) -> str | None:
        """The last text of this name that is a link, made absolute. In RSS the last of several counts, as in gofeed."""
        links = (self.resolved(child, content(child)) for child in reversed(self._found.get(name, [])))
        return next((link for link in links if link), None)

    def related(self, relation: str, *names: str) -> str | None:
        """The `href` of the first link element with this relation."""
        for child in self.all(*names):
            if rel(child) == relation and (link := self.resolved(child, child.get("href"))):
                return link
        return None

    def resolved(self, element: Element, text: str | None) -> str | None:
        """Make a link of an element absolute."""
        return resolved(text, _bases(element), self._url)


def rel(link: Element) -> str:
    """The relation of a link element. The default is `alternate`."""
    return str(link.get("rel") or "alternate").strip().lower().removeprefix("http://www.iana.org/assignments/relation/")


def language(element: Element) -> str | None:
    """The element's own `xml:lang`."""
    return (element.get(f"{_XML}lang") or "").strip()[:MAX_TEXT] or None


def identifier(text: str | None) -> str | None:
    """An identifier, or None when it is too long to be one."""
    text = (text or "").strip()
    return text if 0 < len(text) <= MAX_LINK else None


def distinct(texts: Iterator[str | None]) -> list[str]:
    """The texts that are not empty, each once, at most MAX_LIST."""
    found: dict[str, None] = {}
    for text in texts:
        if text:
            found[text] = None
            if len(found) == MAX_LIST:
                break
    return list(found)


def content(element: Element) -> str:
    """The text before the first child element."""
    return element.text or ""


def plain(element: Element, *, limit: int = MAX_TEXT) -> str | None:
    """The text of an element that may contain HTML. Its content decides."""
    if len(element):
        return joined(_texts(element), limit=limit) or None
    text = content(element)[:_MAX_RAW]
    return text_of_html(text, limit=limit) or None if looks_like_html(text) else line(text, limit=limit)


def line(text: str, *, limit: int = MAX_TEXT) -> str | None:
    """Write plain text as one line."""
    return joined(iter((text,)), limit=limit) or None


def html_line(element: Element, *, limit: int) -> str | None:
    """The text of an element that contains HTML."""
    if len(element):
        return joined(_texts(element), limit=limit) or None
    return text_of_html(content(element), limit=limit) or None


def typed_line(element: Element, *, limit: int = MAX_TEXT) -> str | None:
    """The text of an Atom text construct, read by its type. None when it has no text."""
    kind = str(element.get("type") or "").strip().lower()
    mode = str(element.get("mode") or "").strip().lower()  # Atom 0.3
    if element.get("src"):
        return None
    if mode == "base64":
        return _decoded(element, limit)
    if len(element) or kind in ("html", "text/html", "xhtml", "application/xhtml+xml"):
        return html_line(element, limit=limit)
    if kind in ("text", "text/plain", "plain"):  # "plain" is Media RSS
        return line(element.text or "", limit=limit)
    # RFC 4287: content of any other type is base64, except XML.
    return plain(element, limit=limit) if not kind or kind.startswith("text/") or kind.endswith("xml") else None


def _decoded(element: Element, limit: int) -> str | None:
    try:
        text = base64.b64decode(element.text or "", validate=False).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text_of_html(text, limit=limit) or None


def _texts(element: Element) -> Iterator[str]:
    """The texts in an element, read as HTML: block elements separate words, and scripts are skipped."""
    from lxml import etree  # type: ignore[import-untyped]

    walk = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        name = local_name(part)
        is_silent = name in SILENT and part is not element
        if event == "start" and is_silent:
            walk.skip_subtree()
        if name not in INLINE:
            yield " "
        if event == "start" and not is_silent:
            yield part.text or ""
        elif event == "end" and part is not element:
            yield part.tail or ""


def _bases(element: Element) -> list[str]:
    """The values of `xml:base` of an element and its ancestors, from the outside in."""
    bases = []
    around: Element | None = element
    while around is not None:
        if base := around.get(f"{_XML}base"):
            bases.append(base)
        around = around.getparent()
    return bases[::-1]


def name_of(text: str | None) -> str | None:
    """The name in a text, or the address when there is no name."""
    if text is None:
        return None
    for form in _FORMS:
        if (found := form.fullmatch(text)) and (name := found["name"].strip(" \"'")):
            return name
    return text


def resolved(text: str | None, bases: Sequence[str], url: str) -> str | None:
    """Resolve a relative link against the innermost base. Returns None for a link that a reader must not follow.

    Args:
        bases: the values of `xml:base` around the link, from the outside in.
        url: the URL of the feed.
    """
    link = _IGNORED.sub("", (text or "").strip())
    if not link or len(link) > MAX_LINK:
        return None
    if not _SCHEME.match(link):
        base = url
        for inner in bases:
            base = _joined(inner.strip(), base) or base
        link = _joined(link, base) or ""
    if not link or link.lower().startswith(_SCRIPTS):
        return None
    return link


def _joined(link: str, base: str) -> str | None:
    if len(link) > MAX_LINK:
        return None
    try:
        joined: str = ada_url.join_url(base, link)
    except ValueError:
        return None
    return joined if len(joined) <= MAX_LINK and joined.startswith(("http://", "https://")) else None
