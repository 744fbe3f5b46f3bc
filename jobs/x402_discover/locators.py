"""Reads the address of a call in its many notations: `url`, `resource`, `path`, `"POST /x"`, below a base address."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import ada_url

from jobs.engines.text.names import names
from jobs.x402_discover.terms import key_of

MAX_URL = 2048
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

_KEYS = (
    *("url", "resource", "resourceurl", "endpointurl", "fullurl", "endpoint", "uri", "href", "path", "route"),
    *("checkout", "checkouturl", "purchaseurl", "paymenturl", "buyurl"),
)
_PATH_KEYS = frozenset({"path", "route", "endpoint", "resource", "checkout"})
_BASE_KEYS = names(
    """
    baseurl servicebaseurl apibase apibaseurl apiurl serviceurl basepath publicbaseurl publicurl
    """
)
_METHOD_KEYS = frozenset({"method", "httpmethod", "verb", "methods"})
_METHOD_PLACES = (
    ("input",),
    ("outputSchema", "input"),
    ("metadata", "input"),
    ("metadata", "outputSchema", "input"),
    ("extensions", "bazaar", "info", "input"),
    ("request",),
)
_PREFIXED = re.compile(r"([A-Za-z]{3,7})[ \t]{1,4}(\S.*)", re.ASCII | re.DOTALL)
_ABSOLUTE = re.compile(r"https?://[^/]", re.IGNORECASE)
_RELATIVE = re.compile(r"[A-Za-z0-9_.~{}:%-]+/\S*", re.ASCII)
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")


class Locator(NamedTuple):
    """An address, as written.

    Attributes:
        text: an http(s) URL or a path.
        method: in upper case; None when not stated.
    """

    text: str
    method: str | None


def locator(text: object, *, is_path: bool = False) -> Locator | None:
    """Read `https://host/x`, `/x`, or either after a method.

    Args:
        is_path: the text may be a path without its first slash.
    """
    if type(text) is not str or len(text) > MAX_URL:  # a Number is not an address
        return None
    text = text.strip()
    method = None
    prefixed = _PREFIXED.fullmatch(text)
    if prefixed and prefixed[1].upper() in METHODS:
        method, text = prefixed[1].upper(), prefixed[2].strip()
    if _SPACE.search(text) or not (
        text.startswith("/") or _ABSOLUTE.match(text) or (is_path and _RELATIVE.fullmatch(text))
    ):
        return None
    if not _ABSOLUTE.match(text) and ":" in text.partition("/")[0]:
        return None
    return Locator(text, method)


def locator_of(node: Mapping[str, Any]) -> Locator | None:
    """The address of the call that an object describes."""
    keys = {key_of(text): text for text in node}
    method = method_of(node)
    for key in _KEYS:
        value = node.get(keys.get(key, ""))
        if isinstance(value, dict):
            inner = value.get("url") or value.get("path")
            method = method or method_of(value)
        else:
            inner = value
        found = locator(inner, is_path=key in _PATH_KEYS and not isinstance(value, dict))
        if found is not None:
            return Locator(found.text, found.method or method)
    template = node["input"].get("routeTemplate") if isinstance(node.get("input"), dict) else None
    found = locator(template)
    return None if found is None else Locator(found.text, found.method or method)


def method_of(node: Mapping[str, Any]) -> str | None:
    """The method that an object states, itself or in the place of the bazaar extension."""
    for text, value in node.items():
        if key_of(text) in _METHOD_KEYS:
            first = value[0] if isinstance(value, list) and value else value
            if isinstance(first, str) and first.upper() in METHODS:
                return first.upper()
    for place in _METHOD_PLACES:
        inner: Any = node
        for step in place:
            inner = inner.get(step) if isinstance(inner, dict) else None
        method = inner.get("method") if isinstance(inner, dict) else None
        if isinstance(method, str) and method.upper() in METHODS:
            return method.upper()
    return None


def base_of(node: Mapping[str, Any], base: str) -> str:
    """The base address inside an object: its own `baseUrl` or the like, else the outer one."""
    for text, value in node.items():
        if key_of(text) in _BASE_KEYS and locator(value) is not None:
            return absolute(value, base) or base
    return base


def absolute(text: str, base: str) -> str | None:
    """An http(s) URL without a fragment, or None. A path is appended to the base's path, unless it already begins with it."""
    try:
        outer = ada_url.URL(base)
        if not text.startswith("//") and not _ABSOLUTE.match(text):
            text = text if text.startswith("/") else "/" + text
            prefix = outer.pathname.rstrip("/")
            if prefix and not (text == prefix or text.startswith(prefix + "/")):
                text = prefix + text
        url = ada_url.URL(text, base=base)
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:") or url.username or url.password or not url.hostname:
        return None
    # Keep templates such as /weather/{city} readable.
    path = url.pathname.replace("%7B", "{").replace("%7D", "}")
    found = f"{url.protocol}//{url.host}{path}{url.search}"
    return found if len(found) <= MAX_URL else None


def origin_of(url: str) -> str:
    """`https://host[:port]` of an absolute URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split(r'[/?#]', rest, maxsplit=1)[0]}"
