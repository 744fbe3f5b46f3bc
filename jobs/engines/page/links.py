"""The links and images of a page, absolute, in the order of the document, each target once."""

from collections.abc import Iterable, Iterator
from typing import Annotated
from urllib.parse import urldefrag, urljoin, urlsplit

import msgspec

from jobs.engines.page.metadata import line
from jobs.engines.page.tree import Element, body_of, walk
from jobs.fields import doc

MOST = 200
MAX_ADDRESS = 2_000
_SOURCES = ("src", "data-src", "data-original", "data-lazy-src")


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link of the page."""

    url: Annotated[str, doc("Its target, absolute, without a fragment.")]
    text: Annotated[str | None, doc("What it says, in one line. Null when it has no text.")]


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image of the page."""

    url: Annotated[str, doc("Its address, absolute.")]
    alt: Annotated[str | None, doc("The text that stands for it. Null when it has none.")]


def links(root: Element, url: str) -> list[Link]:
    """The first 200 links to other pages. Of links with one target, the first that has a text gives it."""
    base = _base(root, url)
    own = urldefrag(url).url
    texts: dict[str, str | None] = {}
    for element in _seen(root, "a", "area"):
        address = (element.get("href") or "").strip()
        target = None if address.startswith("#") else _absolute(base, [address])
        if target is None or (target := urldefrag(target).url) == own:
            continue
        if target in texts or len(texts) < MOST:
            texts[target] = texts.get(target) or _text(element)
    return [Link(url=target, text=text) for target, text in texts.items()]


def images(root: Element, url: str) -> list[Image]:
    """The first 200 images, also those that a script would have loaded later."""
    base = _base(root, url)
    found: dict[str, str | None] = {}
    for element in _seen(root, "img"):
        address = _absolute(base, (element.get(name) for name in _SOURCES))
        if address is not None and (address in found or len(found) < MOST):
            found[address] = found.get(address) or line(element.get("alt"))
    return [Image(url=address, alt=alt) for address, alt in found.items()]


def _seen(root: Element, *tags: str) -> Iterator[Element]:
    return (element for event, element in walk(body_of(root)) if event == "start" and element.tag in tags)


def _text(element: Element) -> str | None:
    said = ("".join(element.itertext()), element.get("aria-label"), element.get("title"))
    pictured = (image.get("alt") for image in element.iter("img"))
    return next(filter(None, map(line, (*said, *pictured))), None)


def _base(root: Element, url: str) -> str:
    return next(filter(None, (_absolute(url, [element.get("href")]) for element in root.iter("base"))), url)


def _absolute(base: str, addresses: Iterable[str | None]) -> str | None:
    """The first of the addresses that is http or https."""
    for address in addresses:
        try:
            found = urljoin(base, (address or "").strip())
            if (
                address
                and urlsplit(found).scheme in ("http", "https")
                and urlsplit(found).hostname
                and len(found) <= MAX_ADDRESS
            ):
                return found
        except ValueError:
            continue
    return None
