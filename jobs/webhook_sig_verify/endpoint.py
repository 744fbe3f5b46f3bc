"""webhook-sig-verify: checks whether a webhook was signed with its secret, for six kinds of senders.

senders.py says how each sender signs, and what is read leniently or strictly. A signature that is not valid is an ordinary
answer. Neither the secret nor the correct signature is ever in an answer, an error or a log.

causes.py has the probable cause of each. The work is linear in the request and runs in place: 1.2 ms for the largest valid
request (measured), some 3 ms when the causes of a mismatch are tried, beside 4 ms to decode its longest JSON.
"""

import time
from datetime import UTC, datetime
from typing import Annotated, ClassVar

import msgspec

from jobs.fields import Ok, doc
from jobs.ports import Context
from jobs.webhook_sig_verify import PROVIDERS, TIMED, Algorithm, Delivery, Reason, Scheme, judge
from jobs.webhook_sig_verify.reading import MAX_SECONDS, seconds
from shared.endpoint import MOST_BYTES, Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price

MAX_PAYLOAD = 256 * 1024
"""Unicode code points, like all limits below."""
MAX_SIGNATURE = 8 * 1024
"""The usual limit of servers for one header line."""
MAX_SECRET = 4 * 1024
MAX_HEADERS = 100
MAX_HEADER_TEXT = 32 * 1024
"""Limit for all names and values together."""
MAX_TOLERANCE_S = 86_400

_LAST_ISO_S = 253_402_300_799
"""The last second of the year 9999."""
_BYTES_PER_CHARACTER = 12
"""The longest form of a character in JSON is an escaped surrogate pair."""

Digits = Annotated[
    str,
    msgspec.Meta(
        max_length=19,
        # The schema shows it, and the code below checks it: `$` would allow a final newline.
        extra_json_schema={"pattern": "^[0-9]{1,19}$"},
    ),
]
Seconds = Annotated[int, msgspec.Meta(ge=0, le=MAX_SECONDS)]


