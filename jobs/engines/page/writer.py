"""Writes the text of a page line by line, from the beginnings and ends of its elements."""

import re

from jobs.engines.page.tree import Element, walk
from jobs.engines.text.names import names

_SPACE = re.compile(r"[ \t\n\r\f\u00a0]+")
INLINE = names(
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
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_NOT_IN_CELLS = frozenset((*_HEADINGS, "pre", "form", "article", "section"))
"""What makes a table one that only arranges the page."""
_MAX_DEPTH = 8
_MAX_BREAKS = 12
"""Ends of blocks in one cell. A cell with more is a part of the page."""


class _Table:
    """A table that has not ended yet.

    Attributes:
        rows: of what has been read.
        is_layout: it arranges the page, so its cells are lines.
        breaks: of the cell that is being read.
    """

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.is_layout = False
        self.breaks = 0


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
        self._tables: list[_Table] = []
        self._code: list[int] = []

    def add(self, text: str | None) -> None:
        """A part of the current line."""
        if text:
            self._line.append(text)

    def break_line(self, *, apart: bool = False) -> None:
        """End the current line, if it has a text. The next one is `apart` if an empty line is to precede it."""
        if (table := self._data_table()) is not None and self._cells > 1:
            self.add(" ")
            table.breaks += 1
            if table.breaks <= _MAX_BREAKS:
                return
            self._make_layout(table)
        line = self._taken()
        if line:
            self._put(self._prefix + line)
            self._prefix = ""
        self._is_apart |= apart and not self._lists and not (self._cells and not self._tables)

    def close(self) -> None:
        """End everything that has begun."""
        while self._tables:
            self._end_table()
        self.break_line()

    def preformatted(self, text: str) -> None:
        """Lines as they are."""
        self.break_line(apart=True)
        text = text.strip("\r\n")
        if text.strip():
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 3)
            self._put(f"{fence}\n{text}\n{fence}" if self._is_markdown else text)

    def start(self, tag: str) -> None:
        """An element begins."""
        if tag in _CODE and self._is_markdown:
            self._code.append(len(self._line))
        if tag in INLINE:
            return
        if tag in ("td", "th"):
            self._start_cell()
            return
        if (table := self._data_table()) is not None and (tag == "table" or tag in _NOT_IN_CELLS):
            self._make_layout(table)
        self.break_line(apart=tag in _APART)
        if tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "table":
            self._tables.append(_Table())
            self._cells = 0
        elif tag == "tr":
            self._start_row()
        in_cell = self._data_table() is not None and self._cells > 1
        prefix = _HEADINGS.get(tag) or ("> " if tag == "blockquote" else self._bullet() if tag == "li" else "")
        if prefix and self._is_markdown and not in_cell:
            self._prefix = prefix

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in _CODE and self._code:
            self._end_code(self._code.pop())
        if tag in INLINE or tag in ("td", "th"):
            return
        if tag in ("ul", "ol") and self._lists:
            self.break_line()
            self._lists.pop()
        elif tag == "tr":
            self._end_row()
        elif tag == "table" and self._tables:
            self._end_table()
        self.break_line(apart=tag in _APART)
        if tag in _HEADINGS or tag in ("li", "blockquote"):
            self._prefix = ""

    def _taken(self) -> str:
        """The current line, which is then empty."""
        line = _SPACE.sub(" ", "".join(self._line)).strip()
        self._line.clear()
        self._code.clear()
        return line

    def _end_code(self, at: int) -> None:
        text = _SPACE.sub(" ", "".join(self._line[at:])).strip()
        if text and not text.startswith("`"):
            fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
            self._line[at:] = [f"{fence}{text}{fence}"]

    def _data_table(self) -> _Table | None:
        """The table that is being read, unless it arranges the page."""
        return self._tables[-1] if self._tables and not self._tables[-1].is_layout else None

    def _start_row(self) -> None:
        if (table := self._data_table()) is not None:
            table.rows.append([])
        self._cells = 1

    def _start_cell(self) -> None:
        table = self._data_table()
        if table is not None and table.rows:
            self._end_cell(table)
        elif table is None and self._tables:
            self.break_line()
        else:
            self.add(" ")
        self._cells += 1

    def _end_cell(self, table: _Table) -> None:
        line = self._taken()
        table.breaks = 0
        if self._cells > 1:
            table.rows[-1].append(line)
        elif line:
            self._put(line)

    def _end_row(self) -> None:
        if (table := self._data_table()) is not None and table.rows:
            self._end_cell(table)
        self._cells = 0

    def _make_layout(self, table: _Table) -> None:
        """Write what was read of a table as lines. The cell that is being read continues as one."""
        table.is_layout = True
        for row in table.rows:
            for text in filter(None, row):
                self._put(text)
        table.rows.clear()

    def _end_table(self) -> None:
        if (table := self._data_table()) is not None and table.rows:
            self._end_cell(table)
        self._tables.pop()
        self._cells = 0
        rows = [row for row in table.rows if any(row)] if table is not None else []
        width = max(map(len, rows), default=0)
        for number, row in enumerate(rows):
            if not self._is_markdown or width < 2:
                self._put(" ".join(filter(None, row)))
                continue
            cells = [cell.replace("|", "\\|") for cell in row] + [""] * (width - len(row))
            self._put(f"| {' | '.join(cells)} |")
            if number == 0:
                self._put("|" + " --- |" * width)

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
    writer.close()
    return "\n".join(writer.lines)
