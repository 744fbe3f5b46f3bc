"""ssl-info: shows the certificate of a server, and whether it can be trusted.

- One handshake accepts everything, down to TLS 1.0 and ciphers that nobody should use. A bad certificate is an answer. Only
  a failed handshake is not.
- `valid` combines `trusted`, `hostnameMatch` and the certificate's own dates, which are independent: an expired certificate
  of a trusted authority is `trusted` and `expired`. Revocation is not checked, and missing intermediates are not fetched.
- The host must be a public name, and the port one where TLS is spoken (jobs/hosts.py). Both are checked before the payment.
- A child process reads the chain, because the server decides how much work this is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from jobs.hosts import NotPublic, public_host, tls_port
from jobs.ports import Context
from jobs.ssl_info import examination
from jobs.ssl_info.examination import Findings, Link, Question
from jobs.ssl_info.names import Name
from jobs.ssl_info.trust import Distrust
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool, at_least_one_of
from shared.money import Price

HANDSHAKE_LIMIT_S = 5.0
"""Limit for DNS, TCP and TLS together."""
READING_LIMIT_S = 2.0

VerifyError = Distrust | Literal["expired", "not_yet_valid", "hostname_mismatch"]

Host = Annotated[str, msgspec.Meta(min_length=1, max_length=1012)]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A server. One of `hostname` and `host` is required. If both are given, they must name the same host."""

    EXTRA_JSON_SCHEMA: ClassVar = at_least_one_of("hostname", "host")

    hostname: Annotated[Host | None, msgspec.Meta(description="Public name of the server. No IP address.")] = None
    host: Annotated[Host | None, msgspec.Meta(description="Another name of `hostname`.")] = None
    port: Annotated[
        int, msgspec.Meta(ge=1, le=65535, description="A port where TLS starts with the first byte: 443, 8443, 993 ...")
    ] = 443

    def __post_init__(self) -> None:
        self.name()
        try:
            tls_port(self.port)
        except NotPublic as refused:
            raise InvalidField(refused.detail, field="port", code=refused.code) from None

    def name(self) -> str:
        """The host, in lower-case A-labels. Raises InvalidField."""
        given = {field: text for field in ("hostname", "host") if (text := getattr(self, field)) is not None}
        if not given:
            raise InvalidField("A host name is required.", field="hostname")
        names = set()
        for field, text in given.items():
            try:
                names.add(public_host(text))
            except NotPublic as refused:
                raise InvalidField(refused.detail, field=field, code=refused.code) from None
        if len(names) > 1:
            raise InvalidField("`hostname` and `host` must name the same host.", field="host")
        return names.pop()