class Request(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A webhook as it arrived, and the secret to check it with."""

    EXTRA_JSON_SCHEMA: ClassVar = {
        "if": {"required": ["provider"], "properties": {"provider": {"const": "slack"}}},
        "then": {"required": ["timestamp"], "properties": {"timestamp": {"type": ["string", "integer"]}}},
    }

    provider: Annotated[
        str,
        msgspec.Meta(
            description="Who signed, or generic for any sender of HMAC-SHA256 over the body.",
            extra_json_schema={"enum": list(PROVIDERS)},
        ),
    ]
    payload: Annotated[
        str, msgspec.Meta(max_length=MAX_PAYLOAD, description="The raw body, exactly as received; UTF-8 is signed.")
    ]
    signature: Annotated[
        str,
        msgspec.Meta(
            max_length=MAX_SIGNATURE,
            description=(
                "The value of Stripe-Signature, X-Hub-Signature-256, x-vercel-signature, X-Slack-Signature or "
                "X-Hook0-Signature; for generic, hex or base64."
            ),
        ),
    ]
    secret: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MAX_SECRET,
            description="The signing secret, whole (Stripe's with whsec_); its UTF-8 bytes are the key. Never stored.",
        ),
    ]
    timestamp: (
        Annotated[
            Digits | Seconds,
            msgspec.Meta(description="For slack: X-Slack-Request-Timestamp, in Unix seconds, as a string or a number."),
        ]
        | None
    ) = None
    headers: (
        Annotated[
            dict[str, str],
            msgspec.Meta(
                max_length=MAX_HEADERS,
                description="For cdp: the request's headers. When they are given, v1 is checked, which covers some of them.",
                extra={MOST_BYTES: 8 * MAX_HEADER_TEXT},
            ),
        ]
        | None
    ) = None
    tolerance_seconds: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=MAX_TOLERANCE_S,
            description="How far the signed time may be from now, in the past or the future; 0 accepts any time.",
        ),
    ] = 300

    def __post_init__(self) -> None:
        if self.provider not in PROVIDERS:
            raise InvalidField(f"This is none of {', '.join(PROVIDERS)}.", field="provider")
        if isinstance(self.timestamp, str) and seconds(self.timestamp) is None:
            raise InvalidField(f"A timestamp is Unix seconds in digits, {MAX_SECONDS} at most.", field="timestamp")
        if self.provider == "slack" and self.timestamp is None:
            raise InvalidField(
                "For slack the timestamp is required: the value of X-Slack-Request-Timestamp.", field="timestamp"
            )
        if self.headers is not None:
            _check_headers(self.headers)

    def __repr__(self) -> str:
        """Show neither the signed text nor the secret."""
        return f"Request(provider={self.provider!r})"


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Ok
    valid: Annotated[bool, doc("Whether the signature is valid and its time within the tolerance.")]
    provider: Annotated[str, doc("The sender that the request named.")]
    algorithm: Annotated[Algorithm | None, doc("The algorithm of the signature. Null when nothing could be checked.")]
    scheme: Annotated[
        Scheme | None, doc("The variant of the sender's scheme, such as `v1`. Null when nothing could be checked.")
    ]
    weak: Annotated[
        bool | None,
        doc("True for a scheme that its sender has replaced, such as GitHub's sha1. Null when nothing was checked."),
    ]
    timestamp: Annotated[
        str | None,
        doc("The time of signing, ISO 8601 in UTC. Only a valid signature proves it. Null when none is signed."),
    ]
    age_seconds: Annotated[
        int | None,
        doc("Seconds from the time of signing to now; negative for the future. Null when no time is signed."),
    ]
    tolerance_seconds: Annotated[
        int | None, doc("The tolerance that was applied, in seconds. Null for senders that sign no time.")
    ]
    reason: Annotated[Reason | None, doc("Why the signature is not valid. Null when it is valid.")]
    hint: Annotated[
        str | None,
        doc(
            "The probable cause in one sentence. After a mismatch the usual causes were tried, such as a line break or a "
            "secret in another notation. Null when it is valid."
        ),
    ]


def run(request: Request, context: Context) -> Response:
    """Check the signature as of now."""
    return answer(request, now_s=int(time.time()))


def answer(request: Request, *, now_s: int) -> Response:
    """Check the signature as of `now_s`."""
    verdict = judge(request.provider, _delivery(request), tolerance_s=request.tolerance_seconds, now_s=now_s)
    claim = verdict.claim
    return Response(
        ok=True,
        valid=verdict.reason is None,
        provider=request.provider,
        algorithm=None if claim is None else claim.algorithm,
        scheme=None if claim is None else claim.scheme,
        weak=None if claim is None else claim.is_weak,
        timestamp=None if claim is None else _iso(claim.signed_at),
        age_seconds=verdict.age_s,
        tolerance_seconds=request.tolerance_seconds if request.provider in TIMED else None,
        reason=verdict.reason,
        hint=verdict.hint,
    )


def _delivery(request: Request) -> Delivery:
    headers = request.headers
    return Delivery(
        payload=request.payload.encode(),
        signature=request.signature,
        secret=request.secret.encode(),
        timestamp=None if request.timestamp is None else str(request.timestamp),
        headers=None if headers is None else {name.lower(): value for name, value in headers.items()},
    )


def _check_headers(headers: dict[str, str]) -> None:
    if len({name.lower() for name in headers}) < len(headers):
        raise InvalidField("Two names differ only in case, so they mean the same header.", field="headers")
    if sum(len(name) + len(value) for name, value in headers.items()) > MAX_HEADER_TEXT:
        raise InvalidField(
            f"All names and values together have more than {MAX_HEADER_TEXT} characters.", field="headers"
        )


def _iso(at_s: int | None) -> str | None:
    if at_s is None or at_s > _LAST_ISO_S:
        return None
    return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")


ENDPOINT = Endpoint(
    name="webhook-sig-verify",
    price=Price.of("0.005"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    deadline_s=5,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Checks a webhook's HMAC signature and its age as Stripe, GitHub, Vercel, Slack and Coinbase CDP sign, or plain "
        "HMAC-SHA256, and says why it is not valid. The secret is never stored."
    ),
    example=Example(
        # The values of GitHub's documentation.
        request={
            "provider": "github",
            "payload": "Hello, World!",
            "signature": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
            "secret": "It's a Secret to Everybody",
        },
        response={
            "ok": True,
            "valid": True,
            "provider": "github",
            "algorithm": "hmac_sha256",
            "scheme": "sha256",
            "weak": False,
            "timestamp": None,
            "ageSeconds": None,
            "toleranceSeconds": None,
            "reason": None,
            "hint": None,
        },
    ),
    run=run,
    holds_secret=True,
    max_body_bytes=_BYTES_PER_CHARACTER * (MAX_PAYLOAD + MAX_SIGNATURE + MAX_SECRET + MAX_HEADER_TEXT) + 4 * 1024,
)
