"""What stricter verifiers than OpenSSL refuse in a certificate: browsers, and the verifier of Python's cryptography package.

The rules are those of RFC 5280 and of the CA/Browser Forum's baseline requirements that such programs enforce. The certificate
is linted, and those that were sent as its issuers; an authority that was not sent is not.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

import msgspec

from jobs.fields import doc
from jobs.ssl_info import algorithms, der
from jobs.ssl_info.certificate import (
    BASIC_CONSTRAINTS,
    CERT_SIGN,
    EXTENDED_KEY_USAGE,
    KEY_USAGE,
    NAME_CONSTRAINTS,
    SAN,
    SERVER_AUTH,
    Certificate,
    Extension,
)
from jobs.ssl_info.der import Element, Malformed, elements, expected, only

Code = Literal[
    "old_version",
    "malformed_extensions",
    "serial_not_positive",
    "serial_too_long",
    "no_issuer_name",
    "date_format",
    "weak_key",
    "unusual_key",
    "weak_signature",
    "unusual_signature",
    "wrong_criticality",
    "unknown_critical_extension",
    "missing_alternative_names",
    "bad_alternative_name",
    "common_name_not_listed",
    "authority_as_server",
    "wrong_key_usage",
    "missing_extended_key_usage",
    "wrong_extended_key_usage",
    "missing_authority_key_id",
    "name_constraints_on_server",
    "validity_too_long",
    "not_an_authority",
    "missing_key_usage",
    "missing_subject_key_id",
    "unsupported_name_constraints",
    "other",
]

_MESSAGES: dict[Code, str] = {
    "old_version": "It is not of version 3, which extensions need.",
    "malformed_extensions": "Its extensions cannot be read, or one of them is there twice.",
    "serial_not_positive": "Its serial number is negative or zero. It must be positive.",
    "serial_too_long": "Its serial number has more than 20 bytes.",
    "no_issuer_name": "The name of its issuer is empty.",
    "date_format": "Dates until 2049 must be a UTCTime, and later ones a GeneralizedTime.",
    "weak_key": "Its key is too short, or of DSA. RSA needs 2048 bits, and a curve 224.",
    "unusual_key": "Browsers accept keys of RSA and of the curves P-256, P-384 and P-521 only.",
    "weak_signature": "It is signed with SHA-1 or MD5, which can be forged.",
    "unusual_signature": "It is signed with an algorithm that public authorities may not use.",
    "wrong_criticality": "An extension is marked as critical that must not be, or the other way round.",
    "unknown_critical_extension": "It has a critical extension that verifiers do not know, so they must refuse it.",
    "missing_alternative_names": "It has no subject alternative names. The common name does not count.",
    "bad_alternative_name": (
        "An alternative name is no full host name (such as one with an underscore, one without a dot, or a wildcard that is "
        "not the whole first label) and no IP address."
    ),
    "common_name_not_listed": "Its common name is not among the subject alternative names.",
    "authority_as_server": "It is the certificate of an authority. A server must not use one itself.",
    "wrong_key_usage": "Its key usage does not allow what it is used for.",
    "missing_extended_key_usage": "It has no extended key usage. Public authorities must name that of TLS servers.",
    "wrong_extended_key_usage": 'Its extended key usage does not name TLS servers. "Any" is not enough for a server\'s.',
    "missing_authority_key_id": "It has no authority key identifier, which says by which key it is signed.",
    "name_constraints_on_server": "It has name constraints, which only an authority may have.",
    "validity_too_long": "It is valid for longer than a public authority may issue one.",
    "not_an_authority": "It issued another certificate of the chain, and its basic constraints do not allow that.",
    "missing_key_usage": "It is an authority without key usage.",
    "missing_subject_key_id": "It is an authority without a subject key identifier.",
    "unsupported_name_constraints": "Its name constraints are of a kind or form that some verifiers do not read.",
    "other": "The verifier of Python's cryptography package refuses the chain for another reason.",
}

_SUBJECT_KEY_ID, _AUTHORITY_KEY_ID, _AUTHORITY_INFO = "2.5.29.14", "2.5.29.35", "1.3.6.1.5.5.7.1.1"
_POLICIES, _CRL_POINTS = "2.5.29.32", "2.5.29.31"
_NEVER_CRITICAL = (_SUBJECT_KEY_ID, _AUTHORITY_KEY_ID, _AUTHORITY_INFO, EXTENDED_KEY_USAGE)
_KNOWN = frozenset(
    {
        *(_SUBJECT_KEY_ID, _AUTHORITY_KEY_ID, _AUTHORITY_INFO, _POLICIES, _CRL_POINTS),
        *(SAN, KEY_USAGE, BASIC_CONSTRAINTS),
        *(NAME_CONSTRAINTS, EXTENDED_KEY_USAGE),
    }
)
_EMPTY_KEY_ID = (b"", b"\x30\x00")
_EMAIL, _DNS, _IP = 0x81, 0x82, 0x87
_BASES = (_EMAIL, _DNS, _IP)
_LABEL = rb"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST_NAME = re.compile(
    rb"(?:\*\.(?=.*\.))?" + _LABEL + rb"(?:\." + _LABEL + rb")*\.(?![0-9]+\Z)" + _LABEL + rb"\Z", re.I
)
_MOST_DAYS = (
    (datetime(2029, 3, 15, tzinfo=UTC), 47),
    (datetime(2027, 3, 15, tzinfo=UTC), 100),
    (datetime(2026, 3, 15, tzinfo=UTC), 200),
    (datetime(2020, 9, 1, tzinfo=UTC), 398),
    (datetime(2018, 3, 1, tzinfo=UTC), 825),
    (datetime.min.replace(tzinfo=UTC), 1188),
)
"""From when on a public authority's certificate may be valid for how many days (baseline requirements, 6.3.2)."""


