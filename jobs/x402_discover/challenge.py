"""Reads the challenge in the response to an unpaid call, in every form that x402 has had:

- version 2: `PAYMENT-REQUIRED`, the base64 of a JSON object with `accepts`;
- version 1: that object as the body, with `maxAmountRequired` for `amount`, and names for networks;
- `WWW-Authenticate: X402`, followed by the same base64, by parameters, or by nothing.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jobs.x402_discover import terms
from jobs.x402_discover.catalog import description_of, version_of
from jobs.x402_discover.document import Challenge, Entry, Offer, Source, Transport, clean
from jobs.x402_discover.figures import plain_text
from jobs.x402_discover.jsontext import BadJson, parse
from jobs.x402_discover.locators import absolute, method_of, origin_of
from jobs.x402_discover.terms import Stated, Terms, stated

_MAX_HEADER = 32 * 1024
_SCHEME = re.compile(r"(?:^|,)\s{0,8}x402(?=[\s,]|$)", re.IGNORECASE | re.ASCII)
_PARAMETER = re.compile(r'([A-Za-z0-9_-]{1,40})\s{0,4}=\s{0,4}(?:"([^"\\]{0,16384})"|([^\s",]{1,2048}))', re.ASCII)
_TOKEN68 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}", re.ASCII)
_WRAPPERS = ("payment", "x402", "paymentRequired", "payment_required", "detail", "error", "data")


class Answer(NamedTuple):
    """The content of a challenge.

    Attributes:
        entry: the call, as a paid one; None when the challenge has no terms.
    """

    challenge: Challenge | None
    entry: Entry | None
    offers: tuple[Offer, ...]
    warnings: tuple[str, ...]


class _Found(NamedTuple):
    transport: Transport
    node: Mapping[str, Any]
    terms: Terms


def read(source: Source, body: Any) -> Answer:
    """Look for a challenge in a response.

    Args:
        body: the decoded JSON; None when the body is not JSON.
    """
    name = "The target" if source.kind == "page" else source.url
    if source.status < 400:
        has_header = any(header == "payment-required" for header, _ in source.headers)
        warning = f"{name} answers {source.status} with a PAYMENT-REQUIRED header, which belongs to a 402."
        return Answer(None, None, (), (warning,) if has_header else ())
    warnings: list[str] = []
    found = [*_from_headers(source, warnings), *_from_body(body)]
    with_terms = [one for one in found if one.terms.offers or one.terms.price_usdc is not None]
    best = next(iter(with_terms or found), None)
    if best is None:
        if source.status == 402:
            warnings.append(f"{name} answers 402 without x402 payment terms that can be read.")
        return Answer(None, None, (), tuple(warnings))
    if any(_differs(best.terms, other.terms) for other in with_terms):
        warnings.append(f"The challenge contradicts itself; the terms reported are those of its {best.transport}.")
    version = version_of(best.node)
    challenge = Challenge(
        status=source.status,
        x402_version=version,
        accepts=list(best.terms.offers),
        transport=best.transport if with_terms or best.node else None,
    )
    if not with_terms:
        warnings.append(f"{name} asks for payment with x402, but names no terms.")
        return Answer(challenge, None, (), tuple(warnings))
    warnings.extend(_about_resource(best.node, source.url))
    entry = Entry(
        url=absolute(source.url, source.url) or source.url,
        method=_declared_method(best.node) or source.method,
        x402_version=version,
        description=description_of(best.node),
        offers=tuple(range(len(best.terms.offers))),
        price_usdc=None if best.terms.price_usdc is None else plain_text(best.terms.price_usdc),
        evidence="challenge",
    )
    return Answer(challenge, entry, best.terms.offers, tuple(warnings))


def _from_headers(source: Source, warnings: list[str]) -> Iterator[_Found]:
    for name, value in source.headers:
        if name in ("payment-required", "x-payment-required"):
            node = _decoded(value)
            if node is None:
                warnings.append("The PAYMENT-REQUIRED header is not the base64 of a JSON object.")
            else:
                yield _Found("payment_required_header", node, terms.read(stated(node)))
    for name, value in source.headers:
        if name == "www-authenticate" and (scheme := _SCHEME.search(value[:_MAX_HEADER])):
            yield _from_authenticate(value[scheme.end() : _MAX_HEADER].strip(" ,"))


def _from_authenticate(text: str) -> _Found:
    """Read the text after the scheme's name."""
    if text.startswith("{"):
        node = _json_object(text.encode("latin-1", "replace"))
        return _as_found(node or {})
    token = _TOKEN68.match(text)
    if token and text[token.end() :].lstrip()[:1] in ("", ","):
        return _as_found(_decoded(token[0]) or {})
    fields = {match[1]: match[2] if match[2] is not None else match[3] for match in _PARAMETER.finditer(text)}
    for value in fields.values():
        if len(value) > 64 and (node := _decoded(value)) is not None:
            return _as_found(node)
    offer = {name: value for name, value in fields.items() if name.lower() not in ("realm", "version")}
    said = stated(offer, is_offer=True)
    return _Found("www_authenticate", {"x402Version": fields.get("version")}, terms.read(said))


def _as_found(node: Mapping[str, Any]) -> _Found:
    return _Found("www_authenticate", node, terms.read(stated(node)))


def _from_body(body: Any) -> Iterator[_Found]:
    """Find the object with `accepts`: the body, or the value of one of a few keys in it."""
    if not isinstance(body, dict):
        return
    for node in (body, *(body.get(key) for key in _WRAPPERS)):
        if isinstance(node, dict) and (isinstance(node.get("accepts"), list) or "x402Version" in node):
            yield _Found("body", node, terms.read(_only_offers(node)))
            return


def _only_offers(node: Mapping[str, Any]) -> Stated:
    """Only the offers of a body. It may say much else, such as the price of the product."""
    return stated({"accepts": node.get("accepts")})


def _decoded(text: str) -> Mapping[str, Any] | None:
    text = text[:_MAX_HEADER].strip()
    if text.startswith("{"):
        return _json_object(text.encode("latin-1", "replace"))
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _json_object(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _json_object(raw: bytes) -> Mapping[str, Any] | None:
    try:
        node = parse(raw)
    except BadJson:
        return None
    return node if isinstance(node, dict) else None


def _differs(one: Terms, other: Terms) -> bool:
    """Whether they state different amounts of the same asset, or different payees for it."""
    mine = {
        (offer.network, (offer.asset or "").lower()): (offer.amount, (offer.pay_to or "").lower())
        for offer in one.offers
    }
    for offer in other.offers:
        known = mine.get((offer.network, (offer.asset or "").lower()))
        if known is not None and known != (offer.amount, (offer.pay_to or "").lower()):
            return True
    return False


def _declared_method(node: Mapping[str, Any]) -> str | None:
    """The method in the bazaar extension or in version 1's output schema. Many servers send their challenge for any method."""
    offers = node.get("accepts")
    first = offers[0] if isinstance(offers, list) and offers else None
    return method_of(node) or (method_of(first) if isinstance(first, dict) else None)


def _about_resource(node: Mapping[str, Any], url: str) -> Iterator[str]:
    resource = node.get("resource")
    named = resource.get("url") if isinstance(resource, dict) else resource
    found = absolute(named, origin_of(url) + "/") if isinstance(named, str) else None
    if found is not None and origin_of(found) != origin_of(url):
        yield f"The challenge is about another origin: {clean(origin_of(found), 200)}."
