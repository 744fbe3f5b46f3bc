"""pii-redact: replaces e-mail addresses, phones, SSNs, cards, IPv4 addresses, IBANs, keys and passwords in a text.

There is no model, so the same text always gives the same answer. The rules for less obvious cases:

- A card needs an issuer's range and a correct check digit. An SSN needs parts that were issued; nine digits alone also need a
  word that calls them an SSN. Phones have the widest rules: see phones.py. Digits that could also be a card are a phone when
  a plus sign or a word says so and the number is valid with its calling code.
- A full git hash, an MD5 sum or an Ethereum address is a hex secret, because nothing distinguishes it from a key.
- Keys with the prefixes of some 100 issuers, JWTs, private-key blocks, and the values after names like `password` and `api_key`
  are the kind `secret`: keys.py and assignments.py have the form of each.
- A port, a prefix length, and a version with four parts stay, when a word like "version", the name of a program, an operator or
  a list of packages identifies them. The first digits of a private network count against a version.
- Overlapping findings are merged, with the kind of the longest. A finding of a kind that was not requested never becomes a
  phone.
- Placeholders in a text are not changed, so redacting a redacted text changes nothing. A caller's own placeholders must be in
  square brackets for that.
- A caller's own patterns are RE2 expressions, compiled here with a small memory limit, so that a bad one is refused before the
  payment.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from jobs.fields import doc
from jobs.pii_redact.spans import KINDS, PiiKind
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price

if TYPE_CHECKING:
    from jobs.pii_redact.own import OwnPattern

MAX_CHARACTERS = 100_000
"""Unicode code points. The body may need twelve bytes for one of them: an escaped surrogate pair."""
_NAME_SIGNS = frozenset(string.ascii_lowercase + string.digits + "_")
MOST_OWN = 10
MAX_PATTERN = 200
MAX_NAME = 32
MAX_PLACEHOLDER = 64

NEVER_SEARCHED = (
    *(
        "person_name",
        "username",
        "postal_address",
        "date_of_birth",
        "age",
        "national_id",
        "passport",
        "driving_licence",
    ),
    *("tax_number", "health_record", "bank_account", "crypto_address", "ipv6", "mac_address", "coordinates", "vehicle"),
)
"""What people often mean by personal data, and no kind of this endpoint finds. `bank_account` is one that is no IBAN."""


class CustomPattern(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A pattern of the caller."""

    name: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MAX_NAME,
            description="What it finds: lower-case letters, digits and underscores, and none of the built-in kinds.",
        ),
    ]
    pattern: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MAX_PATTERN,
            description="RE2 expression. With a group, only what the group matches is replaced. It is matched against the text "
            "after digits, dashes and spaces of all scripts were made ASCII, and characters of no width removed.",
        ),
    ]
    placeholder: (
        Annotated[
            str,
            msgspec.Meta(
                min_length=1,
                max_length=MAX_PLACEHOLDER,
                description="What replaces it; the name in capitals and square brackets when absent. One in square brackets is "
                "left as it is when the text is redacted again.",
            ),
        ]
        | None
    ) = None


class Request(msgspec.Struct, frozen=True, rename="camel"):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_CHARACTERS, description="Text to clean.")]
    patterns: (
        Annotated[
            list[PiiKind],
            msgspec.Meta(min_length=1, max_length=len(KINDS), description="What to redact; everything when absent."),
        ]
        | None
    ) = None
    custom_patterns: Annotated[
        list[CustomPattern],
        msgspec.Meta(max_length=MOST_OWN, description="Your own patterns, searched beside `patterns`."),
    ] = []

    def __post_init__(self) -> None:
        names: set[str] = set()
        for index, custom in enumerate(self.custom_patterns):
            if not _NAME_SIGNS.issuperset(custom.name) or custom.name in KINDS or custom.name in names:
                raise InvalidField(
                    "A name has lower-case letters, digits and underscores, is none of the built-in kinds, and occurs once.",
                    field=f"customPatterns[{index}].name",
                )
            names.add(custom.name)
        self.own()

    def own(self) -> list[OwnPattern]:
        """The caller's patterns, compiled. The engine is loaded only for them."""
        if not self.custom_patterns:
            return []
        from jobs.engines.text.linear import of_caller
        from jobs.pii_redact.own import OwnPattern

        compiled = []
        for index, custom in enumerate(self.custom_patterns):
            try:
                expression, group = of_caller(custom.pattern)
            except ValueError as error:
                raise InvalidField(
                    f"This pattern cannot be used. {error}",
                    field=f"customPatterns[{index}].pattern",
                    code="regex_syntax",
                ) from None
            placeholder = custom.placeholder or f"[{custom.name.upper()}]"
            compiled.append(OwnPattern(custom.name, expression, group, placeholder))
        return compiled


