"""jwt-verify: checks whether a JSON Web Token is signed by a key and valid now. Nothing is fetched and nothing is stored.

The rules are in token.py (the form of a token), secret.py and public_key.py (keys), and claims.py.

A request that cannot be answered (no key, two keys, an invalid key) is refused before the payment. Every problem of the *token*
is an answer: `valid` is false and `errors` lists all the reasons. Header and payload are shown even when they cannot be
trusted, so that the caller can find a mistake.
"""

import time
from typing import Annotated, Any, ClassVar

import msgspec

from jobs.fields import Ok, doc
from jobs.jwt_verify.cautions import of_claims
from jobs.jwt_verify.claims import Claims, Rules, judge
from jobs.jwt_verify.key import Key
from jobs.jwt_verify.public_key import public_key
from jobs.jwt_verify.secret import Encoding, shared_secret
from jobs.jwt_verify.signature import check
from jobs.jwt_verify.token import Caution, Fault, read
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool, exactly_one_of
from shared.money import Price

MAX_CHARACTERS = 16 * 1024
"""Limit of the token and of the key, in code points."""
MAX_NAMES = 50
"""Limit of each: issuers, audiences and required claims."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Names = Annotated[list[Name], msgspec.Meta(min_length=1, max_length=MAX_NAMES)]


class Request(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A token and one key: either `publicKey` or `sharedSecret`."""

    EXTRA_JSON_SCHEMA: ClassVar = exactly_one_of("publicKey", "sharedSecret")

    token: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=MAX_CHARACTERS, description="The token: three parts joined by dots."),
    ]
    public_key: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=MAX_CHARACTERS,
                description="RSA public key or certificate in PEM, for RS256, RS384 and RS512.",
            ),
        ]
        | None
    ) = None
    shared_secret: (
        Annotated[
            str, msgspec.Meta(max_length=MAX_CHARACTERS, description="Shared secret, for HS256, HS384 and HS512.")
        ]
        | None
    ) = None
    secret_encoding: Annotated[Encoding, msgspec.Meta(description="The encoding of sharedSecret.")] = "utf8"  # noqa: S105  # not a secret
    issuer: Annotated[
        Name | Names | None, msgspec.Meta(description="The required iss, or several of which one is enough.")
    ] = None
    audience: Annotated[
        Name | Names | None, msgspec.Meta(description="The required aud, or several of which one is enough.")
    ] = None
    clock_tolerance_sec: Annotated[
        int, msgspec.Meta(ge=0, le=3600, description="Seconds that clocks may differ, for exp and nbf.")
    ] = 0
    required_claims: Annotated[
        Annotated[list[Name], msgspec.Meta(max_length=MAX_NAMES)] | None,
        msgspec.Meta(description="Claims that must be present and not null."),
    ] = None

    def __post_init__(self) -> None:
        self.key()

    def __repr__(self) -> str:
        return "Request(...)"  # it holds a secret

    def key(self) -> Key:
        """The key of the request. Raises InvalidField."""
        if self.public_key is not None and self.shared_secret is not None:
            raise InvalidField("Only one of publicKey and sharedSecret may be given.", field="sharedSecret")
        if self.public_key is not None:
            return public_key(self.public_key)
        if self.shared_secret is not None:
            return shared_secret(self.shared_secret, self.secret_encoding)
        raise InvalidField("One of publicKey and sharedSecret is needed.", field="publicKey")


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """The state of the token now."""

    ok: Ok
    valid: Annotated[bool, doc("Whether signature, header and claims are all right. True only when `errors` is empty.")]
    signature_valid: Annotated[
        bool, doc("Whether the key signed this token. False also when that could not be checked.")
    ]
    algorithm: Annotated[str | None, doc("The `alg` of the header. Null when it cannot be read.")]
    header: Annotated[dict[str, Any] | None, doc("The header as in the token. Null when it cannot be read.")]
    payload: Annotated[
        dict[str, Any] | None,
        doc("The claims as in the token, null when they cannot be read. Trust them only if `signatureValid`."),
    ]
    claims: Claims
    expired: Annotated[bool | None, doc("Whether `exp` has passed, with the tolerance. Null when it cannot be read.")]
    not_yet_valid: Annotated[
        bool | None, doc("Whether `nbf` is still to come, with the tolerance. Null when it cannot be read.")
    ]
    expires_at: Annotated[str | None, doc("`exp` as ISO 8601 in UTC. Null without such a date.")]
    not_before: Annotated[str | None, doc("`nbf` as ISO 8601 in UTC. Null without such a date.")]
    issued_at: Annotated[str | None, doc("`iat` as ISO 8601 in UTC. Null without such a date.")]
    errors: Annotated[list[Fault], doc("All reasons why the token is not valid.")]
    warnings: Annotated[list[Caution], doc("Weaknesses that do not make the token invalid.")]


