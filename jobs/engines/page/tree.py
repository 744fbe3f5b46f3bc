"""Parses the HTML of a page. Only children import lxml."""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

Element: TypeAlias = Any
"""An element of lxml, which has no types."""

MAX_HTML = 1_000_000
"""Characters that are parsed. What comes later is not read."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HIDDEN = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
UNSEEN = frozenset(
    (
        *("script", "style", "noscript", "template", "head", "iframe", "object", "embed", "svg", "math", "canvas"),
        *("audio", "video", "datalist", "noframes", "noembed", "select", "textarea", "map"),
    )
)
"""Elements whose content is not text of the page. `noscript` is not, because scripts ran."""


def parsed(html: str) -> Element | None:
    """The root element; None when there is none. Depth is limited to 256 by libxml2: what is deeper is flattened or lost."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml import html as lxml_html

    text = _NOT_XML.sub("", html[:MAX_HTML])
    if not text.strip():
        return None
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    try:
        return lxml_html.document_fromstring(text.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def body_of(root: Element) -> Element:
    """The body, or the root where there is none."""
    body = root.find("body")
    return root if body is None else body


def is_seen(element: Element) -> bool:
    """Whether a browser would show the element, as far as its own markup says. Style sheets are not known here."""
    tag = element.tag
    if not isinstance(tag, str) or tag in UNSEEN or element.get("hidden") is not None:
        return False
    if tag == "dialog" and element.get("open") is None:
        return False
    return not _HIDDEN.search((element.get("style") or "")[:2_000])


def walk(root: Element) -> Iterator[tuple[str, Element]]:
    """The seen elements in the order of the document: ``("start", e)`` before the content of `e`, ``("end", e)`` after it.
    Of others there is only ``("unseen", e)``; their tails are text of the page.

    It does not recurse, because a page decides how deep its elements are.
    """
    stack: list[tuple[str, Element]] = [("start", root)]
    while stack:
        event, element = stack.pop()
        if event == "start":
            if not is_seen(element):
                yield "unseen", element
                continue
            stack.append(("end", element))
            stack.extend(("start", child) for child in reversed(element))
        yield event, element
