"""What a page's linked data say of its product and its text does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jobs.engines.page.metadata import linked_data
from jobs.engines.page.tree import Element
from jobs.engines.text.html_text import unescaped

_PRODUCTS = frozenset({"Product", "ProductGroup", "IndividualProduct", "Vehicle"})
_MOST = 50
_MAX_TEXT = 5_000
_TAG = re.compile(r"<[^<>]{0,500}>")
_SAME = 40
"""Code points without blanks. A text whose beginning is on the page is on the page."""


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
