"""Finds calls in a JSON document of unknown shape. Published manifests have little in common, so the rules are about position:

- An object that states an address and payment terms is a paid call.
- In a list or map of calls (`resources`, `endpoints`, `items`, ...), an object, text or key with an address is a call too.
  It inherits the terms that the enclosing objects state for all.
- A call without any terms is only *listed*: an x402 document names it, but nothing says what it costs.
- An object that contains other calls is their frame, and its payment terms are their default.

The walk visits every value once, without recursion, and at most `MAX_NODES` values.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jobs.engines.text.names import names
from jobs.x402_discover.document import clean
from jobs.x402_discover.locators import Locator, base_of, locator, locator_of, method_of
from jobs.x402_discover.tally import MAX_ENTRIES, Tally
from jobs.x402_discover.terms import NOTHING, Stated, is_terms_key, key_of, stated

MAX_NODES = 60_000
"""Objects, lists, and texts in lists of calls. An ordinary item of a catalog counts as three of them."""
MAX_LEVELS = 32

_LISTINGS = names(
    """
    resources endpoints items services routes apis paths tools products catalog listings urls calls operations
    paidendpoints paidresources paidroutes paidhttpresources data entries
    """
)
"""Keys of lists and maps of calls. Under any other key an object must state its own terms."""
_PAID_LISTINGS = frozenset(
    ("resources", "endpoints", "items", "paidendpoints", "paidresources", "paidroutes", "paidhttpresources")
)
"""Keys of x402's own documents. A call under them is listed even without terms."""

# Descriptions of input and output. Addresses and prices inside are examples of something else.
_SKIPPED = names(
    """
    input output inputschema outputschema requestschema responseschema schema schemas example examples sample
    samples parameters params requestbody response responses properties extensions extra headers body queryparams
    docs documentation contact provider links
    """
)


class _Place(NamedTuple):
    """A value during the walk, and what the enclosing values say about it.

    Attributes:
        key: the key of the value, when that key is an address.
        frame: number of the enclosing call, if there is one.
        is_listed: it is in a list or map of calls.
        is_x402: this list or map is one of x402's own.
        is_map: it may itself be a map of calls.
    """

    node: Any
    base: str
    key: str = ""
    defaults: Stated = NOTHING
    version: int | None = None
    frame: int | None = None
    is_listed: bool = False
    is_x402: bool = False
    is_map: bool = False
    level: int = 0


class _Call(NamedTuple):
    """An address, with the terms stated for it."""

    found: Locator
    base: str
    said: Stated | None
    version: int | None
    description: str | None
    frame: int | None


def walk(document: Any, base: str, tally: Tally, *, is_manifest: bool) -> None:
    """Enter every call of a document into the tally.

    Args:
        base: the address to which relative ones are resolved.
        is_manifest: the document is one of x402. Calls that it lists without terms are then entered as listed, and a price
            alone is a price in x402.
    """
    calls: list[_Call] = []
    frames: set[int] = set()
    is_list = isinstance(document, list)
    waiting = [_Place(document, base, is_listed=is_list, is_x402=is_list)]
    visited = 0
    while waiting:
        place = waiting.pop()
        visited += 1
        if visited > MAX_NODES or len(calls) > MAX_ENTRIES:
            tally.is_cut = True
            break
        if place.level > MAX_LEVELS:
            tally.is_cut = True
            continue
        if isinstance(place.node, dict):
            inner = place._replace(
                base=base_of(place.node, place.base), version=version_of(place.node) or place.version
            )
            own = stated(place.node)
        else:
            inner, own = place, _of_scalar(place)
        call = _call(inner, own, is_manifest=is_manifest)
        if call is not None:
            calls.append(call)
            frame = call.frame
            while frame is not None and frame not in frames:
                frames.add(frame)
                frame = calls[frame].frame
        waiting.extend(reversed([*_inside(inner, own, None if call is None else len(calls) - 1)]))
    for number, call in enumerate(calls):
        if number not in frames:
            tally.add(call.found, call.base, call.said, version=call.version, description=call.description)


