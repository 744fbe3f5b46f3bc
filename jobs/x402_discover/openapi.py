"""Finds the paid operations of an OpenAPI document: by `x-payment-info`, `x-<vendor>-pricing` and the like, and by 402
responses."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jobs.x402_discover.catalog import version_of
from jobs.x402_discover.document import clean
from jobs.x402_discover.locators import METHODS, Locator, absolute, locator, origin_of
from jobs.x402_discover.tally import Tally
from jobs.x402_discover.terms import NOTHING, Stated, key_of, stated

MAX_OPERATIONS = 20_000
_EXAMPLES = 5
_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}(?:-\S{1,20})?", re.ASCII)
_LINKS = frozenset({"openapi", "openapiurl", "openapispec", "openapidocument", "swagger", "swaggerurl"})


def is_openapi(document: Any) -> bool:
    """Whether a document declares itself as OpenAPI, with its version."""
    return isinstance(document, dict) and any(
        isinstance(document.get(key), str) and _VERSION.fullmatch(document[key]) for key in ("openapi", "swagger")
    )


def link(document: Any) -> str | None:
    """The address of the OpenAPI document that another document names."""
    for text, value in document.items() if isinstance(document, dict) else ():
        if key_of(text) in _LINKS:
            found = locator(value.get("url") if isinstance(value, dict) else value, is_path=True)
            if found is not None:
                return found.text
    return None


def read(document: Mapping[str, Any], url: str, tally: Tally) -> None:
    """Enter every paid operation into the tally.

    Args:
        url: the document's own URL.
    """
    info = document.get("info")
    defaults = _extensions(info if isinstance(info, dict) else {}).or_else(_extensions(document))
    version = version_of(document)
    base = _base(document, url, origin_of(url) + "/")
    for path, item, method, operation in _operations(document):
        own = _extensions(operation).or_else(_extensions(item))
        responses = operation.get("responses")
        refusal = responses.get("402") if isinstance(responses, dict) else None
        if not own.is_evidence and not own.is_free and refusal is not None:
            own = own.or_else(_example(refusal))
        is_dear = own.is_evidence or (refusal is not None and not own.is_free)
        if not (is_dear or own.is_free) or _is_of_others(operation):
            continue
        said = own.or_else(defaults)
        tally.add(
            Locator(path, method),
            _base(operation, url, _base(item, url, base)),
            said if said.has_price or said.is_free or own.is_evidence else None,
            version=version,
            description=clean(operation.get("description")) or clean(operation.get("summary")) or None,
        )


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
    """Path, path item, method and operation of each operation."""
    paths = document.get("paths")
    left = MAX_OPERATIONS
    for path, item in paths.items() if isinstance(paths, dict) else ():
        if not isinstance(item, dict) or not path.startswith("/"):
            continue
        for name, operation in item.items():
            if name.upper() in METHODS and isinstance(operation, dict):
                left -= 1
                if left < 0:
                    return
                yield path, item, name.upper(), operation


def _extensions(node: Mapping[str, Any]) -> Stated:
    """The terms in the payment extensions of an object. `x-payment-info` comes before all others."""
    found = NOTHING
    for text, value in sorted(node.items(), key=lambda pair: pair[0] != "x-payment-info"):
        key = key_of(text)
        if not text.lower().startswith("x-") or not any(word in key for word in ("payment", "pricing", "price", "402")):
            continue
        if isinstance(value, dict):
            found = found.or_else(stated({"payment": value, **value}))
        elif isinstance(value, str):
            found = found.or_else(stated({"price": value}))
    return found


def _is_of_others(operation: Mapping[str, Any]) -> bool:
    """Whether an operation names its payment protocols, without x402."""
    payment = operation.get("x-payment-info")
    protocols = payment.get("protocols") if isinstance(payment, dict) else None
    if not isinstance(protocols, list) or not protocols:
        return False
    names = [name for entry in protocols[:20] for name in (entry if isinstance(entry, dict) else (entry,))]
    return not any(isinstance(name, str) and name.lower() in ("x402", "protocol", "scheme") for name in names)


def _example(response: Any) -> Stated:
    """The terms in the example of a 402 response."""
    content = response.get("content") if isinstance(response, dict) else None
    for media in list(content.values())[:_EXAMPLES] if isinstance(content, dict) else ():
        if not isinstance(media, dict):
            continue
        examples = media.get("examples")
        several = list(examples.values())[:_EXAMPLES] if isinstance(examples, dict) else []
        values = [media.get("example"), *(entry.get("value") for entry in several if isinstance(entry, dict))]
        for value in values:
            if isinstance(value, dict) and (said := stated(value)).offers:
                return said
    return NOTHING


def _base(node: Mapping[str, Any], url: str, outer: str) -> str:
    """The address of the first server, else the outer base address."""
    servers = node.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else None
    text = first.get("url") if isinstance(first, dict) else None
    if isinstance(first, dict) and isinstance(text, str) and "{" in text:
        variables = first.get("variables")
        for name, variable in list(variables.items())[:20] if isinstance(variables, dict) else ():
            default = variable.get("default") if isinstance(variable, dict) else None
            if isinstance(default, str):
                text = text.replace("{" + name + "}", default)
    if type(text) is str:
        return absolute(text, origin_of(url) + "/") or outer
    host, path = node.get("host"), node.get("basePath")  # Swagger 2
    if isinstance(host, str) or isinstance(path, str):
        scheme = url.partition(":")[0]
        root = f"{scheme}://{host}/" if isinstance(host, str) else origin_of(url) + "/"
        return absolute(path if isinstance(path, str) and path.startswith("/") else "/", root) or outer
    return outer
