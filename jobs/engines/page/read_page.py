"""The calculation that reads a page. Hostile markup takes trafilatura 9 s and more: jobs/engines/page/read_text.py does
without it."""

from __future__ import annotations

import msgspec

from jobs.engines.page.article import article
from jobs.engines.page.bot_wall import bot_wall
from jobs.engines.page.ignoring import without_elements
from jobs.engines.page.links import images, links
from jobs.engines.page.markup import markup_hash
from jobs.engines.page.metadata import Metadata, metadata
from jobs.engines.page.reading import Asked, Method, Reading, reading
from jobs.engines.page.reading import examples as examples
from jobs.engines.page.scan import scanned_text
from jobs.engines.page.text import normalised
from jobs.engines.page.tree import Element, body_of, parsed
from jobs.engines.page.writer import body_text

NAME = "read_page"

SHORT = 5_000
"""Code points of text. A page that shows more has not blanked itself."""
FAR_SHORTER = 1 / 4
"""Of the text of the document's own source. A page that shows less was emptied by its scripts."""
LEAST_SOURCE = 200
"""Code points. A source with less text is the frame of a page that scripts fill."""


def calculate(argument: bytes) -> bytes:
    """Read what is Asked and return the Reading, both as MessagePack."""
    return msgspec.msgpack.encode(read(msgspec.msgpack.decode(argument, type=Asked)))


def read(asked: Asked) -> Reading:
    """Read a page: its metadata, and the text that `extract` names."""
    rendered = parsed(asked.html)
    shown = _shown(rendered)
    root, from_source = rendered, False
    source = parsed(asked.source) if asked.source and len(shown) < SHORT else None
    wall = None if rendered is None else bot_wall(rendered, source, shown, status=asked.status)
    taken_out = 0
    if asked.without and rendered is not None:
        taken_out = without_elements(rendered, asked.without)
        if source is not None:
            without_elements(source, asked.without)
        shown = _shown(rendered)
    if source is not None:
        source_text = _shown(source)
        if len(source_text) >= LEAST_SOURCE and len(shown) < FAR_SHORTER * len(source_text):
            root, shown, from_source = source, source_text, True
    if root is None:
        return reading(asked, "", method="body", from_source=False, metadata=Metadata(), html_hash=None)
    text, method = _text(root, asked, shown)
    return reading(
        asked,
        text,
        method=method,
        from_source=from_source,
        metadata=metadata(root, asked.url),
        html_hash=None if rendered is None else markup_hash(rendered),
        wall=wall,
        taken_out=taken_out,
        links=links(root, asked.url) if asked.with_links else None,
        images=images(root, asked.url) if asked.with_images else None,
    )


def _shown(root: Element | None) -> str:
    return "" if root is None else normalised(body_text(body_of(root), is_markdown=False))


def _text(root: Element, asked: Asked, shown: str) -> tuple[str, Method]:
    if asked.extract == "text":
        return shown or _scanned(asked), "body"
    if asked.extract == "article" and (found := article(root, len(shown))) is not None:
        return found
    # libxml2 drops what is deeper than 256 elements. Where that is all, it is read without a tree.
    return body_text(body_of(root), is_markdown=True) or _scanned(asked), "body"


def _scanned(asked: Asked) -> str:
    return "" if asked.without else scanned_text(asked.html, is_markdown=asked.extract != "text")