class Lint(msgspec.Struct, frozen=True, rename="camel"):
    """Something that a stricter verifier refuses."""

    code: Annotated[Code, doc("What is wrong.")]
    message: Annotated[str, doc("What is wrong, in a sentence.")]
    certificate: Annotated[int, doc("Which certificate of `chain` it is about, from 0.")]


def lint(leaf: Certificate, issuers: Sequence[tuple[int, Certificate]]) -> list[Lint]:
    """Everything that is found, of the certificate first.

    Args:
        issuers: those that were sent as issuers of the one before, with their places in the chain.
    """
    found = [_lint(code, 0) for code in _codes(leaf, _of_server)]
    if limit := _exceeded_days(leaf):
        message = f"It is valid for more than the {limit} days that a public authority may issue it for."
        found.append(Lint("validity_too_long", message, 0))
    for place, issuer in issuers:
        found += [_lint(code, place) for code in _codes(issuer, _of_issuer)]
    return found


def other_lint() -> Lint:
    """The entry for a chain that is refused although nothing was found."""
    return _lint("other", 0)


def _lint(code: Code, place: int) -> Lint:
    return Lint(code, _MESSAGES[code], place)


def _codes(certificate: Certificate, of_role: Callable[[Certificate], Iterator[Code]]) -> Iterable[Code]:
    codes = list(_of_fields(certificate))
    if certificate.has_sound_extensions:
        codes += [*_of_extensions(certificate), *of_role(certificate)]
    else:
        codes.append("malformed_extensions")
    return dict.fromkeys(codes)


def _of_fields(certificate: Certificate) -> Iterator[Code]:
    if certificate.version != 3:
        yield "old_version"
    if int.from_bytes(certificate.serial_content, signed=True) <= 0:
        yield "serial_not_positive"
    elif len(certificate.serial_content) > 20:
        yield "serial_too_long"
    if not certificate.issuer_der:
        yield "no_issuer_name"
    if not certificate.has_canonical_dates:
        yield "date_format"
    if certificate.key.is_weak or certificate.key.kind == "DSA":
        yield "weak_key"
    elif certificate.key.kind != "RSA" and certificate.key.curve not in algorithms.PUBLIC_CURVES:
        yield "unusual_key"
    if not certificate.names_itself:  # nobody relies on the signature of a root
        if certificate.has_weak_signature:
            yield "weak_signature"
        elif certificate.signature_algorithm not in algorithms.PUBLIC_SIGNATURES:
            yield "unusual_signature"


