"""What an operation can answer, as the OpenAPI document says it: responses, and what they share."""

from typing import Any

from api.discovery import problem
from api.discovery.listing import MIME_TYPE
from api.discovery.problem import MEDIA_TYPE
from jobs import schemas
from shared.endpoint import Endpoint, Flavour
from shared.x402.wire import X402_VERSION, Challenge, Settlement

_CHALLENGE = "PaymentRequired"
_RECEIPT = "SettlementResponse"

_RETRY_WITH = {
    Flavour.NEWER: "PAYMENT-SIGNATURE",
    Flavour.OLDER: "X-PAYMENT or PAYMENT-SIGNATURE",
    Flavour.WATCH: "PAYMENT-SIGNATURE",
}


def responses(endpoint: Endpoint, answer: dict[str, Any], upstream: dict[str, Any]) -> dict[str, Any]:
    """The `responses` of an operation.

    Args:
        answer: the schema of the 200 body, or a reference to it.
        upstream: the same of the 502 body, which an endpoint without documented failures does not have.
    """
    found = {
        "200": {
            "description": "The answer, paid for.",
            "headers": _receipt_headers() | _headers(*_RATE),
            "content": {MIME_TYPE: {"schema": answer, "example": endpoint.example.response}},
        },
        "400": _shared("BadRequest"),
        "402": _payment_required(endpoint.flavour),
        "404": _shared("NotFound"),
        "409": _shared("Conflict"),
        "413": _shared("ContentTooLarge"),
        "415": _shared("UnsupportedMediaType"),
        "429": _shared("TooManyRequests"),
    }
    if endpoint.failures:
        found["502"] = _problem(
            upstream,
            "Another system failed: repeat the request with the same payment to run it again, free. Or its final answer "
            "is no (`retryable` is false): that is the answer, and is stored.",
            _receipt_headers(),
        )
    return found | {"500": _shared("InternalError"), "503": _shared("Unavailable"), "504": _shared("DeadlineExceeded")}


def components() -> dict[str, Any]:
    """The `components` that responses refer to, without the endpoints' own schemas."""
    return {
        "schemas": {_CHALLENGE: _challenge_schema(), _RECEIPT: _receipt_schema(), **problem.components()},
        "headers": _HEADERS,
        "responses": {
            "BadRequest": _problem(
                400,
                "The body is invalid. Not charged when found before the settlement, charged when it shows while the call "
                "runs: `charged` says which.",
                _headers("PAYMENT-RESPONSE"),
            ),
            "NotFound": _problem(404, "This call is not sold here any more. Not charged.", {}),
            "Conflict": _problem(
                409, "The payment-identifier belongs to another request of this payer. Not charged.", {}
            ),
            "TooManyRequests": _problem(
                429,
                "This payer calls this endpoint too often. Not charged: repeat the request with the same payment.",
                _headers("Retry-After", *_RATE),
            ),
            "ContentTooLarge": _problem(413, "The body is too large. Not charged.", {}),
            "UnsupportedMediaType": _problem(
                415, "The body is not application/json, or is compressed. Not charged.", _headers("Accept-Encoding")
            ),
            "InternalError": _problem(
                500,
                "Something went wrong here. `charged` says whether it was paid; the same payment again is not charged twice.",
                _headers("PAYMENT-RESPONSE", "Retry-After"),
            ),
            "Unavailable": _problem(
                503,
                "Full, down or draining: not charged. Or the settlement's outcome is unknown: repeat the request with "
                "the same payment, never with a new one.",
                _headers("Retry-After"),
            ),
            "DeadlineExceeded": _problem(
                504,
                "Charged, and the answer took too long. Repeat the request with the same payment to collect it, free.",
                _headers("PAYMENT-RESPONSE"),
            ),
        },
    }


def _in_base64(component: str) -> dict[str, Any]:
    """The schema of a header that holds a component."""
    content = {"$ref": f"#/components/schemas/{component}"}
    return {"type": "string", "contentEncoding": "base64", "contentMediaType": MIME_TYPE, "contentSchema": content}


_RATE = ("RateLimit-Policy", "RateLimit")
_HEADERS: dict[str, Any] = {
    "PAYMENT-REQUIRED": {
        "description": "Base64 of the challenge, the same JSON as the body.",
        "schema": _in_base64(_CHALLENGE),
    },
    "WWW-Authenticate": {
        "description": "`X402` and the value of PAYMENT-REQUIRED.",
        "schema": {"type": "string", "pattern": "^X402 "},
    },
    "PAYMENT-RESPONSE": {
        "description": f"Base64 of the receipt, a {_RECEIPT} as JSON. Sent once a settlement was tried, failed or not.",
        "schema": _in_base64(_RECEIPT),
    },
    "X-PAYMENT-RESPONSE": {
        "description": "The same as PAYMENT-RESPONSE, on the older flavour and when the payment came in X-PAYMENT.",
        "schema": _in_base64(_RECEIPT),
    },
    "RateLimit-Policy": {
        "description": 'The payer\'s rate for this endpoint, `"payer";q=<calls at once>;w=<seconds>`. Not on repeated calls.',
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": 'What is left of it, `"payer";r=<calls>;t=<seconds until all are back>`.',
        "schema": {"type": "string"},
    },
    "Accept-Encoding": {"description": "`identity`, where the body was compressed.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}},
}


def _payment_required(flavour: Flavour) -> dict[str, Any]:
    challenge = ("PAYMENT-REQUIRED",) if flavour is Flavour.NEWER else ("PAYMENT-REQUIRED", "WWW-Authenticate")
    return {
        "description": "Payment required. Pay one of `accepts` exactly, then repeat the identical request with the "
        f"header {_RETRY_WITH[flavour]}.",
        "headers": _headers(*challenge) | _receipt_headers(),
        "content": {MIME_TYPE: {"schema": {"$ref": f"#/components/schemas/{_CHALLENGE}"}}},
    }


def _receipt_headers() -> dict[str, Any]:
    return _headers("PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE")


def _challenge_schema() -> dict[str, Any]:
    # The wire's Structs are decoded leniently and speak of Python names; what we send has these members always.
    schema = schemas.of(Challenge, described=False)
    properties = schema["properties"]
    return schema | {
        "properties": properties
        | {"x402Version": {"const": X402_VERSION}, "accepts": properties["accepts"] | {"minItems": 1}},
        "required": ["x402Version", *schema["required"]],
        "description": "The x402 challenge: its `accepts` is the authority for price, asset and recipient.",
    }


def _receipt_schema() -> dict[str, Any]:
    return schemas.of(Settlement, described=False) | {"description": "The x402 receipt of a settlement."}


def _problem(schema: int | dict[str, Any], description: str, headers: dict[str, Any]) -> dict[str, Any]:
    """A response. Its schema is given, or is the component of this status."""
    if isinstance(schema, int):
        schema = {"$ref": f"#/components/schemas/{problem.COMPONENTS[schema]}"}
    response: dict[str, Any] = {"description": description, "content": {MEDIA_TYPE: {"schema": schema}}}
    return response | {"headers": headers} if headers else response


def _shared(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/responses/{name}"}


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
