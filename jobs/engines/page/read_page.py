"""The calculation that reads a page. Hostile markup takes trafilatura 9 s and more: jobs/engines/page/read_text.py does
without it."""

import logging
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

import msgspec

from jobs.engines.page.bot_wall import bot_wall
from jobs.engines.page.ignoring import without_elements
from jobs.engines.page.kinds import Kind, kind_of, posts_of
from jobs.engines.page.links import images, links
from jobs.engines.page.main_text import main_text, main_tree
from jobs.engines.page.markdown import tidied
from jobs.engines.page.markup import markup_hash
from jobs.engines.page.metadata import Metadata, linked_data, metadata
from jobs.engines.page.reading import Asked, Method, Reading, reading
from jobs.engines.page.reading import examples as examples
from jobs.engines.page.scan import scanned_text
from jobs.engines.page.text import normalised
from jobs.engines.page.tree import Element, body_of, parsed
from jobs.engines.page.writer import body_text
from jobs.engines.text.html_text import unescaped

NAME = "read_page"

SHORT = 5_000
"""Code points of text. A page that shows more has not blanked itself."""
FAR_SHORTER = 1 / 4
"""Of the text of the document's own source. A page that shows less was emptied by its scripts."""
LEAST_SOURCE = 200
"""Code points. A source with less text is the frame of a page that scripts fill."""

LEAST_COVERAGE: Mapping[Kind, float] = {"article": 0.5, "documentation": 0.8}
"""Of the kinds whose text is prose, which trafilatura finds: where it finds less of the main text, the main text is taken."""
MOST_COMMENTS = 0.9
"""Of the main text of an article's page."""
PROSE = LEAST_COVERAGE.keys()

LEAST_SHARE = 1 / 3
"""Of what the default mode finds. Where the precision mode finds less, it has missed the article."""

_PRODUCTS = frozenset({"Product", "ProductGroup", "IndividualProduct", "Vehicle"})
_MOST = 50
_MAX_TEXT = 5_000
_TAG = re.compile(r"<[^<>]{0,500}>")
_SAME = 40
"""Code points without blanks. A text whose beginning is on the page is on the page."""


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
    found = _text(root, asked, shown)
    return reading(
        asked,
        found.text,
        method=found.method,
        kind=found.kind,
        coverage=found.coverage,
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


class _Found(NamedTuple):
    """A text, how it was found, what the page was taken for, and the share of its main text that this is."""

    text: str
    method: Method
    kind: Kind
    coverage: float


def _text(root: Element, asked: Asked, shown: str) -> _Found:
    main = main_tree(root)
    kind = kind_of(root, main, asked.url)
    if asked.extract == "text":
        return _Found(shown or _scanned(asked), "body", kind, 1.0)
    if asked.extract == "article" and (found := _main(root, main, kind, len(shown))) is not None:
        return found
    # libxml2 drops what is deeper than 256 elements. Where that is all, it is read without a tree.
    return _Found(body_text(body_of(root), is_markdown=True) or _scanned(asked), "body", kind, 1.0)


def _main(root: Element, main: Element, kind: Kind, text_length: int) -> _Found | None:
    """The main text of a page of this kind; None when there is none."""
    if kind in PROSE:
        _drop_comments(main)
    text = main_text(main)
    if kind in PROSE and (prose := article(root, text_length)) is not None:
        coverage = _share(prose[0], text)
        if coverage >= LEAST_COVERAGE[kind]:
            return _Found(*prose, kind, coverage)
    if kind == "product":
        text = "\n\n".join(filter(None, (text, product_data(root, text))))
    return _Found(text, "main", kind, 1.0) if text else None


def _drop_comments(main: Element) -> None:
    """Take out what readers wrote below an article, unless that is nearly all."""
    posts, total = posts_of(main), len(body_text(main, is_markdown=False))
    if sum(len(body_text(element, is_markdown=False)) for element in posts) <= MOST_COMMENTS * total:
        for element in posts:
            element.drop_tree()


def _share(part: str, whole: str) -> float:
    """The share of the letters and digits of a text that a part of it has."""
    size = sum(map(str.isalnum, whole))
    return round(min(1.0, sum(map(str.isalnum, part)) / size), 2) if size else 1.0


def _scanned(asked: Asked) -> str:
    return "" if asked.without else scanned_text(asked.html, is_markdown=asked.extract != "text")


# It logs parts of the page, which no log may contain.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL + 1)

Mode = Literal["precision", "default"]


def article(root: Element, text_length: int) -> tuple[str, Mode] | None:
    """The article of a page as Markdown, and the mode that found it; None when neither finds any.

    Args:
        text_length: code points of all text that the page shows. The default mode is not tried when the precision mode has
            found a third of that.
    """
    precise = _extracted(root, is_precise=True)
    if precise and len(precise) >= LEAST_SHARE * text_length:
        return precise, "precision"
    default = _extracted(root, is_precise=False)
    if precise and len(precise) >= LEAST_SHARE * len(default):
        return precise, "precision"
    return (default, "default") if default else None


def _extracted(root: Element, *, is_precise: bool) -> str:
    from lxml import etree  # type: ignore[import-untyped]
    from trafilatura.core import extract

    tree = deepcopy(root)  # trafilatura changes it
    # Markdown cannot underline, so trafilatura would write tags.
    etree.strip_tags(tree, "u", "ins", "sup", "sub")
    for pre in tree.iter("pre"):
        if not len(pre):  # trafilatura knows it as code only if it says so
            etree.SubElement(pre, "code").text, pre.text = pre.text, None
    try:
        found = extract(
            tree,
            favor_precision=is_precise,
            output_format="markdown",
            include_comments=False,
            include_links=False,
            include_images=False,
            include_tables=True,
        )
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, etree.LxmlError):
        return ""  # an error inside the library, for example too deep recursion: the text of the body is used
    return tidied(found or "")


def product_data(root: Element, text: str) -> str:
    """Markdown of the name, the description, the price and the properties that `text` does not have; "" for none."""
    items = linked_data(root)
    product = next((item for item in items if any(str(kind) in _PRODUCTS for kind in _list(item.get("@type")))), None)
    if product is None:
        return ""
    known = _key(text)
    lines = [
        found
        for name in ("name", "description")
        if (found := _line(product.get(name))) and _key(found)[:_SAME] not in known
    ]
    properties = [
        f"- {name}: {value}" for name, value in _properties(product) if _key(value.split(" ")[0]) not in known
    ]
    return "\n\n".join((*lines, *(["\n".join(properties)] if properties else [])))


def _properties(product: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for item in _list(product.get("additionalProperty"))[:_MOST]:
        if isinstance(item, dict) and (name := _line(item.get("name"))) and (value := _line(item.get("value"))):
            yield name, value
    for offer in _list(product.get("offers"))[:1]:
        if isinstance(offer, dict) and (price := _line(offer.get("price") or offer.get("lowPrice"))):
            yield "Price", f"{price} {_line(offer.get('priceCurrency'))}".strip()


def _line(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(unescaped(_TAG.sub(" ", str(value)[:_MAX_TEXT])).split())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _key(text: str) -> str:
    return "".join(re.findall(r"\w+", text.casefold()))
