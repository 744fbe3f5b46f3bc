"""The markup of a page without what changes at every load, for a hash of the page's structure."""

import hashlib

from jobs.engines.page.tree import Element

_DROPPED = frozenset({"script", "style", "noscript", "template", "iframe", "svg", "link", "meta", "base"})
"""Elements that no reader sees as text, and whose content holds nonces, tokens, counters and times of rendering."""
_VOLATILE = frozenset({"nonce", "integrity", "style", "ping", "srcset", "crossorigin", "loading", "fetchpriority"})
_ADDRESSES = frozenset({"src", "href", "action", "poster", "formaction", "cite"})


def markup_hash(root: Element) -> str:
    """The SHA-256 of elements, their lasting attributes and their texts, in lower-case hex.

    Left out: scripts and styles, `data-` and `aria-` attributes, handlers, ids, nonces, the values of hidden fields, and
    queries of addresses. All text that a reader may see is in.
    """
    from lxml import etree  # type: ignore[import-untyped]

    digest = hashlib.sha256()
    depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        dropped = element.tag in _DROPPED or not isinstance(element.tag, str)
        if event == "start":
            depth += dropped
            if not depth:
                digest.update(f"<{element.tag}{_attributes(element)}>{_collapsed(element.text)}".encode())
            continue
        if not depth:
            digest.update(f"</{element.tag}>".encode())
        depth -= dropped
        if not depth and element is not root:
            digest.update(_collapsed(element.tail).encode())
    return digest.hexdigest()


def _attributes(element: Element) -> str:
    kept = []
    is_hidden = element.tag == "input" and (element.get("type") or "").lower() == "hidden"
    for name, value in sorted(element.attrib.items()):
        if name in _VOLATILE or name == "id" or name.startswith(("data-", "aria-", "on")):
            continue
        if is_hidden and name == "value":
            continue
        kept.append(f" {name}={value.split('?')[0] if name in _ADDRESSES else value!r}")
    return "".join(kept)


def _collapsed(text: str | None) -> str:
    return " ".join((text or "").split())
