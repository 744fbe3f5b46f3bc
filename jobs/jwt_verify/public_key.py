"""RSA public keys in PEM, for RS256, RS384 and RS512.

Accepted are SubjectPublicKeyInfo (`PUBLIC KEY`), PKCS #1 (`RSA PUBLIC KEY`) and X.509 (`CERTIFICATE`, of which only the key
counts, not its dates or its issuer). Line ends may be of any kind, missing, or written as the two characters `\\n`, as in
environment files. White space around the block is ignored.

Loading takes microseconds for any 16 KB. Verifying takes about a millisecond at most, within the limits below.
"""

import re
from dataclasses import dataclass
from functools import cache

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from jobs.jwt_verify.key import Family, invalid_key
from jobs.jwt_verify.token import standard_base64

MIN_BITS = 1024
"""Anybody can factor a shorter modulus."""
GOOD_BITS = 2048
"""RFC 7518 section 3.3 requires it. A shorter key gives a warning."""
MAX_BITS = 8192
MAX_EXPONENT_BITS = 64
"""OpenSSL refuses longer exponents with large moduli, which would look like a bad signature."""

_FIELD = "publicKey"
_PEM = re.compile(r"-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----([^-]*)-----END \1-----", re.ASCII)
_BREAK = re.compile(r"\s|\\r|\\n")
_LENGTH = rb"(?:[\x00-\x7f]|\x81.|\x82..)"
_RSA = re.compile(
    rb"\x30" + _LENGTH + rb"(?:\x02|\x30" + _LENGTH + rb"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01)", re.DOTALL
)
"""The first bytes, in DER, of a PKCS #1 key and of a SubjectPublicKeyInfo with rsaEncryption. Other keys are never loaded."""
_RSA_OID = "1.2.840.113549.1.1.1"

_HASHES = {256: hashes.SHA256(), 384: hashes.SHA384(), 512: hashes.SHA512()}

_NOT_RSA = (
    "This is not an RSA key, which RS256, RS384 and RS512 need. The algorithms of other keys (ES256, EdDSA, PS256 and their "
    "like) are not supported."
)


@dataclass(frozen=True, slots=True, repr=False)
class PublicKey:
    """An RSA key within the limits."""

    key: RSAPublicKey
    family: Family = "RS"

    def verifies(self, message: bytes, signature: bytes, *, bits: int) -> bool:
        """Verify by RSASSA-PKCS1-v1_5."""
        try:
            self.key.verify(signature, message, PKCS1v15(), _HASHES[bits])
        except InvalidSignature:
            return False
        return True

    def weakness(self, bits: int | None) -> str | None:
        """The same sentence for every hash. What anybody can factor comes before what is short."""
        if _is_roca(self.key.public_numbers().n):
            return (
                "The RSA key was made by a faulty generator (ROCA, CVE-2017-15361): its private key can be computed from it, "
                "and anybody who did so can sign. Replace it."
            )
        if self.key.key_size >= GOOD_BITS:
            return None
        return f"The RSA key has {self.key.key_size} bits; RFC 7518 demands {GOOD_BITS} or more."


def public_key(text: str) -> PublicKey:
    """Read a public key.

    Raises:
        InvalidField: `invalid_key` when it is a private key, not one PEM block, not RSA, or outside the limits.
    """
    if "PRIVATE KEY" in text:
        raise invalid_key("This is a private key. Keep it secret, and send its public key.", _FIELD)
    block = _PEM.fullmatch(_BREAK.sub(" ", text).strip())
    if block is None:
        raise invalid_key(_why_no_pem(text), _FIELD)
    der = standard_base64(block[2].replace(" ", ""))
    key = None if der is None else (_of_certificate(der) if block[1] == "CERTIFICATE" else _of_key(der))
    if key is None:
        raise invalid_key(f"The PEM block is not a {block[1].lower()}.", _FIELD)
    if not MIN_BITS <= key.key_size <= MAX_BITS:
        raise invalid_key(f"An RSA key must have {MIN_BITS} to {MAX_BITS} bits.", _FIELD)
    if key.public_numbers().e.bit_length() > MAX_EXPONENT_BITS:
        raise invalid_key(f"The exponent of an RSA key must have at most {MAX_EXPONENT_BITS} bits.", _FIELD)
    return PublicKey(key)


def _is_roca(modulus: int) -> bool:
    """Whether the modulus is a power of 65537 modulo each small prime, as those of Infineon's RSALib are.

    Another modulus is so by chance once in some 10**25 keys. https://crocs.fi.muni.cz/public/papers/rsa_ccs17
    """
    return all(modulus % prime in powers for prime, powers in _roca_residues())


@cache
def _roca_residues() -> list[tuple[int, frozenset[int]]]:
    """The powers of 65537 modulo each odd prime up to 353: those that keys of 1024 bits and more have in common."""
    primes = [number for number in range(3, 354) if all(number % divisor for divisor in range(2, number))]
    return [(prime, frozenset(pow(65537, power, prime) for power in range(prime))) for prime in primes]


def _of_key(der: bytes) -> RSAPublicKey | None:
    if not _RSA.match(der):
        raise invalid_key(_NOT_RSA, _FIELD)
    try:
        key = load_der_public_key(der)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, RSAPublicKey) else None


def _of_certificate(der: bytes) -> RSAPublicKey | None:
    from cryptography import x509  # 40 ms to import, and certificates are rare here

    try:
        certificate = x509.load_der_x509_certificate(der)
        is_rsa = certificate.public_key_algorithm_oid.dotted_string == _RSA_OID
        key = certificate.public_key() if is_rsa else None
    except (ValueError, UnsupportedAlgorithm, x509.InvalidVersion):
        return None
    if not is_rsa:
        raise invalid_key(_NOT_RSA, _FIELD)
    return key if isinstance(key, RSAPublicKey) else None


def _why_no_pem(text: str) -> str:
    start = text.lstrip()
    if start.count("-----BEGIN ") > 1:
        return "There is more than one PEM block. Send the one that verifies; of a chain that is the first."
    if start.startswith("{"):
        return "A JSON Web Key is not supported here: convert it to PEM."
    if start.startswith(("ssh-", "ecdsa-")):
        return "An OpenSSH key is not supported here: convert it with ssh-keygen -e -m PKCS8."
    return (
        "The key must be one PEM block of the kind PUBLIC KEY, RSA PUBLIC KEY or CERTIFICATE, with its BEGIN and END lines "
        "and nothing else."
    )
