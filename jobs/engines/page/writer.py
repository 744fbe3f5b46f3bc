"""Writes the text of a page line by line, from the beginnings and ends of its elements."""

from __future__ import annotations

import re

from jobs.engines.page.tree import Element, walk
from jobs.engines.text.names import names

_SPACE = re.compile(r"[ \t\n\r\f\u00a0]+")
_INLINE = names(
    """
    a abbr acronym b bdi bdo big button cite code data del dfn em font i img input ins kbd label mark nobr picture q
    rp rt ruby s samp small source span strike strong sub sup time tt u var wbr
    """
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_APART = frozenset(
    (*_HEADINGS, "p", "blockquote", "table", "section", "article", "figure", "dl", "ul", "ol", "pre", "nav", "footer")
)
"""Blocks with an empty line before and after them."""
_MAX_DEPTH = 8


class Writer:
    """Collects lines: Markdown, or plain text. Elements may begin and end in any order."""

    def __init__(self, *, is_markdown: bool) -> None:
        self.lines: list[str] = []
        self._is_markdown = is_markdown
        self._line: list[str] = []
        self._prefix = ""
        self._is_apart = False
        self._lists: list[int | None] = []
        self._cells = 0

    def add(self, text: str | None) -> None:
        """A part of the current line."""
        if text:
            self._line.append(text)

    def break_line(self, *, apart: bool = False) -> None:
        """End the current line, if it has a text. The next one is `apart` if an empty line is to precede it."""
        line = _SPACE.sub(" ", "".join(self._line)).strip()
        self._line.clear()
        if line:
            self._put(self._prefix + line)
            self._prefix = ""
        self._is_apart |= apart and not self._lists and not self._cells

    def preformatted(self, text: str) -> None:
        """Lines as they are."""
        self.break_line(apart=True)
        text = text.strip("\r\n")
        if text.strip():
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 3)
            self._put(f"{fence}\n{text}\n{fence}" if self._is_markdown else text)

    def start(self, tag: str) -> None:
        """An element begins."""
        if tag in _INLINE:
            return
        if tag in ("td", "th"):
            self.add(" | " if self._is_markdown and self._cells > 1 else " ")
            self._cells += 1
            return
        self.break_line(apart=tag in _APART)
        if tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "tr":
            self._cells = 1
        prefix = _HEADINGS.get(tag) or ("> " if tag == "blockquote" else self._bullet() if tag == "li" else "")
        if prefix and self._is_markdown:
            self._prefix = prefix

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in _INLINE or tag in ("td", "th"):
            return
        if tag in ("ul", "ol") and self._lists:
            self.break_line()
            self._lists.pop()
        elif tag == "tr":
            self.break_line()
            self._cells = 0
        self.break_line(apart=tag in _APART)
        if tag in _HEADINGS or tag in ("li", "blockquote"):
            self._prefix = ""

    def _bullet(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * min(len(self._lists) - 1, _MAX_DEPTH)
        number = self._lists[-1]
        if number is None:
            return indent + "- "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "

    def _put(self, line: str) -> None:
        if self._is_apart and self.lines:
            self.lines.append("")
        self._is_apart = False
        self.lines.append(line)


def body_text(root: Element, *, is_markdown: bool) -> str:
    """All text that an element shows, menus, notices and footers included, in time linear in the size of its markup.

    There are no emphasis, link targets and images: a reader does not see targets, and they often change at every load.
    """
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