def _call(place: _Place, own: Stated, *, is_manifest: bool) -> _Call | None:
    found = _located(place)
    if found is None or _is_tool(place.node):
        return None
    said = own.or_else(place.defaults) if place.is_listed or own.is_evidence else own
    # A payee without an amount counts as terms only in a list of calls or in offers. Elsewhere it may be an imprint.
    is_offer = said.has_price or (own.is_evidence and (place.is_listed or bool(own.offers)))
    description = description_of(place.node) if isinstance(place.node, dict) else None
    if said.is_free or (is_offer and (is_manifest or said.names_x402)):
        return _Call(found, place.base, said, place.version, description, place.frame)
    if is_manifest and place.is_x402:
        return _Call(found, place.base, None, place.version, description, place.frame)
    return None


def _is_tool(node: Any) -> bool:
    """Whether a resource is a tool of an MCP server, which no HTTP request to its address buys."""
    return isinstance(node, dict) and node.get("type") == "mcp"


def _of_scalar(place: _Place) -> Stated:
    """Read the terms of a scalar: `"GET /x": "$0.01"`."""
    return stated({"price": place.node}) if place.key and isinstance(place.node, str) else NOTHING


def _located(place: _Place) -> Locator | None:
    """The address that an object or a text states, else the key of the map of calls that contains it."""
    key = locator(place.key)
    if not isinstance(place.node, dict):
        return key or (locator(place.node) if place.is_listed else None)
    found = locator_of(place.node)
    if found is None and key is None:
        offers = place.node.get("accepts")
        first = offers[0] if isinstance(offers, list) and offers else None
        found = locator_of(first) if isinstance(first, dict) else None  # the place of version 1
    if found is None and key is not None:
        return Locator(key.text, key.method or method_of(place.node))
    return found


def _inside(place: _Place, own: Stated, call: int | None) -> Iterator[_Place]:
    """The values inside, with the terms that they inherit.

    Args:
        call: the number of the call at this place, if it is one.
    """
    node, level = place.node, place.level + 1
    if isinstance(node, list):
        inner = place._replace(key="", is_map=False, level=level)
        for value in node[:MAX_NODES]:
            if isinstance(value, (dict, list)) or (place.is_listed and type(value) is str):
                yield inner._replace(node=value)
        return
    if not isinstance(node, dict):
        return
    frame = place.frame if call is None else call
    defaults = Stated({**place.defaults.fields, **own.fields}, own.offers or place.defaults.offers)
    for text, value in node.items():
        key = key_of(text)
        named = locator(text)
        # A method before a path says that it is a call, wherever the key is.
        address = text if named is not None and (place.is_map or named.method is not None) else ""
        if not address and (not isinstance(value, (dict, list)) or key in _SKIPPED):
            continue
        if not address and is_terms_key(key) and not _lists_calls(value):
            continue
        is_entry = bool(address) or (place.is_map and isinstance(value, dict))
        yield _Place(
            value,
            place.base,
            key=address,
            defaults=defaults,
            version=place.version,
            frame=frame,
            is_listed=key in _LISTINGS or is_entry,
            is_x402=key in _PAID_LISTINGS or (is_entry and place.is_x402),
            is_map=key in _LISTINGS and isinstance(value, dict),
            level=level,
        )


def _lists_calls(value: Any) -> bool:
    """Whether an object under a key of terms, such as `x402`, has a list or map of calls."""
    return isinstance(value, dict) and any(
        key_of(text) in _LISTINGS and isinstance(inner, (dict, list)) for text, inner in value.items()
    )


def version_of(node: Mapping[str, Any]) -> int | None:
    """`x402Version`, if that version exists."""
    version = node.get("x402Version", node.get("x402_version"))
    return int(version) if isinstance(version, str) and version in ("1", "2") else None


def description_of(node: Mapping[str, Any]) -> str | None:
    """The description of an object, its own or in one of the objects where x402 puts it."""
    offers = node.get("accepts")
    first = offers[0] if isinstance(offers, list) and offers else None
    places = (node, node.get("resource"), node.get("metadata"), first)
    for key in ("description", "summary", "title", "name"):
        for place in places:
            if isinstance(place, dict) and (text := clean(place.get(key))):
                return text
    return None
