"""/openapi.json: OpenAPI 3.1.0 of the paid calls, with prices.

Sources: the specification (Resources, Versioning) and the profile that x402scan and AgentCash read (@agentcash/discovery 1.7.5,
docs/SPECIFICATION.md). That profile explains two absences. No security scheme: x402 has none in OpenAPI, and an apiKey
one would be read as "needs an account's key"; the empty `security` says that nothing but payment is asked for. No
header parameters: an operation that has any is no longer read as taking simply its body.
"""

from collections.abc import Sequence
from typing import Any

from api.discovery import pricing, problem
from api.discovery.listing import CATEGORIES, MIME_TYPE, SERVICE_NAME, Listing, published
from api.discovery.responses import components, responses
from jobs import schemas
from shared.endpoint import Endpoint

OPENAPI_VERSION = "3.1.0"
DOCUMENT_VERSION = "1.0.0"

_DESCRIPTION = (
    "Single-purpose API calls for agents, sold one at a time over x402: POST, get a price, pay, get the answer. "
    "No account, no API key, no subscription. Words of an enumeration are case-sensitive, unless their field says otherwise."
)

# Agents read this instead of documentation; above 4000 characters, readers of the profile cut it off.
_GUIDANCE = """\
Every operation is a POST with a JSON body, answered with JSON. Nothing but payment is asked for. Words of an \
enumeration are case-sensitive, unless their field says otherwise.

How to call:
1. Send the request. An unpaid call is answered 402 and costs nothing, whatever its body. The challenge is in the body \
and, in base64, in the PAYMENT-REQUIRED header.
2. Choose one entry of `accepts` that you can pay, and pay exactly its `amount` to its `payTo`. The live challenge is \
the authority: prices in this document describe one of its entries.
3. Repeat the identical request with the payment in the PAYMENT-SIGNATURE header (X-PAYMENT is accepted too).
4. On 200, the PAYMENT-RESPONSE header holds the receipt.

When it fails:
- Errors are application/problem+json. `charged` says whether you paid, `retryWithSamePayment` whether to repeat the \
request with the same payment header, which never charges twice.
- 400, 409, 413, 415 and 429 come before settlement, so the payment can still be used. A 400 is charged only \
when the fault shows while the call runs.
- 502, 504, or a lost connection: repeat the request with the same payment to collect the answer or run it again, free. \
A 502 whose `retryable` is false is the answer: the other system said no.
- 503 with `charged` "unknown": repeat with the same payment. Never sign a new one.
- An answer that says no is an answer: a domain that does not resolve or a signature that does not verify is a 200.

An MCP client finds the same calls as tools at /mcp of this server, for the same payments.

A call can be named: put `id` (16 to 128 of A-Z a-z 0-9 _ -) into `info` of the `payment-identifier` extension that \
you echo. The same request under that name is charged once, however often it is paid for.

The payer's wallet is the caller's identity: there is no account and no key."""

_UPSTREAM = "UpstreamProblem"


def document(listings: Sequence[Listing], base_url: str, contact: str = "") -> dict[str, Any]:
    """The document of the listed calls.

    Args:
        base_url: public address of the API, without a trailing slash.
        contact: COINSLOT_CONTACT. Empty: people are sent to `base_url`.
    """
    shown = published(listings)
    categories = {listing.endpoint.category for listing in shown}
    shared = components()
    for listing in shown:
        endpoint = listing.endpoint
        shared["schemas"][_component(endpoint, "Request")] = schemas.of(endpoint.request)
        shared["schemas"][_component(endpoint, "Response")] = schemas.of(endpoint.response)
        if endpoint.failures:
            shared["schemas"][_component(endpoint, _UPSTREAM)] = problem.upstream(endpoint.failures)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": SERVICE_NAME,
            "version": DOCUMENT_VERSION,
            "description": _DESCRIPTION,
            "contact": _contact(contact or base_url),
            "license": {"name": "MIT", "identifier": "MIT"},
            "x-guidance": _GUIDANCE,
        },
        "servers": [{"url": base_url}],
        "security": [],
        "tags": [{"name": tag.value, "description": text} for tag, text in CATEGORIES.items() if tag in categories],
        "paths": {listing.endpoint.path: {"post": _operation(listing)} for listing in shown},
        "components": shared,
    }


def _operation(listing: Listing) -> dict[str, Any]:
    endpoint = listing.endpoint
    return {
        "operationId": endpoint.operation_id,
        "tags": [endpoint.category.value],
        "summary": endpoint.summary,
        "description": endpoint.summary,  # for those who read only this
        "x-coinslot-pricing": pricing.descriptor(listing),
        "x-payment-info": pricing.payment_info(listing),
        "requestBody": {
            "required": not endpoint.body_optional,
            "content": {
                MIME_TYPE: {"schema": _reference(endpoint, "Request"), "example": endpoint.example.request},
            },
        },
        "responses": responses(endpoint, _reference(endpoint, "Response"), _reference(endpoint, _UPSTREAM)),
    }


def _contact(address: str) -> dict[str, str]:
    mail = address.removeprefix("mailto:")
    return {"name": SERVICE_NAME} | ({"url": address} if mail == address else {"email": mail})


def _component(endpoint: Endpoint, side: str) -> str:
    """A component's name, e.g. `ChainErc20BalanceRequest`. `published` ensures that operation ids are distinct."""
    return endpoint.operation_id[0].upper() + endpoint.operation_id[1:] + side


def _reference(endpoint: Endpoint, side: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{_component(endpoint, side)}"}