def _of_extensions(certificate: Certificate) -> Iterator[Code]:
    if any(name in certificate.extensions and certificate.extensions[name].is_critical for name in _NEVER_CRITICAL):
        yield "wrong_criticality"
    if any(extension.is_critical and name not in _KNOWN for name, extension in certificate.extensions.items()):
        yield "unknown_critical_extension"
    identifier = certificate.extensions.get(_AUTHORITY_KEY_ID)
    if not certificate.names_itself and (identifier is None or identifier.value in _EMPTY_KEY_ID):
        yield "missing_authority_key_id"


def _of_server(certificate: Certificate) -> Iterator[Code]:
    if SAN not in certificate.extensions:
        yield "missing_alternative_names"
    else:
        names = elements(only(certificate.extensions[SAN].value, der.SEQUENCE))
        if not all(map(_is_public, names)):
            yield "bad_alternative_name"
        if certificate.subject.common_name is not None and not _is_listed(certificate):
            yield "common_name_not_listed"
        if certificate.extensions[SAN].is_critical is bool(certificate.subject_der):
            yield "wrong_criticality"
    if certificate.is_authority:
        yield "authority_as_server"
    elif not certificate.has_server_usage:
        yield "wrong_key_usage"
    if certificate.purposes is None:
        yield "missing_extended_key_usage"
    elif SERVER_AUTH not in certificate.purposes:
        yield "wrong_extended_key_usage"
    if NAME_CONSTRAINTS in certificate.extensions:
        yield "name_constraints_on_server"


def _of_issuer(certificate: Certificate) -> Iterator[Code]:
    if not certificate.is_authority:
        yield "not_an_authority"
    elif not certificate.extensions[BASIC_CONSTRAINTS].is_critical:
        yield "wrong_criticality"
    if certificate.key_usage is None:
        yield "missing_key_usage"
    elif not certificate.key_usage & CERT_SIGN:
        yield "wrong_key_usage"
    if not certificate.may_issue_servers:
        yield "wrong_extended_key_usage"
    if _SUBJECT_KEY_ID not in certificate.extensions:
        yield "missing_subject_key_id"
    if NAME_CONSTRAINTS in certificate.extensions and not _are_readable(certificate.extensions[NAME_CONSTRAINTS]):
        yield "unsupported_name_constraints"


def _exceeded_days(certificate: Certificate) -> int | None:
    if certificate.not_before is None or certificate.not_after is None:
        return None
    limit = next(days for since, days in _MOST_DAYS if certificate.not_before >= since)
    # The last second counts (RFC 5280, 4.1.2.5).
    return limit if certificate.not_after - certificate.not_before >= timedelta(days=limit) else None


def _is_public(name: Element) -> bool:
    if name.tag == _IP:
        return len(name.content) in (4, 16)
    return name.tag == _DNS and len(name.content) <= 253 and _HOST_NAME.match(name.content) is not None


def _are_readable(constraints: Extension) -> bool:
    """Whether the verifier of cryptography reads name constraints: it knows names, addresses and mailboxes."""
    try:
        for part in elements(only(constraints.value, der.SEQUENCE)):
            for subtree in elements(part.content):
                base = elements(expected(subtree, der.SEQUENCE))[0]
                if base.tag == _DNS and base.content.startswith(b"."):
                    return False
                if base.tag not in _BASES and constraints.is_critical:
                    return False
    except (Malformed, IndexError):
        return False
    return True


def _is_listed(certificate: Certificate) -> bool:
    common = (certificate.subject.common_name or "").lower()
    listed = {name.lower() for name in certificate.dns_names}
    return common.encode() in listed or common in certificate.alternative_names