def run(request: Request, context: Context) -> Response:
    """Verify the token as of now."""
    return verify(request, time.time())


def verify(request: Request, now_s: float) -> Response:
    """Verify the token as of any time, in Unix seconds."""
    token = read(request.token)
    verdict = check(token, request.key())
    rules = Rules(
        issuers=_names(request.issuer),
        audiences=_names(request.audience),
        required=request.required_claims or (),
        tolerance_s=request.clock_tolerance_sec,
    )
    judgement = judge(token.payload, rules, now_s)
    faults = [*token.faults, *verdict.faults, *judgement.faults]
    return Response(
        ok=True,
        valid=verdict.valid and not faults,
        signature_valid=verdict.valid,
        algorithm=verdict.algorithm,
        header=token.header,
        payload=token.payload,
        claims=judgement.claims,
        expired=judgement.expired,
        not_yet_valid=judgement.not_yet_valid,
        expires_at=judgement.expires_at,
        not_before=judgement.not_before,
        issued_at=judgement.issued_at,
        errors=faults,
        warnings=[*verdict.cautions, *of_claims(token.payload, rules, now_s)],
    )


def _names(asked: str | list[str] | None) -> list[str]:
    return [asked] if isinstance(asked, str) else asked or []


ENDPOINT = Endpoint(
    name="jwt-verify",
    price=Price.of("0.005"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    deadline_s=5,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Verifies a JSON Web Token: signature (HS256, HS384, HS512, RS256, RS384, RS512; alg none never passes), iss, aud, "
        "exp, nbf and required claims, with a clock tolerance. The key comes with the call and is never stored."
    ),
    example=Example(
        request={
            "token": (
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjIwMjYtMSJ9."
                "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJhdWQiOiJzaG9wIiwic3ViIjoiYWRhIiwiaWF0IjoxNzY3MjI1NjAwLCJleHAiOj"
                "QxMDI0NDQ4MDB9.AHCsi8PznBYypozu5OkVcSfPUb0e4qjQYk1MNpx8ye0"
            ),
            "sharedSecret": "correct-horse-battery-staple-2026",
            "issuer": "https://login.example",
            "audience": ["shop", "shop-admin"],
            "clockToleranceSec": 30,
        },
        response={
            "ok": True,
            "valid": True,
            "signatureValid": True,
            "algorithm": "HS256",
            "header": {"alg": "HS256", "typ": "JWT", "kid": "2026-1"},
            "payload": {
                "iss": "https://login.example",
                "aud": "shop",
                "sub": "ada",
                "iat": 1767225600,
                "exp": 4102444800,
            },
            "claims": {
                "iss": {"present": True, "value": "https://login.example", "ok": True},
                "aud": {"present": True, "value": "shop", "ok": True},
                "exp": {"present": True, "value": 4102444800, "ok": True},
                "nbf": {"present": False, "value": None, "ok": None},
            },
            "expired": False,
            "notYetValid": False,
            "expiresAt": "2100-01-01T00:00:00Z",
            "notBefore": None,
            "issuedAt": "2026-01-01T00:00:00Z",
            "errors": [],
            "warnings": [],
        },
    ),
    run=run,
    holds_secret=True,
    max_body_bytes=256 * 1024,  # a secret of 16 384 characters may need 12 bytes for each: an escaped surrogate pair
)
