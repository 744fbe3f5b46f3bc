"""Finds the article of a page with trafilatura, as Markdown."""

from __future__ import annotations

import logging
from copy import deepcopy
from typing import Literal

from jobs.engines.page.markdown import tidied
from jobs.engines.page.tree import Element

LEAST_SHARE = 1 / 3
"""Of what the default mode finds. Where the precision mode finds less, it has missed the article."""

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
