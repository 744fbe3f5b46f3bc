"""Makes the links of a feed absolute."""

from __future__ import annotations

import re
from collections.abc import Sequence

import ada_url

MAX_LINK = 4096

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_IGNORED = re.compile(r"[\t\n\r]")
_SCRIPTS = ("about:", "blob:", "data:", "file:", "javascript:", "vbscript:", "view-source:")


def resolved(text: str | None, bases: Sequence[str], url: str) -> str | None:
    """Resolve a relative link against the innermost base. Returns None for a link that a reader must not follow.

    Args:
        bases: the values of `xml:base` around the link, from the outside in.
        url: the URL of the feed.
    """
    link = _IGNORED.sub("", (text or "").strip())
    if not link or len(link) > MAX_LINK:
        return None
    if not _SCHEME.match(link):
        base = url
        for inner in bases:
            base = _joined(inner.strip(), base) or base
        link = _joined(link, base) or ""
    if not link or link.lower().startswith(_SCRIPTS):
        return None
    return link


def _joined(link: str, base: str) -> str | None:
    if len(link) > MAX_LINK:
        return None
    try:
        joined: str = ada_url.join_url(base, link)
    except ValueError:
        return None
    return joined if len(joined) <= MAX_LINK and joined.startswith(("http://", "https://")) else None
