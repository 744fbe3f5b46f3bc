"""Parses the text of a feed as an XML tree, also when it is not correct XML.

Nothing external is loaded: external entities are ignored, and XInclude is an ordinary element. libxml2 stops at a depth of
256, and when entities make a text more than five times as long.
"""

import re
from collections.abc import Callable
from html.entities import html5
from typing import Any, TypeAlias

from shared.outcome import UpstreamFailed

Element: TypeAlias = Any
"""An element of lxml, which has no types. Only children import it."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARATION = re.compile(r"<\?xml\b[^>]{0,500}\?>", re.IGNORECASE)
_START = re.compile(r"<\?xml\b|<(?:rss|feed|rdf:RDF)[\s>]", re.IGNORECASE)
_HTML = re.compile(r"<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_BARE_AMPERSAND = re.compile(r"&(?!(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z_][\w.-]{0,60});)")
_NUMERIC = re.compile(r"&#(?:([0-9]{1,8})|[xX]([0-9a-fA-F]{1,8}));")
_BARE_LESS = re.compile(r"<(?![^\W\d]|[/!?])")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};)")
_MAX_JUNK = 4096
_XML_ENTITIES = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


def root_of(text: str) -> Element:
    """Parse a text and return the root element.

    Raises:
        UpstreamFailed: `not_a_feed` when there is no root element; `bad_content` when the elements are nested too deeply or
            the entities grow too large.
    """
    text = _without_junk(_NOT_XML.sub("", text))
    if declaration := _DECLARATION.match(text):  # the text is encoded anew
        text = text[declaration.end() :].lstrip()
    root = _parsed(text, is_lenient=False)
    if root is None:
        root = _parsed(_outside_cdata(text, _repaired), is_lenient=True)
    if root is None:
        raise UpstreamFailed("The response is not XML, so it is not a feed.", reason="not_a_feed", is_final=True)
    return root


def _without_junk(text: str) -> str:
    """Remove what precedes the document, such as a server's warnings and blank lines."""
    start = _START.search(text, 0, _MAX_JUNK)
    if start is None or _HTML.search(text, 0, start.start()):
        return text.lstrip("\ufeff \t\r\n")
    doctype = text.rfind("<!DOCTYPE", 0, start.start())
    return text[doctype if doctype >= 0 else start.start() :]


def _parsed(text: str, *, is_lenient: bool) -> Element | None:
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(
        recover=is_lenient,
        encoding="utf-8",
        resolve_entities="internal",
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root: Element | None = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError:
        root = None
    last = parser.error_log.last_error
    if last is not None and last.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        detail = "The feed is nested too deeply, or its entities are too large."
        raise UpstreamFailed(detail, reason="bad_content", is_final=True)
    return root


def _outside_cdata(text: str, change: Callable[[str], str]) -> str:
    parts = []
    at = 0
    while (start := text.find("<![CDATA[", at)) >= 0:
        end = text.find("]]>", start)
        if end < 0:
            break
        parts += [change(text[at:start]), text[start : end + 3]]
        at = end + 3
    return "".join((*parts, change(text[at:])))


def _repaired(text: str) -> str:
    """Repair what HTML allows and XML does not: `AT&T`, `a < b`, `&nbsp;`."""
    text = _ENTITY.sub(_character, _BARE_AMPERSAND.sub("&amp;", _NUMERIC.sub(_numeric, text)))
    return _BARE_LESS.sub("&lt;", text)


def _numeric(reference: re.Match[str]) -> str:
    """A numeric reference that is safe to parse: libxml2 would write a surrogate as bytes that are not UTF-8."""
    number = int(reference[1] or reference[2], 10 if reference[1] else 16)
    return "" if number > 0x10FFFF or _NOT_XML.match(chr(number)) else reference[0]


def _character(entity: re.Match[str]) -> str:
    # The document itself may declare a name that HTML does not know.
    if entity[1] in _XML_ENTITIES or entity[1] not in html5:
        return entity[0]
    return html5[entity[1]].replace("&", "&amp;").replace("<", "&lt;")
