"""ssl-info: shows the certificate of a server, and whether it can be trusted.

- One handshake accepts everything, down to TLS 1.0 and ciphers that nobody should use. A bad certificate is an answer. Only
  a failed handshake is not.
- `valid` combines `trusted`, `hostnameMatch` and the certificate's own dates, which are independent: an expired certificate
  of a trusted authority is `trusted` and `expired`. Revocation is not checked, and missing intermediates are not fetched.
- `lint` names what stricter verifiers than OpenSSL refuse. It does not change `valid`.
- The host must be a public name, and the port one where TLS is spoken (jobs/hosts.py). Both are checked before the payment.
- A child process reads the chain, because the server decides how much work this is.
"""

import time
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from jobs.fields import Ok, doc
from jobs.hosts import checked, public_host, tls_port
from jobs.ports import Context
from jobs.site import Site, SiteRequest
from jobs.ssl_info import examination
from jobs.ssl_info.examination import Findings, Fingerprint, Link, Question, ValidTo
from jobs.ssl_info.lint import Lint
from jobs.ssl_info.names import Name
from jobs.ssl_info.trust import Distrust
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool, at_least_one_of
from shared.money import Price

HANDSHAKE_LIMIT_S = 5.0
"""Limit for DNS, TCP and TLS together."""
READING_LIMIT_S = 2.0

VerifyError = Distrust | Literal["expired", "not_yet_valid", "hostname_mismatch"]

Host = Annotated[str, msgspec.Meta(min_length=1, max_length=1012)]


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    """A server. `hostname` or `host` is required. If both are given, they must name the same host."""

    EXTRA_JSON_SCHEMA: ClassVar = at_least_one_of("hostname", "host")

    hostname: Annotated[Host | None, doc("Public name of the server. No IP address.")] = None
    host: Annotated[Host | None, doc("Another name of `hostname`.")] = None
    port: Annotated[
        int, msgspec.Meta(ge=1, le=65535, description="A port where TLS starts with the first byte: 443, 8443, 993 ...")
    ] = 443

    def check(self, site: Site) -> None:
        self.name(site)
        checked(tls_port, self.port, site, field="port")

    def name(self, site: Site) -> str:
        """The host, in lower-case A-labels. Raises InvalidField."""
        given = {field: text for field in ("hostname", "host") if (text := getattr(self, field)) is not None}
        if not given:
            raise InvalidField("A host name is required.", field="hostname")
        names = {checked(public_host, text, site, field=field) for field, text in given.items()}
        if len(names) > 1:
            raise InvalidField("`hostname` and `host` must name the same host.", field="host")
        return names.pop()


class Cipher(msgspec.Struct, frozen=True, rename="camel"):
    """The cipher suite of the connection."""

    name: Annotated[str, doc("The cipher suite's name in OpenSSL.")]
    bits: Annotated[int, doc("Size of its key, in bits.")]


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The server's certificate."""

    ok: Ok
    hostname: Annotated[str, doc("The host that was examined, as A-labels in lower case.")]
    port: Annotated[int, doc("The port that was examined.")]
    valid: Annotated[
        bool,
        doc("Whether it is `trusted`, neither expired nor too early, and for this host. Revocation is not checked."),
    ]
    expired: Annotated[bool, doc("Whether the time of `validTo` has passed.")]
    not_yet_valid: Annotated[bool, doc("Whether the time of `validFrom` has not come yet.")]
    self_signed: Annotated[bool, doc("Whether it is its own issuer and is signed with its own key.")]
    hostname_match: Annotated[
        bool, doc("Whether one of its alternative names is the host. The common name does not count.")
    ]
    trusted: Annotated[
        bool, doc("Whether the chain leads to a trusted authority, whatever the certificate's own dates are.")
    ]
    days_until_expiry: Annotated[
        int | None, doc("Whole days until `validTo`; negative after it. Null when the date cannot be read.")
    ]
    verify_error: Annotated[
        VerifyError | None,
        doc("The first reason why it is not valid: of trust, then dates, then name. Null when it is valid."),
    ]
    subject: Annotated[Name, doc("Who the certificate was issued to.")]
    issuer: Annotated[Name, doc("Who issued the certificate.")]
    valid_from: Annotated[
        str | None, doc("The first moment of its validity, ISO 8601 in UTC. Null when it cannot be read.")
    ]
    valid_to: ValidTo
    subject_alt_names: Annotated[Sequence[str], doc("The names and addresses that it is for. At most 200 are listed.")]
    subject_alt_name_count: Annotated[int, doc("The number of all alternative names.")]
    fingerprint_sha256: Fingerprint
    serial_number: Annotated[str, doc("The serial number, in hex.")]
    signature_algorithm: Annotated[str, doc("The algorithm of its signature, as OpenSSL names it.")]
    key_type: Annotated[str, doc("The type of its public key, such as `RSA` or `EC`.")]
    key_bits: Annotated[int | None, doc("Size of its public key, in bits. Null when it is not known.")]
    protocol: Annotated[str, doc("The TLS version of the connection, such as `TLSv1.3`.")]
    cipher: Cipher
    chain: Annotated[
        Sequence[Link], doc("The certificates as the server sent them, its own first. At most 20 are listed.")
    ]
    chain_length: Annotated[int, doc("The number of certificates that the server sent.")]
    lint: Annotated[
        Sequence[Lint],
        doc(
            "What stricter verifiers, such as browsers, refuse in the certificate and in those of its issuers. Beside `valid`."
        ),
    ]
    ip_address: Annotated[str, doc("The IP address of the connection.")]
    elapsed_ms: Annotated[int, doc("How long the call took, in milliseconds.")]


def run(request: Request, context: Context) -> Response:
    """Make a handshake, and let a child process examine the chain."""
    begin = time.monotonic()
    host = request.name(context.site)
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
        "fingerprint, negotiated protocol and cipher, whether it is trusted, expired, self-signed and for this host, "
        "and what stricter verifiers refuse in it."
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
            "lint": [],
            "ipAddress": "127.77.1.2",
            "elapsedMs": 4,
        },
    ),
    run=run,
    failures=_REASONS,
    target_failures=_REASONS,
)
