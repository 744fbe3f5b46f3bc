"""Converts all that a page shows to Markdown, or to plain text: menus, notices and footers included.

There are no emphasis, link targets and images: a reader does not see targets, and they often change at every load.
"""

from __future__ import annotations

from jobs.engines.page.tree import Element, walk
from jobs.engines.page.writer import Writer


def body_text(root: Element, *, is_markdown: bool) -> str:
    """All seen text of an element. The time is linear in the size of its markup."""
    writer = Writer(is_markdown=is_markdown)
    pre: Element | None = None
    for event, element in walk(root):
        if pre is None and event == "start":
            if element.tag == "pre":
                pre = element
                writer.preformatted("".join(element.itertext()))
            else:
                writer.start(element.tag)
                writer.add(element.text)
        elif pre is None or element is pre:
            pre = None
            if event == "end":
                writer.end(element.tag)
            if element is not root:
                writer.add(element.tail)
    writer.break_line()
    return "\n".join(writer.lines)