class Cipher(msgspec.Struct, frozen=True, rename="camel"):
    """The cipher by OpenSSL's name, and the size of its key in bits."""

    name: str
    bits: int


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The server's certificate. `hostname`: in A-labels. `valid`: `trusted` and `hostnameMatch`, and neither `expired` nor
    `notYetValid`. `selfSigned`: it is its own issuer, and signed with its own key. `hostnameMatch`: one of its alternative
    names is the host; the common name does not count. `trusted`: the chain that the server sent leads to a trusted authority,
    whatever the certificate's own dates. `daysUntilExpiry`: whole days, negative after expiry; null, like the dates, when the
    date cannot be read. `verifyError`: the first reason why it is not valid, in the order trust, dates, name.
    `subjectAltNames`: the first 200 of `subjectAltNameCount`. `serialNumber`: hex. `keyBits`: null when not known. `chain`: as
    sent, the server's own certificate first; at most 20 of `chainLength`. `ipAddress`: the address of the connection.
    """

    ok: bool
    hostname: str
    port: int
    valid: bool
    expired: bool
    not_yet_valid: bool
    self_signed: bool
    hostname_match: bool
    trusted: bool
    days_until_expiry: int | None
    verify_error: VerifyError | None
    subject: Name
    issuer: Name
    valid_from: str | None
    valid_to: str | None
    subject_alt_names: Sequence[str]
    subject_alt_name_count: int
    fingerprint_sha256: Annotated[str, msgspec.Meta(min_length=64, max_length=64)]
    serial_number: str
    signature_algorithm: str
    key_type: str
    key_bits: int | None
    protocol: str
    cipher: Cipher
    chain: Sequence[Link]
    chain_length: int
    ip_address: str
    elapsed_ms: int


def run(request: Request, context: Context) -> Response:
    """Make a handshake, and let a child process examine the chain."""
    begin = time.monotonic()
    host = request.name()
    ports = context.ports
    shown = ports.tls.handshake(host, request.port, deadline=begin + HANDSHAKE_LIMIT_S)
    question = Question(
        host=host,
        chain=list(shown.chain),
        authorities=ports.tls.authorities(),
        now_s=int(ports.clock.now().timestamp()),
    )
    answer = ports.calculations.run(
        examination.NAME,
        msgspec.msgpack.encode(question),
        limit_s=READING_LIMIT_S,
        deadline=begin + ENDPOINT.deadline_s,
    )
    found = msgspec.msgpack.decode(answer, type=Findings)
    error = verify_error(found)
    return Response(
        ok=True,
        hostname=host,
        port=request.port,
        valid=error is None,
        trusted=found.distrust is None,
        verify_error=error,
        protocol=shown.protocol,
        cipher=Cipher(shown.cipher, shown.cipher_bits),
        chain_length=len(shown.chain),
        ip_address=shown.address,
        elapsed_ms=round((time.monotonic() - begin) * 1000),
        **{name: getattr(found, name) for name in Findings.__struct_fields__ if name != "distrust"},
    )


def verify_error(found: Findings) -> VerifyError | None:
    """The first reason why a certificate is not valid."""
    if found.distrust is not None:
        return found.distrust
    if found.expired:
        return "expired"
    if found.not_yet_valid:
        return "not_yet_valid"
    return None if found.hostname_match else "hostname_mismatch"


_SUBJECT = {
    "commonName": "valid.example.com",
    "organization": "Coinslot Sandbox",
    "organizationalUnit": None,
    "locality": None,
    "stateOrProvince": None,
    "country": None,
    "distinguishedName": "CN=valid.example.com,O=Coinslot Sandbox",
}
_ISSUER = _SUBJECT | {
    "commonName": "Coinslot Sandbox Intermediate",
    "distinguishedName": "CN=Coinslot Sandbox Intermediate,O=Coinslot Sandbox",
}
_ROOT = _SUBJECT | {
    "commonName": "Coinslot Sandbox Root",
    "distinguishedName": "CN=Coinslot Sandbox Root,O=Coinslot Sandbox",
}
_FINGERPRINT = "1d644f25e8ff08cd307d8ec10f71c1df1a29cd80c4d6f5be8ee74899668af7ab"

_REASONS = ("timeout", "connection_refused", "dns_failure", "tls_failure", "bad_content")

ENDPOINT = Endpoint(
    name="ssl-info",
    price=Price.of("0.002"),
    category=Category.SECURITY,
    pool=Pool.NET,
    deadline_s=10,
    flavour=Flavour.OLDER,
    request=Request,
    response=Response,
    summary=(
        "Inspects the TLS certificate that a host shows, good or bad: subject, issuer, validity, names, chain, key, "
        "fingerprint, negotiated protocol and cipher, and whether it is trusted, expired, self-signed and for this host."
    ),
    example=Example(
        request={"hostname": "valid.example.com", "port": 9443},
        response={
            "ok": True,
            "hostname": "valid.example.com",
            "port": 9443,
            "valid": True,
            "expired": False,
            "notYetValid": False,
            "selfSigned": False,
            "hostnameMatch": True,
            "trusted": True,
            "daysUntilExpiry": 90,
            "verifyError": None,
            "subject": _SUBJECT,
            "issuer": _ISSUER,
            "validFrom": "2026-11-20T07:04:59Z",
            "validTo": "2027-02-19T08:04:59Z",
            "subjectAltNames": ["valid.example.com"],
            "subjectAltNameCount": 1,
            "fingerprintSha256": _FINGERPRINT,
            "serialNumber": "f01a8de6f562a53071b11f0964bf1e5294e336a",
            "signatureAlgorithm": "ecdsa-with-SHA256",
            "keyType": "EC",
            "keyBits": 256,
            "protocol": "TLSv1.3",
            "cipher": {"name": "TLS_AES_256_GCM_SHA384", "bits": 256},
            "chain": [
                {
                    "subject": _SUBJECT,
                    "issuer": _ISSUER,
                    "validTo": "2027-02-19T08:04:59Z",
                    "fingerprintSha256": _FINGERPRINT,
                },
                {
                    "subject": _ISSUER,
                    "issuer": _ROOT,
                    "validTo": "2027-05-20T07:04:59Z",
                    "fingerprintSha256": "e55d75905ab565ce899ab81a84d0e3a12a6667c60657004ae959aeb4ce8cd9d4",
                },
            ],
            "chainLength": 2,
            "ipAddress": "127.77.1.2",
            "elapsedMs": 4,
        },
    ),
    run=run,
    failures=_REASONS,
    target_failures=_REASONS,
)
