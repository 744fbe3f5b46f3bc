"""Converts HTML to one line of text in linear time: a scan that finds no end ends the work."""

import html
import re
from collections.abc import Iterator

MAX_SNIPPET = 500

_TAG = re.compile(r"""<(/?)([A-Za-z][^\s/>]{0,60})(?>(?:[^>"']++|"[^"]*+"|'[^']*+')*)>""")
_REFERENCE = re.compile(r"&(?:#[0-9]++;?|#[xX][0-9a-fA-F]++;?|[A-Za-z][A-Za-z0-9]{0,31};?)")
_CLOSING = re.compile(r"</[A-Za-z][A-Za-z0-9]{0,15}\s{0,9}>")
_ANY_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]{0,15})(?:\s[^<>]{0,2000})?/?>")
SILENT = ("iframe", "noembed", "noframes", "noscript", "object", "script", "style", "svg", "template", "title", "xmp")
_END = {name: re.compile(rf"</(?:[a-z]{{1,20}}:)?{name}(?=[\s/>])", re.IGNORECASE) for name in SILENT}

INLINE = frozenset(
    (
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i"),
        *("ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike"),
        *("strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    )
)
"""Elements that do not separate words. All others do."""

_BLOCKS = frozenset(
    ("blockquote", "br", "center", "div", *(f"h{n}" for n in range(1, 7)), "hr", "img", "li", "ol", "p", "pre", "ul")
)


def looks_like_html(text: str) -> bool:
    """Whether a text that may be plain is HTML. `<b>so</b>` and `AT&amp;T` are; `1 < 2` and `the <div> tag` are not."""
    if any(html.unescape(found[0]) != found[0] for found in _REFERENCE.finditer(text[:2000]) if _is_whole(found[0])):
        return True
    tags = [found[1].lower() for found in _ANY_TAG.finditer(text)]
    has_end = _CLOSING.search(text) is not None or any(tag in ("br", "hr", "img", "wbr") for tag in tags)
    return has_end and all(tag in INLINE or tag in _BLOCKS for tag in tags)


def _is_whole(reference: str) -> bool:
    return reference.endswith(";") and len(reference) < 40


def text_of_html(markup: str, *, limit: int) -> str:
    """The text of HTML, without tags, comments and scripts. White space is collapsed; the text is cut at `limit` code
    points."""
    return joined(_texts(markup), limit=limit)


def joined(texts: Iterator[str], *, limit: int) -> str:
    """Join parts of a text in one line. A text that is cut ends in `…`."""
    line = ""
    pending: list[str] = []
    size = 0
    for text in texts:
        pending.append(text)
        size += len(text)
        # Work on several parts at a time, so that the same text is not joined and collapsed repeatedly.
        if size > 4 * limit:
            line = _collapsed(line + "".join(pending))
            pending, size = [], 0
            if len(line.rstrip()) > limit:
                break
    line = _collapsed(line + "".join(pending)).strip()
    return line if len(line) <= limit else line[:limit].rstrip() + "…"


def _collapsed(text: str) -> str:
    """Collapse white space. Some stays at both ends, because it separates this part from its neighbours."""
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return (" " if text[0].isspace() else "") + words + (" " if text[-1].isspace() else "")


def unescaped(text: str) -> str:
    """Decode character references. `html.unescape` fails at 4300 digits, so a reference to no character gives U+FFFD here."""
    return _REFERENCE.sub(_character, text)


def _character(reference: re.Match[str]) -> str:
    text = reference[0]
    if text[1] == "#" and len(text.strip("&#xX;").lstrip("0")) > 8:
        return "\ufffd"
    return html.unescape(text)


def _texts(markup: str) -> Iterator[str]:
    markup = markup.replace("<![CDATA[", "").replace("]]>", "") if "<![CDATA[" in markup else markup
    at = 0
    has_quotes = True
    while (start := markup.find("<", at)) >= 0:
        if start > at:
            yield unescaped(markup[at:start])
        following = markup[start + 1 : start + 2]
        if markup.startswith("<!--", start):
            end = markup.find("-->", start + 4)
            at = end + 3
        elif following in ("!", "?") or (following == "/" and not markup[start + 2 : start + 3].isalpha()):
            end = markup.find(">", start)
            at = end + 1
        elif not (following == "/" or (following.isascii() and following.isalpha())):
            yield "<"
            at, end = start + 1, start
        else:
            tag = _TAG.match(markup, start) if has_quotes else None
            # A quote that never closes: all quotes after it are ignored.
            has_quotes = has_quotes and tag is not None
            end = tag.end() - 1 if tag else markup.find(">", start)
            name = _name(markup[start + 1 : start + 64])
            at = end + 1
            if name not in INLINE:
                yield " "
            if following != "/" and name in _END and end >= 0 and markup[end - 1] != "/":
                closing = _END[name].search(markup, at)
                at = closing.start() if closing else len(markup)
        if end < 0:  # the construct never ends, so no text follows it
            return
    yield unescaped(markup[at:])


def _name(start: str) -> str:
    return re.split(r"[\s/>]", start.lstrip("/"), maxsplit=1)[0].rpartition(":")[2].lower()