class Finding(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a redacted value, without the value."""

    kind: Annotated[str, doc("What was redacted: one of `patterns`, or the name of one of `customPatterns`.")]
    start: Annotated[int, doc("0-based offset of its first character in `text`, in Unicode code points.")]
    end: Annotated[int, doc("Offset of the first character after it.")]


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """The redacted text and the evidence."""

    ok: Annotated[bool, doc("Whether the text was redacted. When false, `error` says why.")]
    redacted: Annotated[
        str | None, doc("The text, with a placeholder such as `[EMAIL]` for each finding. Null when `ok` is false.")
    ]
    counts: Annotated[
        dict[str, int] | None,
        doc("The number of findings of each kind and own pattern that was searched for. Null when `ok` is false."),
    ]
    total_redactions: Annotated[int | None, doc("The number of all findings. Null when `ok` is false.")]
    findings: Annotated[
        list[Finding] | None, doc("Where the redacted values were, in the order of the text. Null when `ok` is false.")
    ]
    input_bytes: Annotated[int, doc("Size of `text` in bytes of UTF-8.")]
    output_bytes: Annotated[int | None, doc("Size of `redacted` in bytes of UTF-8. Null when `ok` is false.")]
    redacted_bytes: Annotated[int | None, doc("How many bytes of `text` were replaced. Null when `ok` is false.")]
    patterns_applied: Annotated[
        list[str], doc("The kinds that were searched for, in the requested order, then the names of `customPatterns`.")
    ]
    not_searched: Annotated[
        list[str],
        doc(
            "What the text may contain, because it was not searched for: kinds that `patterns` does not have, then personal "
            "data for which there is no kind, such as `person_name` and `postal_address`."
        ),
    ]
    error: Annotated[Literal["too_complex"] | None, doc("`too_complex` when the search took too long. Else null.")]


def run(request: Request, context: Context) -> Response:
    """Find and replace the values."""
    from jobs.pii_redact.redaction import redact

    kinds = list(dict.fromkeys(request.patterns or KINDS))
    applied = [*kinds, *(custom.name for custom in request.custom_patterns)]
    redaction = redact(request.text, kinds, request.own())
    findings = [Finding(kind=span.kind, start=span.start, end=span.end) for span in redaction.spans]
    return Response(
        ok=True,
        redacted=redaction.text,
        counts={name: sum(finding.kind == name for finding in findings) for name in applied},
        total_redactions=len(findings),
        findings=findings,
        input_bytes=len(request.text.encode()),
        output_bytes=len(redaction.text.encode()),
        redacted_bytes=sum(len(request.text[item.start : item.end].encode()) for item in findings),
        patterns_applied=applied,
        not_searched=[*(kind for kind in KINDS if kind not in kinds), *NEVER_SEARCHED],
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
        not_searched=[*KINDS, *NEVER_SEARCHED],
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
        "Replaces e-mail addresses, phone numbers, SSNs, payment cards, IPv4 addresses, hex secrets, IBANs, API keys and "
        "passwords in a text with placeholders, by deterministic patterns and check digits and your own RE2 patterns, with "
        "offsets and byte counts as evidence, and says what it does not search for."
    ),
    # No own patterns: the declaration would load their engine.
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
            "notSearched": ["ssn", "hex_secret", "secret", "iban", *NEVER_SEARCHED],
            "error": None,
        },
    ),
    run=run,
    max_body_bytes=1_500_000,
    exhausted=exhausted,
    child_limit_s=8,
)
