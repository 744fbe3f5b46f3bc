"""Whether a chain leads to a trusted authority, by OpenSSL's path building and some additional checks.

OpenSSL is used instead of cryptography's verifier for two reasons: its errors say what is wrong, and its rules are those of the
programs that agents use. The other verifier refuses, for example, private authorities' certificates without an authority key
id. lint.py says what it refuses.

The dates of the certificate itself do not affect its trust: an expired one may lead to an authority, and is then trusted but
not valid. The dates of its issuers do.
"""

import functools
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from jobs.ssl_info.certificate import Certificate, read_certificate
from jobs.ssl_info.der import Malformed

Distrust = Literal[
    "self_signed",
    "untrusted_root",
    "incomplete_chain",
    "issuer_expired",
    "issuer_not_yet_valid",
    "bad_signature",
    "invalid_issuer",
    "name_constraint_violated",
    "wrong_purpose",
    "weak_key",
    "weak_signature",
    "unknown_critical_extension",
    "malformed",
    "other",
]
"""Why a chain is not trusted.

`self_signed`: the certificate is its own issuer. `untrusted_root`: the chain ends in an authority that is not trusted.
`incomplete_chain`: the issuer of the last certificate was not sent and is not a trusted authority, so an intermediate is
missing or the authority is unknown. `invalid_issuer`: an issuer is not an authority, or may not issue at this depth.
`wrong_purpose`: not for TLS servers, or an authority's own. `weak_key`: less than 112 bits of security, RSA below 2048, DSA.
`weak_signature`: MD5 or SHA-1.
"""

_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which pyOpenSSL lacks
_NOT_YET_VALID, _EXPIRED = 9, 10
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")

# X509_V_ERR_..., by OpenSSL's x509_vfy.h.
_DISTRUST: dict[int, Distrust] = {
    2: "incomplete_chain",  # UNABLE_TO_GET_ISSUER_CERT
    4: "bad_signature",  # UNABLE_TO_DECRYPT_CERT_SIGNATURE
    6: "bad_signature",  # UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY
    7: "bad_signature",  # CERT_SIGNATURE_FAILURE
    9: "issuer_not_yet_valid",
    10: "issuer_expired",
    13: "malformed",  # ERROR_IN_CERT_NOT_BEFORE_FIELD
    14: "malformed",  # ERROR_IN_CERT_NOT_AFTER_FIELD
    18: "self_signed",  # DEPTH_ZERO_SELF_SIGNED_CERT
    19: "untrusted_root",  # SELF_SIGNED_CERT_IN_CHAIN
    20: "incomplete_chain",  # UNABLE_TO_GET_ISSUER_CERT_LOCALLY
    21: "incomplete_chain",  # UNABLE_TO_VERIFY_LEAF_SIGNATURE
    22: "invalid_issuer",  # CERT_CHAIN_TOO_LONG
    24: "invalid_issuer",  # INVALID_CA
    25: "invalid_issuer",  # PATH_LENGTH_EXCEEDED
    26: "wrong_purpose",  # INVALID_PURPOSE
    34: "unknown_critical_extension",  # UNHANDLED_CRITICAL_EXTENSION
    32: "invalid_issuer",  # KEYUSAGE_NO_CERTSIGN
    37: "invalid_issuer",  # INVALID_NON_CA
    47: "name_constraint_violated",  # PERMITTED_VIOLATION
    48: "name_constraint_violated",  # EXCLUDED_VIOLATION
    49: "name_constraint_violated",  # SUBTREE_MINMAX
    51: "name_constraint_violated",  # UNSUPPORTED_CONSTRAINT_TYPE
    52: "name_constraint_violated",  # UNSUPPORTED_CONSTRAINT_SYNTAX
    53: "name_constraint_violated",  # UNSUPPORTED_NAME_SYNTAX
    79: "invalid_issuer",  # INVALID_CA, since OpenSSL 3
}


class Trust(NamedTuple):
    """What is found of a chain.

    Attributes:
        distrust: why it is not trusted, or None when it is.
        path: DER of the path to an authority that was found, the certificate first. Empty when there is none.
    """

    distrust: Distrust | None
    path: Sequence[bytes] = ()


def trust_in(chain: Sequence[bytes], authorities: bytes, now: datetime) -> Trust:
    """Judge a chain.

    Args:
        chain: DER, the certificate first, the others in any order.
        authorities: PEM of additional trusted authorities, beside the public ones.
    """
    from OpenSSL import crypto

    try:
        leaf, *others = (crypto.load_certificate(crypto.FILETYPE_ASN1, der) for der in chain)
    except crypto.Error:
        return Trust("malformed")
    roots = [*public_authorities(), *_authorities(authorities)]
    path, error = _path(roots, leaf, others, now)
    if not path:
        return Trust(_DISTRUST.get(error, "other"))
    try:
        certificates = [read_certificate(der, most_names=0) for der in path]
    except Malformed:
        return Trust("malformed")
    return Trust(_flaw(certificates, now), path)


