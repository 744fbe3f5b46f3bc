"""Tidies the Markdown that trafilatura writes.

It escapes every character that might be syntax anywhere. Most of these escapes are needless, and text with them is no longer
what the page says: a search for `snake_case` does not find `snake\\_case`.
"""

import re

from jobs.engines.page.text import normalised

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"((?<![`\\])(?:`[^`]+`|``[^`]+``)(?!`))")
_BLANK_LINES = re.compile(r"\n{3,}")

_NEEDLESS = (
    # CommonMark 6.2: an underscore inside a word is no emphasis, and neither is a sign between blanks.
    (re.compile(r"(?<=\w)\\_(?=\w|\\_)"), "_"),
    (re.compile(r"(?<=\S\s)\\([*_])(?=\s)"), r"\1"),
    # Strikethrough has two tildes, and a tag begins with a letter.
    (re.compile(r"(?<![\\~])\\~(?!\\?~)"), "~"),
    (re.compile(r"(?<!\\)\\<(?![A-Za-z/!?])"), "<"),
    # There are no links here, so brackets are text unless a target follows them, or they make a box to tick.
    (re.compile(r"(?<!\\)\\\[(?![ xX]\\\])([^\[\]\\]*)\\\](?![(\[:])"), r"[\1]"),
)


def tidied(markdown: str) -> str:
    """The Markdown without needless escapes and empty lines, normalised. What is code stays as it is."""
    lines: list[str] = []
    fence = ""
    for line in normalised(markdown).split("\n"):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip("`~ "):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            line = _without_escapes(line) if "\\" in line else line
        lines.append(line)
    return normalised(_BLANK_LINES.sub("\n\n", "\n".join(lines)))


def _without_escapes(line: str) -> str:
    # Every second part is a span of code.
    return "".join(part if index % 2 else _prose(part) for index, part in enumerate(_CODE_SPAN.split(line)))


def _prose(text: str) -> str:
    for escape, plain in _NEEDLESS:
        text = escape.sub(plain, text)
    return text
