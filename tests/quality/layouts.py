"""The pages of pages/, in twelve layouts, with the text that a reader would call its article.

The text is marked in the source: `[[` and `]]` enclose what belongs to the article and are removed from the page.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

_GOLD = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Layout(NamedTuple):
    """A page and its article's text."""

    name: str
    html: str
    article: str


def _layout(path: Path) -> Layout:
    document = path.read_text()
    article = " ".join(unescape(_TAG.sub(" ", part)) for part in _GOLD.findall(document))
    return Layout(path.stem.replace("_", " "), _GOLD.sub(r"\1", document), article)


LAYOUTS = tuple(map(_layout, sorted((Path(__file__).parent / "pages").glob("*.html"))))