def is_strictly_refused(path: Sequence[bytes], host: str, now: datetime) -> bool:
    """Whether cryptography's verifier refuses a path, as `trust_in` finds it, for a host."""
    import warnings

    from cryptography import x509
    from cryptography.hazmat.backends import default_backend
    from cryptography.x509 import verification

    default_backend()  # loads modules that a verification would load, which a child cannot
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about serial numbers that are not positive
            leaf, *issuers = map(x509.load_der_x509_certificate, path)
            policy = verification.PolicyBuilder().store(verification.Store([(issuers or [leaf])[-1]])).time(now)
            policy.build_server_verifier(x509.DNSName(host)).verify(leaf, issuers)
    except Exception:  # a certificate that cannot be read is refused
        return True
    return False


def is_self_signed(der: bytes) -> bool:
    """Whether a certificate whose issuer is its subject is signed with its own key."""
    from OpenSSL import crypto

    try:
        certificate = crypto.load_certificate(crypto.FILETYPE_ASN1, der)
        store = _store([certificate], crypto.X509StoreFlags.CHECK_SS_SIGNATURE | _NO_CHECK_TIME)
        crypto.X509StoreContext(store, certificate).verify_certificate()
    except crypto.X509StoreContextError as error:
        # If the certificate names another key as its issuer's, OpenSSL does not check the signature.
        return _DISTRUST.get(error.errors[0]) == "incomplete_chain" and _is_signed_with_its_key(der)
    except crypto.Error:
        return False
    return True


@functools.cache
def public_authorities() -> Sequence[Any]:
    """The public certificate authorities. A process reads them once."""
    import certifi

    with open(certifi.where(), "rb") as file:
        return _read(file.read())


@functools.lru_cache(maxsize=2)
def _authorities(pem: bytes) -> Sequence[Any]:
    return _read(pem)


def _read(pem: bytes) -> Sequence[Any]:
    from OpenSSL import crypto

    return [crypto.load_certificate(crypto.FILETYPE_PEM, block) for block in _PEM.findall(pem)]


def _path(
    roots: Sequence[Any], leaf: Any, others: Sequence[Any], now: datetime, flags: int = 0
) -> tuple[list[bytes], int]:
    """The path from the certificate to an authority, or an empty path and OpenSSL's error."""
    from OpenSSL import crypto

    # An operator may trust an intermediate authority, without its root.
    store = _store(roots, flags | crypto.X509StoreFlags.PARTIAL_CHAIN)
    store.set_time(now)
    try:
        found = crypto.X509StoreContext(store, leaf, others).get_verified_chain()
    except crypto.X509StoreContextError as error:
        code = error.errors[0]
        # The certificate's own dates are checked last, so everything else is right.
        if not flags and error.errors[1] == 0 and code in (_NOT_YET_VALID, _EXPIRED):
            return _path(roots, leaf, others, now, _NO_CHECK_TIME)
        return [], code
    return [crypto.dump_certificate(crypto.FILETYPE_ASN1, certificate) for certificate in found], 0


def _store(trusted: Sequence[Any], flags: int) -> Any:
    from OpenSSL import crypto

    store = crypto.X509Store()
    for certificate in trusted:
        store.add_cert(certificate)
    if flags:
        store.set_flags(flags)
    return store


def _is_signed_with_its_key(der: bytes) -> bool:
    import warnings

    from cryptography import x509

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about serial numbers that are not positive
            certificate = x509.load_der_x509_certificate(der)
            certificate.verify_directly_issued_by(certificate)
    except Exception:  # a certificate that cannot be read or verified counts as not signed with its own key
        return False
    return True


def _flaw(path: Sequence[Certificate], now: datetime) -> Distrust | None:
    """What OpenSSL does not check without a purpose and a security level, or when it ignores the time."""
    leaf, *issuers = path
    for certificate in path:
        if not certificate.is_well_formed:
            return "malformed"
        if certificate.key.is_weak or certificate.key.kind == "DSA":  # TLS 1.3 and browsers have no DSA
            return "weak_key"
    if any(certificate.has_weak_signature for certificate in path[:-1]):  # an authority's own does not matter
        return "weak_signature"
    for issuer in issuers:
        assert issuer.not_before is not None
        assert issuer.not_after is not None
        if now < issuer.not_before:
            return "issuer_not_yet_valid"
        if now > issuer.not_after:
            return "issuer_expired"
    if _is_excluded(leaf.dns_names, [name for issuer in issuers for name in issuer.excluded_names]):
        return "name_constraint_violated"
    if not leaf.may_serve or not all(issuer.may_issue_servers for issuer in issuers):
        return "wrong_purpose"
    return None


def _is_excluded(names: Sequence[bytes], excluded: Sequence[bytes]) -> bool:
    """Whether a wildcard stands for a name in an excluded subtree. OpenSSL compares its text, and not what it stands for."""
    bases = {base.removeprefix(b".") for base in excluded}
    parents = bases | {base.partition(b".")[2] for base in bases}
    for name in names:
        parent = name[2:].lower() if name.startswith(b"*.") else b""
        labels = parent.split(b".")
        if parent and (parent in parents or any(b".".join(labels[i:]) in bases for i in range(min(len(labels), 127)))):
            return True
    return False
