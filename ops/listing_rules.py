"""What indexers need of a call, by its challenge and its OpenAPI operation. Nothing is asked here.

Sources: x402scan's docs/DISCOVERY.md and the rules of @agentcash/discovery 1.7.5; specs/extensions/bazaar.md of
x402-foundation; Coinbase's documentation of its Bazaar. docs/getting-found.md says which indexer needs what.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MAX_DESCRIPTION = 500
"""Characters. Coinbase's /verify refuses a payment whose resource has a longer one."""
MAX_NAME = 32
MAX_TAGS = 5
SHOWN_NETWORKS = frozenset({"eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"})
"""Base and Solana: x402scan ignores offers on all others."""
NOT_SHOWN = "no offer is on Base or Solana, and x402scan knows no other network"
_OFFER = ("scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds")
_LOCAL = ("localhost", "127.0.0.1", "::1")

Object = Mapping[str, Any]


class Answer(NamedTuple):
    """What an unpaid call was answered. Status 0: nothing."""

    status: int
    header: str
    """PAYMENT-REQUIRED."""
    body: object


def lacks(url: str, empty: Answer, example: Answer | None, operation: Object | None) -> Iterator[str]:
    """Why an indexer would not take a call, a sentence each.

    Args:
        empty: of a POST without a body.
        example: of a POST with the example of the challenge; None where it has none.
        operation: of /openapi.json; None: it has none for this address.
    """
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _LOCAL:
        yield "its address is not https"
    if empty.status != 402:
        yield f"a POST without a body is answered {empty.status or 'not at all'}, not 402"
        return
    challenge = challenge_of(empty)
    if challenge is None:
        yield "PAYMENT-REQUIRED is not base64 of a JSON object"
        return
    if challenge != empty.body:
        yield "the body is another challenge than PAYMENT-REQUIRED"
    if example is not None and example.status != 402:
        yield f"its own example without a payment is answered {example.status or 'not at all'}, not 402"
    yield from _of_challenge(url, challenge)
    yield from _of_operation(challenge, operation)


def challenge_of(answer: Answer) -> dict[str, Any] | None:
    """What PAYMENT-REQUIRED holds; None when it cannot be read."""
    try:
        challenge = json.loads(base64.b64decode(answer.header, validate=True))
    except ValueError:
        return None
    return challenge if isinstance(challenge, dict) else None


def input_of(challenge: Object) -> Object:
    """The example of a request that the bazaar extension has; empty when there is none."""
    return object_of(
        object_of(object_of(object_of(challenge.get("extensions")).get("bazaar")).get("info")).get("input")
    )


def protocols_of(operation: Object) -> list[Object]:
    """The offers that /openapi.json has of a call."""
    info = object_of(operation.get("x-payment-info"))
    return [object_of(protocol.get("x402")) for protocol in info.get("protocols") or () if "x402" in protocol]


def _of_challenge(url: str, challenge: Object) -> Iterator[str]:
    if challenge.get("x402Version") != 2:
        yield "the challenge is not of x402 version 2"
    resource = object_of(challenge.get("resource"))
    if resource.get("url") != url:
        yield f"the challenge calls it {resource.get('url')!r}: is COINSLOT_BASE_URL the address that callers use?"
    if len(str(resource.get("description") or "")) > MAX_DESCRIPTION:
        yield f"its description has more than {MAX_DESCRIPTION} characters"
    tags = resource.get("tags") or ()
    texts = [text for text in (resource.get("serviceName"), *tags) if text is not None]
    if len(tags) > MAX_TAGS or not all(_is_short(text) for text in texts):
        yield f"its service name and its {MAX_TAGS} tags at most must have 1 to {MAX_NAME} printable ASCII characters each"
    offers = [offer for offer in challenge.get("accepts") or () if isinstance(offer, dict)]
    if not any(offer.get("network") in SHOWN_NETWORKS for offer in offers):
        yield NOT_SHOWN
    if not all(all(name in offer for name in _OFFER) and ":" in str(offer["network"]) for offer in offers):
        yield f"an offer lacks one of {', '.join(_OFFER)}, or its network is not `namespace:reference`"
    described = input_of(challenge)
    if described.get("type") != "http" or not described.get("method"):
        yield "the challenge has no extension `bazaar` with an input: facilitators list nothing without it"


def _of_operation(challenge: Object, operation: Object | None) -> Iterator[str]:
    if operation is None:
        yield "/openapi.json has no paid POST of it"
        return
    info, protocols = object_of(operation.get("x-payment-info")), protocols_of(operation)
    if not object_of(info.get("price")).get("mode") or not protocols:
        yield "its x-payment-info in /openapi.json has no price or no protocol `x402`"
    offered = {_rail_of(offer): _terms_of(offer) for offer in map(object_of, challenge.get("accepts") or ())}
    # A rail that is down is in no challenge.
    if any(_terms_of(offer) != offered.get(_rail_of(offer), _terms_of(offer)) for offer in protocols):
        yield "/openapi.json says another price or recipient than the challenge"
    if "402" not in object_of(operation.get("responses")):
        yield "its operation in /openapi.json has no response 402"
    if not _schema_of(object_of(operation.get("requestBody"))):
        yield "its operation in /openapi.json has no schema of the body: x402scan skips such calls"
    if not _schema_of(object_of(object_of(operation.get("responses")).get("200"))):
        yield "its operation in /openapi.json has no schema of the answer"


def _rail_of(offer: Object) -> tuple[str, str, str]:
    return str(offer.get("scheme")), str(offer.get("network")), str(offer.get("asset"))


def _terms_of(offer: Object) -> tuple[object, object]:
    return offer.get("amount"), offer.get("payTo")


def _schema_of(content: Object) -> Object:
    return object_of(object_of(object_of(content.get("content")).get("application/json")).get("schema"))


def _is_short(text: object) -> bool:
    return isinstance(text, str) and 1 <= len(text) <= MAX_NAME and text.isascii() and text.isprintable()


def object_of(value: object) -> Object:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}
