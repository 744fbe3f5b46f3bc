"""Finds hints at x402 in a page's HTML: `<meta name="x402">`, `<link rel="x402">`, and links to catalogs.

libxml2 reports each tag when it reads it. No tree is built, so a deep or large page costs no memory.
"""

import re
from collections.abc import Mapping

import ada_url

from jobs.x402_discover.document import Hint, HintType, clean
from jobs.x402_discover.locators import MAX_URL

MAX_HINTS = 50
_NAME = re.compile(r"x402(?=$|[:._-])", re.IGNORECASE)
_CATALOG = re.compile(r"(?:^|/)(?:bazaar\.json|\.well-known/x402(?:\.json)?)/?$", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s{0,4}=\s{0,4}[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE | re.ASCII)
_LOOKS_LIKE_ADDRESS = re.compile(r"(https?://|/|\./|\.\./)", re.IGNORECASE)


def read(html: bytes, url: str, content_type: str) -> tuple[Hint, ...]:
    """The hints of a page, in order. Raises ValueError when the page cannot be read at all."""
    from lxml import etree  # type: ignore[import-untyped]  # not for the API process

    page = _Page(url)
    try:
        parser = etree.HTMLParser(target=page, encoding=_charset(content_type), no_network=True, huge_tree=False)
    except LookupError:  # libxml2 does not know the declared encoding, so the page's own declaration counts
        parser = etree.HTMLParser(target=page, no_network=True, huge_tree=False)
    try:
        for start in range(0, len(html), 1 << 16):
            parser.feed(html[start : start + (1 << 16)])
        parser.close()
    except etree.LxmlError as error:
        if not page.has_tags:
            raise ValueError("not HTML") from error
    return tuple(page.hints)


class _Page:
    """The receiver of the tags."""

    def __init__(self, url: str) -> None:
        self._base = url
        self._has_base = False
        self._seen: set[Hint] = set()
        self.hints: list[Hint] = []
        self.has_tags = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Check a start tag for a hint."""
        self.has_tags = True
        if tag == "base" and not self._has_base and (href := attributes.get("href")):
            self._has_base = True
            self._base = _resolved(href, self._base) or self._base
        elif tag == "meta" and _NAME.match(attributes.get("name", "") or attributes.get("property", "")):
            self._add("meta", attributes.get("content", ""), must_look=True)
        elif tag == "link" and any(_NAME.match(word) for word in attributes.get("rel", "")[:500].split()):
            self._add("link", attributes.get("href", ""))
        elif tag in ("a", "area"):
            href = attributes.get("href", "").strip()
            if _CATALOG.search(re.split(r"[?#]", href[: MAX_URL + 1], maxsplit=1)[0]):
                self._add("anchor", href)

    def close(self) -> None:
        """Ignore the end of the page. lxml calls this method; it needs none for end tags, texts and comments."""

    def _add(self, kind: HintType, value: str, *, must_look: bool = False) -> None:
        text = clean(value)
        if text is None or len(self.hints) == MAX_HINTS:
            return
        is_address = not must_look or _LOOKS_LIKE_ADDRESS.match(value.strip())
        hint = Hint(kind, text, _resolved(value.strip(), self._base) if is_address else None)
        if hint not in self._seen:
            self._seen.add(hint)
            self.hints.append(hint)


def _resolved(href: str, base: str) -> str | None:
    if len(href) > MAX_URL or not href:
        return None
    try:
        url = ada_url.URL(href, base=base)
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:") or url.username or url.password:
        return None
    found = f"{url.protocol}//{url.host}{url.pathname}{url.search}"
    return found if len(found) <= MAX_URL else None


def _charset(content_type: str) -> str | None:
    found = _CHARSET.search(content_type)
    return None if found is None else found[1]
