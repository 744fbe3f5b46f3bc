"""pii-redact: replaces e-mail addresses, phones, SSNs, cards, IPv4 addresses, keys and account numbers in a text.

There is no model, so the same text always gives the same answer. The rules for less obvious cases:

- A card needs an issuer's range and a correct check digit. An SSN needs parts that were issued; nine digits alone also need a
  word that calls them an SSN. Phones have the widest rules: see phones.py. Digits that could also be a card are a phone when
  a plus sign or a word says so and the number is valid with its calling code.
- A full git hash, an MD5 sum or an Ethereum address is a hex secret, because nothing distinguishes it from a key.
- IBANs, keys of AWS, Stripe, GitHub, Google and Slack, JWTs and private-key blocks are the kind `secret`: secrets.py has the
  form of each.
- A port, a prefix length, and a version with four parts stay, when a word like "version", an operator or a list of packages
  identifies them. The first digits of a private network count against a version.
- Overlapping findings are merged, with the kind of the longest. A finding of a kind that was not requested never becomes a
  phone.
- Placeholders in a text are not changed, so redacting a redacted text changes nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from jobs.fields import doc
from jobs.pii_redact.spans import KINDS, PiiKind
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price

MAX_CHARACTERS = 100_000
"""Unicode code points. The body may need twelve bytes for one of them: an escaped surrogate pair."""


class Request(msgspec.Struct, frozen=True, rename="camel"):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_CHARACTERS, description="Text to clean.")]
    patterns: (
        Annotated[
            list[PiiKind],
            msgspec.Meta(min_length=1, max_length=len(KINDS), description="What to redact; everything when absent."),
        ]
        | None
    ) = None


class Finding(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a redacted value, without the value."""

    kind: Annotated[PiiKind, doc("What was redacted.")]
    start: Annotated[int, doc("0-based offset of its first character in `text`, in Unicode code points.")]
    end: Annotated[int, doc("Offset of the first character after it.")]


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """The redacted text and the evidence."""

    ok: Annotated[bool, doc("Whether the text was redacted. When false, `error` says why.")]
    redacted: Annotated[
        str | None, doc("The text, with a placeholder such as `[EMAIL]` for each finding. Null when `ok` is false.")
    ]
    counts: Annotated[
        dict[PiiKind, int] | None,
        doc("The number of findings of each kind that was searched for. Null when `ok` is false."),
    ]
    total_redactions: Annotated[int | None, doc("The number of all findings. Null when `ok` is false.")]
    findings: Annotated[
        list[Finding] | None, doc("Where the redacted values were, in the order of the text. Null when `ok` is false.")
    ]
    input_bytes: Annotated[int, doc("Size of `text` in bytes of UTF-8.")]
    output_bytes: Annotated[int | None, doc("Size of `redacted` in bytes of UTF-8. Null when `ok` is false.")]
    redacted_bytes: Annotated[int | None, doc("How many bytes of `text` were replaced. Null when `ok` is false.")]
    patterns_applied: Annotated[list[PiiKind], doc("The kinds that were searched for, in the requested order.")]
    error: Annotated[Literal["too_complex"] | None, doc("`too_complex` when the search took too long. Else null.")]


def run(request: Request, context: Context) -> Response:
    """Find and replace the values."""
    from jobs.pii_redact.redaction import redact

    kinds = list(dict.fromkeys(request.patterns or KINDS))
    redaction = redact(request.text, kinds)
    findings = [Finding(kind=span.kind, start=span.start, end=span.end) for span in redaction.spans]
    return Response(
        ok=True,
        redacted=redaction.text,
        counts={kind: sum(finding.kind == kind for finding in findings) for kind in kinds},
        total_redactions=len(findings),
        findings=findings,
        input_bytes=len(request.text.encode()),
        output_bytes=len(redaction.text.encode()),
        redacted_bytes=sum(len(request.text[item.start : item.end].encode()) for item in findings),
        patterns_applied=kinds,
        error=None,
    )


def exhausted(request: Request) -> Response:
    """The answer when the time ran out. It has no text, because a caller might believe that the text is clean. The search is
    linear, so this happens only on an overloaded machine."""
    return Response(
        ok=False,
        redacted=None,
        counts=None,
        total_redactions=None,
        findings=None,
        input_bytes=len(request.text.encode()),
        output_bytes=None,
        redacted_bytes=None,
        patterns_applied=[],
        error="too_complex",
    )


ENDPOINT = Endpoint(
    name="pii-redact",
    price=Price.of("0.008"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    deadline_s=15,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Replaces e-mail addresses, phone numbers, SSNs, payment cards, IPv4 addresses, hex secrets, IBANs and API keys in a "
        "text with placeholders, by deterministic patterns and check digits, with offsets and byte counts as evidence."
    ),
    example=Example(
        request={
            "text": "Ada <ada@example.com>, +44 20 7946 0958, paid with 4111 1111 1111 1111 from 203.0.113.7:443.",
            "patterns": ["email", "phone", "credit_card", "ipv4"],
        },
        response={
            "ok": True,
            "redacted": "Ada <[EMAIL]>, [PHONE], paid with [CREDIT_CARD] from [IPV4]:443.",
            "counts": {"email": 1, "phone": 1, "credit_card": 1, "ipv4": 1},
            "totalRedactions": 4,
            "findings": [
                {"kind": "email", "start": 5, "end": 20},
                {"kind": "phone", "start": 23, "end": 39},
                {"kind": "credit_card", "start": 51, "end": 70},
                {"kind": "ipv4", "start": 76, "end": 87},
            ],
            "inputBytes": 92,
            "outputBytes": 64,
            "redactedBytes": 61,
            "patternsApplied": ["email", "phone", "credit_card", "ipv4"],
            "error": None,
        },
    ),
    run=run,
    max_body_bytes=1_500_000,
    exhausted=exhausted,
    child_limit_s=8,
)
