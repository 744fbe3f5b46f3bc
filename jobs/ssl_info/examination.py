"""The calculation behind ssl-info: examines the certificate chain that a server sent.

The server decides how much work this is: tens of thousands of names, long chains, keys of 16,384 bits.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from jobs.fields import doc
from jobs.ssl_info.certificate import Certificate, read_certificate
from jobs.ssl_info.der import Malformed
from jobs.ssl_info.hostname import is_for
from jobs.ssl_info.lint import Lint, lint, other_lint
from jobs.ssl_info.names import Name
from jobs.ssl_info.trust import Distrust, is_self_signed, is_strictly_refused, public_authorities, trust_in
from shared.outcome import UpstreamFailed

NAME = "certificate_chain"

MAX_NAMES = 200
"""How many alternative names are shown."""
MAX_CHAIN = 20
"""How many certificates of a chain are shown."""
MAX_USED = 50
"""How many certificates of a chain may be used to build a path to an authority."""


class Question(msgspec.Struct, frozen=True, array_like=True):
    """A chain to examine.

    Args:
        host: as jobs.hosts reads it.
        chain: DER, as it was sent.
        authorities: PEM of additional trusted authorities, beside the public ones.
        now_s: Unix seconds.
    """

    host: str
    chain: list[bytes]
    authorities: bytes
    now_s: int


ValidTo = Annotated[str | None, doc("The last moment of its validity, ISO 8601 in UTC. Null when it cannot be read.")]
Fingerprint = Annotated[
    str, msgspec.Meta(min_length=64, max_length=64), doc("SHA-256 of the certificate, in lower-case hex.")
]


class Link(msgspec.Struct, frozen=True, rename="camel"):
    """A certificate of the chain. Its fields are null when the certificate cannot be read."""

    subject: Annotated[Name | None, doc("Who it was issued to.")]
    issuer: Annotated[Name | None, doc("Who issued it.")]
    valid_to: ValidTo
    fingerprint_sha256: Fingerprint


class Findings(msgspec.Struct, frozen=True):
    """The result. The fields are those of jobs.ssl_info.endpoint.Response."""

    hostname_match: bool
    distrust: Distrust | None
    expired: bool
    not_yet_valid: bool
    self_signed: bool
    days_until_expiry: int | None
    subject: Name
    issuer: Name
    valid_from: str | None
    valid_to: str | None
    subject_alt_names: Sequence[str]
    subject_alt_name_count: int
    fingerprint_sha256: str
    serial_number: str
    signature_algorithm: str
    key_type: str
    key_bits: int | None
    chain: Sequence[Link]
    lint: Sequence[Lint]


def calculate(argument: bytes) -> bytes:
    """Examine a Question and return its Findings, both as MessagePack. Raises UpstreamFailed."""
    question = msgspec.msgpack.decode(argument, type=Question)
    try:
        return msgspec.msgpack.encode(examine(question))
    except Malformed:
        detail = "The certificate of the server cannot be read."
        raise UpstreamFailed(detail, reason="bad_content", is_final=True) from None


def examples() -> Iterator[bytes]:
    """A chain that can be examined on any machine: a public authority's own certificate."""
    from OpenSSL import crypto

    der = crypto.dump_certificate(crypto.FILETYPE_ASN1, public_authorities()[0])
    yield msgspec.msgpack.encode(Question(host="shop.example", chain=[der], authorities=b"", now_s=0))


def examine(question: Question) -> Findings:
    """Examine a chain. Raises Malformed when the first certificate cannot be read."""
    now = datetime.fromtimestamp(question.now_s, UTC)
    chain = question.chain[:MAX_USED]
    leaf = read_certificate(chain[0], most_names=MAX_NAMES)
    self_signed = leaf.names_itself and is_self_signed(chain[0])
    is_match = is_for(question.host, leaf.dns_names)
    expired = leaf.not_after is not None and now > leaf.not_after
    not_yet_valid = leaf.not_before is not None and now < leaf.not_before
    distrust, path = trust_in(chain, question.authorities, now)
    distrust = _reason(distrust, leaf, self_signed)
    lints = lint(leaf, list(_issuers(leaf, chain)))
    # Called whatever was found, so that the example of `examples` loads the library.
    is_refused = is_strictly_refused(path, question.host, now)
    if is_refused and distrust is None and is_match and not (expired or not_yet_valid or lints):
        lints.append(other_lint())
    return Findings(
        hostname_match=is_match,
        distrust=distrust,
        expired=expired,
        not_yet_valid=not_yet_valid,
        self_signed=self_signed,
        days_until_expiry=(leaf.not_after - now).days if leaf.not_after else None,
        subject=leaf.subject,
        issuer=leaf.issuer,
        valid_from=_iso(leaf.not_before),
        valid_to=_iso(leaf.not_after),
        subject_alt_names=leaf.alternative_names,
        subject_alt_name_count=leaf.alternative_count,
        fingerprint_sha256=leaf.fingerprint,
        serial_number=leaf.serial,
        signature_algorithm=leaf.signature_algorithm,
        key_type=leaf.key.kind,
        key_bits=leaf.key.bits,
        chain=[_link(der) for der in question.chain[:MAX_CHAIN]],
        lint=lints,
    )


def _issuers(certificate: Certificate, chain: Sequence[bytes]) -> Iterator[tuple[int, Certificate]]:
    """The certificates that were sent as issuers, by their names, each with its place in the chain.

    A root is not one of them: verifiers have their own copies of the roots that they trust.
    """
    others: dict[bytes, tuple[int, Certificate]] = {}
    for place, sent in enumerate(chain[1:], 1):
        with contextlib.suppress(Malformed):
            other = read_certificate(sent, most_names=0)
            if not other.names_itself:
                others.setdefault(other.subject_der, (place, other))
    while certificate.issuer_der in others:
        yield (found := others.pop(certificate.issuer_der))
        certificate = found[1]


def _reason(found: Distrust | None, leaf: Certificate, self_signed: bool) -> Distrust | None:
    """Correct OpenSSL's reason: it calls every certificate self-signed that names itself as issuer, signed with its key or
    not."""
    if found == "self_signed" and not self_signed:
        return "bad_signature"
    if found == "incomplete_chain" and self_signed:
        return "self_signed"
    if found is None and not leaf.is_well_formed:
        return "malformed"
    return found


def _link(der: bytes) -> Link:
    try:
        certificate = read_certificate(der, most_names=0)
    except Malformed:
        return Link(None, None, None, hashlib.sha256(der).hexdigest())
    return Link(certificate.subject, certificate.issuer, _iso(certificate.not_after), certificate.fingerprint)


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat().replace("+00:00", "Z")
