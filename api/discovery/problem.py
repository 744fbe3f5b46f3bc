"""The schema of every answer that is neither 200 nor 402: what `api.errors.Problem.body` writes, on RFC 9457."""

from __future__ import annotations

from typing import Any

from api.errors import ERROR_KINDS

MEDIA_TYPE = "application/problem+json"
COMPONENT = "ProblemDetails"

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Why there is no answer, whether it was charged, and what to do next.",
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "description": "Identifies the kind of problem."},
        "title": {"type": "string", "description": "The kind of problem in a few words."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599, "description": "The HTTP status."},
        "detail": {"type": "string", "description": "A sentence about this occurrence."},
        "instance": {"type": "string", "format": "uri-reference", "description": "Identifies this occurrence."},
        "ok": {"const": False},
        "error": {"type": "string", "description": "The code again, under the name that a 402 uses too."},
        "code": {"type": "string", "description": "A stable code, e.g. invalid_body, rate_limited, upstream_failed."},
        "reason": {"type": ["string", "null"], "description": "What failed, in one of the documented words."},
        "field": {"type": ["string", "null"], "description": "The faulty request field, dotted when nested."},
        "details": {"type": "array", "items": {"type": "object"}, "description": "The faults one by one, when known."},
        "requestId": {"type": "string", "description": "Name it when you report the problem."},
        "retryable": {"type": "boolean", "description": "Whether the same request can succeed later."},
        "retryAfterSeconds": {"type": ["integer", "null"], "minimum": 0, "description": "How long to wait first."},
        "charged": {
            "enum": [True, False, "unknown"],
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


def narrowed(status: int, reasons: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of the problems that answer with `status`: the component, and the codes and reasons it can have."""
    known: dict[str, Any] = {
        "status": {"const": status},
        "code": {"enum": [code for code, kind in ERROR_KINDS.items() if kind.status == status]},
    }
    if reasons:
        known["reason"] = {"enum": list(reasons)}
    return {"allOf": [{"$ref": f"#/components/schemas/{COMPONENT}"}, {"properties": known}]}
