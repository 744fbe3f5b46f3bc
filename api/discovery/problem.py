"""The schema of every answer that is neither 200 nor 402: what `api.errors.Problem.body` writes, on RFC 9457."""

from typing import Any

from api.errors import ERROR_KINDS

MEDIA_TYPE = "application/problem+json"
COMPONENT = "ProblemDetails"

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Why there is no answer, whether it was charged, and what to do next.",
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "The address of a page that explains the code, as JSON too.",
        },
        "title": {"type": "string", "description": "The kind of problem in a few words."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599, "description": "The HTTP status."},
        "detail": {"type": "string", "description": "A sentence about this occurrence."},
        "instance": {"type": "string", "format": "uri-reference", "description": "Identifies this occurrence."},
        "ok": {"const": False},
        "error": {"type": "string", "description": "The code again, under the name that a 402 uses too."},
        "code": {"type": "string", "description": "A stable code, e.g. invalid_body, rate_limited, upstream_failed."},
        "reason": {"type": ["string", "null"], "description": "What failed, in one of the documented words."},
        "field": {"type": ["string", "null"], "description": "The faulty request field, dotted when nested."},
        "details": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": True},
            "description": "The faults one by one, when known.",
        },
        "requestId": {"type": "string", "description": "Name it when you report the problem."},
        "retryable": {"type": "boolean", "description": "Whether the same request can succeed later."},
        "retryAfterSeconds": {"type": ["integer", "null"], "minimum": 0, "description": "How long to wait first."},
        # openapi-python-client 0.29 drops the component for an `enum` of two types, and parses no boolean beside a `const`.
        "charged": {
            "oneOf": [{"type": "boolean"}, {"type": "string", "enum": ["unknown"]}],
            "description": "Whether the payment was settled. After unknown, send the same one again, never a new one.",
        },
        "retryWithSamePayment": {
            "type": "boolean",
            "description": "Whether to repeat the request with the same payment header, free.",
        },
    },
    "required": [
        "type",
        "title",
        "status",
        "detail",
        "instance",
        "ok",
        "error",
        "code",
        "requestId",
        "retryable",
        "charged",
        "retryWithSamePayment",
    ],
}


COMPONENTS = {
    400: "BadRequestProblem",
    404: "NotFoundProblem",
    409: "ConflictProblem",
    413: "ContentTooLargeProblem",
    415: "UnsupportedMediaTypeProblem",
    429: "TooManyRequestsProblem",
    500: "InternalErrorProblem",
    502: "UpstreamProblem",
    503: "UnavailableProblem",
    504: "DeadlineExceededProblem",
}
"""The component of each status. They have names, because a generator makes a class of every schema without one, in every
operation anew."""


def components() -> dict[str, Any]:
    """The schemas of problems by name: of all, and of each status with the codes that it can have."""
    narrowed = {name: _narrowed(_known(status)) for status, name in COMPONENTS.items()}
    # Written out, because generators cannot narrow a string or null to a string.
    narrowed[COMPONENTS[502]] = PROBLEM_SCHEMA | {
        "properties": PROBLEM_SCHEMA["properties"]
        | _known(502)
        | {"reason": {"type": "string", "description": PROBLEM_SCHEMA["properties"]["reason"]["description"]}}
    }
    return {COMPONENT: PROBLEM_SCHEMA} | narrowed


def upstream(reasons: tuple[str, ...]) -> dict[str, Any]:
    """The schema of the 502 of an endpoint that documents these reasons."""
    return _narrowed({"reason": {"type": "string", "enum": list(reasons)}}, COMPONENTS[502])


def _known(status: int) -> dict[str, Any]:
    codes = [code for code, kind in ERROR_KINDS.items() if kind.status == status]
    # An `enum` of one, because generators cannot narrow an integer to a `const`.
    return {"status": {"type": "integer", "enum": [status]}, "code": {"type": "string", "enum": codes}}


def _narrowed(known: dict[str, Any], of: str = COMPONENT) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"#/components/schemas/{of}"}, {"type": "object", "properties": known}]}
