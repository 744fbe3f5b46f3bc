"""The calculation behind x402-discover: reads one response."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from jobs.x402_discover import catalog, challenge, hints, openapi
from jobs.x402_discover.document import Hint, Reading, Source
from jobs.x402_discover.jsontext import BadJson, parse
from jobs.x402_discover.locators import origin_of
from jobs.x402_discover.tally import Tally
from jobs.x402_discover.terms import key_of

NAME = "x402_document"
_MONEY_ON_PAGES = re.compile(rb"\b(?:x402|USDC)\b", re.IGNORECASE)
_MONEY = re.compile(rb"\bx402|\bUSDC?\b|\"(?:pay_?to|price|pricing|cost|amount)|\\$[0-9.]", re.IGNORECASE)
_decoder = msgspec.msgpack.Decoder(Source)


def calculate(argument: bytes) -> bytes:
    """Read a Source and return its Reading, both as MessagePack."""
    return msgspec.msgpack.encode(read(_decoder.decode(argument)))


def examples() -> Iterator[bytes]:
    """A page with a hint, and a catalog."""
    url = "https://shop.example/"
    html = (("content-type", "text/html; charset=utf-8"),)
    page = (
        b'<!doctype html><html><head><meta name="x402" content="/tea"></head><body><a href="/tea">Tea</a></body></html>'
    )
    catalog = b"""{"x402Version": 2, "items": [{"resource": "https://shop.example/tea", "accepts": [{"scheme": "exact",
"network": "eip155:8453", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "amount": "1000", "payTo": "0x1"}]}]}"""
    yield msgspec.msgpack.encode(Source("page", "GET", url, 200, html, page))
    yield msgspec.msgpack.encode(Source("catalog", "GET", url, 200, (), catalog))


def read(source: Source) -> Reading:
    """Find everything that a response says about paid calls."""
    document, is_json = _json(source)
    answer = challenge.read(source, document)
    found: tuple[Hint, ...] = ()
    error = None
    if source.kind == "page" and not is_json and _is_html(source):
        try:
            found = hints.read(source.body, source.url, _content_type(source))
        except ValueError:
            error = "bad_content"
    if answer.entry is not None or answer.challenge is not None:
        return Reading(
            entries=() if answer.entry is None else (answer.entry,),
            offers=answer.offers,
            challenge=answer.challenge,
            hints=found,
            format="challenge",
            warnings=answer.warnings,
        )
    if is_json and source.status < 300:
        return _catalog(source, document, answer.warnings)
    if source.kind != "page" and source.status < 300:
        error = "bad_content"
    mentions = _MONEY_ON_PAGES.search(source.body) is not None
    return Reading(hints=found, error=error, warnings=answer.warnings, mentions_money=mentions)


def _json(source: Source) -> tuple[Any, bool]:
    if not source.body or source.body.lstrip()[:1] == b"<":
        return None, False
    try:
        return parse(source.body), True
    except BadJson:
        return None, False


def _catalog(source: Source, document: Any, warnings: tuple[str, ...]) -> Reading:
    tally = Tally()
    if openapi.is_openapi(document):
        openapi.read(document, source.url, tally)
        shape: str | None = "openapi"
    else:
        is_manifest = source.kind == "catalog" or _speaks_of_x402(document)
        catalog.walk(document, origin_of(source.url) + "/", tally, is_manifest=is_manifest)
        shape = _shape(document) if tally.entries or tally.free or is_manifest else None
    name = "the target" if source.kind == "page" else source.url
    return Reading(
        entries=tuple(tally.entries),
        offers=tally.offers,
        format=shape,
        warnings=(*warnings, *tally.warnings(name)),
        is_cut=tally.is_cut,
        link=None if shape in ("openapi", None) else openapi.link(document),
        mentions_money=_MONEY.search(source.body) is not None,
    )


def _speaks_of_x402(document: Any) -> bool:
    """Whether a document at an arbitrary address declares itself as one of x402."""
    if not isinstance(document, dict):
        return False
    if any("x402" in key_of(text) for text in document):
        return True
    entries: list[Any] = next(
        (document[key] for key in ("items", "resources") if isinstance(document.get(key), list)), []
    )
    return bool(entries) and isinstance(entries[0], dict) and isinstance(entries[0].get("accepts"), list)


def _shape(document: Any) -> str:
    """The format: `bazaar` for `items` with offers, as facilitators list them; `resource_list` for addresses alone; else
    `manifest`."""
    if isinstance(document, dict):
        items = document.get("items")
        if isinstance(items, list) and items and isinstance(items[0], dict) and "accepts" in items[0]:
            return "bazaar"
        document = document.get("resources")
    if isinstance(document, list) and document and all(isinstance(entry, str) for entry in document):
        return "resource_list"
    return "manifest"


def _is_html(source: Source) -> bool:
    return "html" in _content_type(source).lower() or source.body.lstrip()[:1] == b"<"


def _content_type(source: Source) -> str:
    """The Content-Type header."""
    return next((value for name, value in source.headers if name == "content-type"), "")
