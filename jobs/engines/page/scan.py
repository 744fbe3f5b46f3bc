"""Reads the text of a page without a tree, in time linear in its markup.

For pages that take libxml2 too much (time quadratic in the attributes of one element), or that are deeper than it reads.
"""

import re

from jobs.engines.page.tree import MAX_HTML, UNSEEN
from jobs.engines.page.writer import Writer
from jobs.engines.text.html_text import unescaped

_NAME = re.compile(r"</?([A-Za-z][^\s/>]{0,60})")
_SILENT = (UNSEEN - {"head", "svg", "math"}) | {"title", "svg", "math"}
_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _SILENT}
_VOID = frozenset({"embed"})


def scanned_text(html: str, *, is_markdown: bool) -> str:
    """All text of a page. What is hidden by an attribute is in it, too."""
    html = html[:MAX_HTML]
    writer = Writer(is_markdown=is_markdown)
    at = 0
    while (start := html.find("<", at)) >= 0:
        writer.add(unescaped(html[at:start]))
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            at = end + 3
        elif (name := _NAME.match(html, start)) is not None:
            end = html.find(">", name.end())
            at = _element(writer, html, name[1].lower(), is_end=html[start + 1] == "/", at=end + 1) if end >= 0 else 0
        elif html[start + 1 : start + 2] in ("!", "?", "/"):
            end = html.find(">", start)
            at = end + 1
        else:
            writer.add("<")
            at = end = start + 1
        if end < 0:  # the construct never ends, so no text follows it
            at = len(html)
    writer.add(unescaped(html[at:]))
    writer.close()
    return "\n".join(writer.lines)


def _element(writer: Writer, html: str, tag: str, *, is_end: bool, at: int) -> int:
    """An element begins or ends. Returns where the text after it begins."""
    if is_end:
        writer.end(tag)
        return at
    if tag in _SILENT and tag not in _VOID:
        closing = _ENDS[tag].search(html, at)
        return closing.start() if closing else len(html)
    writer.start(tag)
    return at
