"""The pages of pages/, in a folder for each kind, with the text that a reader would call the page's own.

The text is marked in the source: `[[` and `]]` enclose what belongs to it and are removed from the page.
"""

import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

_GOLD = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Layout(NamedTuple):
    """A page of a kind, and its own text."""

    kind: str
    name: str
    html: str
    article: str


def _layout(path: Path) -> Layout:
    document = path.read_text()
    article = " ".join(unescape(_TAG.sub(" ", part)) for part in _GOLD.findall(document))
    return Layout(path.parent.name, path.stem.replace("_", " "), _GOLD.sub(r"\1", document), article)


LAYOUTS = tuple(map(_layout, sorted((Path(__file__).parent / "pages").glob("*/*.html"))))
