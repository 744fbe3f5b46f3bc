"""Reads the fields of one certificate (RFC 5280), whether they are correct or not."""

import hashlib
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from jobs.ssl_info import algorithms, der
from jobs.ssl_info.der import Element, Malformed, bits, elements, expected, oid, only
from jobs.ssl_info.names import Name, cut, read_name

MAX_SERIAL_BYTES = 64
"""RFC 5280 allows 20 bytes."""

ANY_PURPOSE = "2.5.29.37.0"
SERVER_AUTH = "1.3.6.1.5.5.7.3.1"

SAN = "2.5.29.17"
KEY_USAGE = "2.5.29.15"
BASIC_CONSTRAINTS = "2.5.29.19"
NAME_CONSTRAINTS = "2.5.29.30"
EXTENDED_KEY_USAGE = "2.5.29.37"
CERT_SIGN = 0b0000_0100
"""The bit of key usage that lets an authority sign certificates."""

_EXPLICIT = 0xA0
_EXTENSIONS = 0xA3
_EMAIL, _DNS, _URI, _IP = 0x81, 0x82, 0x86, 0x87
# digitalSignature, keyEncipherment, keyAgreement: the ways in which a TLS server uses its key.
_SERVER_BITS = 0b1010_1000
_EXCLUDED = 0xA1
_BOOLEAN = 0x01


@dataclass(frozen=True, slots=True)
class Key:
    """A public key.

    Attributes:
        kind: RSA, EC, Ed25519 ..., or an object identifier.
        bits: size of the modulus, or of the curve's field; None when it is not known.
        curve: the object identifier of an EC key's curve; None when it is not named.
    """

    kind: str
    bits: int | None
    curve: str | None = None

    @property
    def is_weak(self) -> bool:
        """Whether the key is shorter than LEAST_BITS. A key of an unknown kind is not weak."""
        return self.bits is not None and self.bits < algorithms.LEAST_BITS.get(self.kind, 0)


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension, with its content in DER."""

    is_critical: bool
    value: bytes


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate.

    Attributes:
        version: 1 to 3, or what else it says.
        subject_der: DER of the subject, as issuer_der of the issuer.
        serial: in hex, with a sign when it is negative.
        serial_content: the bytes of the serial number.
        not_before: None, like not_after, when it is not a valid date.
        has_canonical_dates: whether the dates until 2049 have years of two digits, and the later ones of four.
        dns_names: the bytes of the DNS names among the alternative names.
        alternative_names: texts of the alternative names that have one.
        alternative_count: number of all alternative names.
        extensions: by object identifier; none when they are not well formed.
        excluded_names: DNS names below which it may not issue.
        key_usage: the first byte of the key usage; None when it has none.
        is_authority: whether the basic constraints say that it may issue certificates.
        purposes: of the extended key usage; None when it has none.
        has_sound_extensions: whether all relevant extensions can be read, and none appears twice.
    """

    version: int
    subject: Name
    subject_der: bytes
    issuer: Name
    issuer_der: bytes
    serial: str
    serial_content: bytes
    not_before: datetime | None
    not_after: datetime | None
    has_canonical_dates: bool
    dns_names: Sequence[bytes]
    alternative_names: Sequence[str]
    alternative_count: int
    fingerprint: str
    signature_algorithm: str
    has_weak_signature: bool
    key: Key
    extensions: Mapping[str, Extension]
    excluded_names: Sequence[bytes]
    key_usage: int | None
    is_authority: bool
    purposes: frozenset[str] | None
    has_sound_extensions: bool

    @property
    def is_well_formed(self) -> bool:
        """Whether the dates and all relevant extensions can be read."""
        return self.has_sound_extensions and self.not_before is not None and self.not_after is not None

    @property
    def names_itself(self) -> bool:
        """Whether its issuer has its own name."""
        return self.subject_der == self.issuer_der

    @property
    def may_issue_servers(self) -> bool:
        """Whether extended key usage allows it to issue certificates of TLS servers."""
        return self.purposes is None or not self.purposes.isdisjoint({SERVER_AUTH, ANY_PURPOSE})

    @property
    def has_server_usage(self) -> bool:
        """Whether key usage allows a TLS server, and no signing of certificates."""
        usage = _SERVER_BITS if self.key_usage is None else self.key_usage
        return bool(usage & _SERVER_BITS and not usage & CERT_SIGN)

    @property
    def may_serve(self) -> bool:
        """Whether key usage and extended key usage allow a TLS server, and it is no authority."""
        return self.has_server_usage and not self.is_authority and self.may_issue_servers


def read_certificate(data: bytes, *, most_names: int) -> Certificate:
    """Read a certificate in DER.

    Args:
        most_names: how many alternative names to convert to text.

    Raises:
        Malformed: the outer structure cannot be read.
    """
    match elements(only(data, der.SEQUENCE)):
        case [Element(der.SEQUENCE, body), _, _]:
            fields = elements(body)
        case _:
            raise Malformed("not a certificate")
    has_version = bool(fields) and fields[0].tag == _EXPLICIT
    version = 1 + int.from_bytes(fields.pop(0).content[-1:]) if has_version else 1
    if len(fields) < 6:
        raise Malformed("not a certificate")
    serial, algorithm, issuer, validity, subject, key = (
        expected(field, tag) for field, tag in zip(fields, (der.INTEGER, *[der.SEQUENCE] * 5), strict=False)
    )
    not_before, not_after, has_canonical_dates = _validity(validity)
    extensions, has_sound_extensions = _extensions(fields[6:])
    names = extensions.alternative_names
    return Certificate(
        version=version,
        subject=read_name(subject),
        subject_der=subject,
        issuer=read_name(issuer),
        issuer_der=issuer,
        serial=_hex(serial),
        serial_content=serial,
        not_before=not_before,
        not_after=not_after,
        has_canonical_dates=has_canonical_dates,
        dns_names=[name.content for name in names if name.tag == _DNS],
        alternative_names=[_alternative(name) for name in names[:most_names]],
        alternative_count=len(names),
        fingerprint=hashlib.sha256(data).hexdigest(),
        signature_algorithm=_signature_name(algorithm),
        has_weak_signature=_is_weak_signature(algorithm),
        key=_key(key),
        extensions=extensions.all,
        excluded_names=extensions.excluded_names,
        key_usage=extensions.key_usage,
        is_authority=extensions.is_authority,
        purposes=extensions.purposes,
        has_sound_extensions=has_sound_extensions,
    )


@dataclass(slots=True)
class _Extensions:
    all: dict[str, Extension] = field(default_factory=dict)
    alternative_names: list[Element] = field(default_factory=list)
    excluded_names: list[bytes] = field(default_factory=list)
    key_usage: int | None = None
    is_authority: bool = False
    purposes: frozenset[str] | None = None


def _extensions(fields: Sequence[Element]) -> tuple[_Extensions, bool]:
    """The content of the extensions, and whether all of them are well formed."""
    found = _Extensions()
    try:
        for field in fields:
            if field.tag != _EXTENSIONS:
                continue
            for element in elements(only(field.content, der.SEQUENCE)):
                name, extension = _extension(expected(element, der.SEQUENCE))
                if name in found.all:
                    return _Extensions(), False
                found.all[name] = extension
                _take(found, name, extension.value)
    except Malformed:
        return _Extensions(), False
    return found, True


def _extension(content: bytes) -> tuple[str, Extension]:
    match elements(content):
        case [Element(der.OID, name), *others, Element(der.OCTET_STRING, value)]:
            is_critical = any(part.tag == _BOOLEAN and any(part.content) for part in others)
            return oid(name), Extension(is_critical, value)
    raise Malformed("not an extension")


def _take(found: _Extensions, name: str, value: bytes) -> None:
    if name == SAN:
        found.alternative_names = elements(only(value, der.SEQUENCE))
    elif name == KEY_USAGE:
        found.key_usage = int.from_bytes(only(value, der.BIT_STRING)[1:2])
    elif name == BASIC_CONSTRAINTS:
        parts = elements(only(value, der.SEQUENCE))
        found.is_authority = any(part.tag == _BOOLEAN and any(part.content) for part in parts)
    elif name == NAME_CONSTRAINTS:
        for part in elements(only(value, der.SEQUENCE)):
            if part.tag == _EXCLUDED:
                bases = (elements(expected(subtree, der.SEQUENCE))[:1] for subtree in elements(part.content))
                found.excluded_names += [base.content.lower() for first in bases for base in first if base.tag == _DNS]
    elif name == EXTENDED_KEY_USAGE:
        purposes = elements(only(value, der.SEQUENCE))
        found.purposes = frozenset(oid(expected(purpose, der.OID)) for purpose in purposes)


def _alternative(name: Element) -> str:
    """The text of a host, address, mailbox or URI; empty for other kinds, which have no short text."""
    if name.tag == _IP:
        try:
            return str(ipaddress.ip_address(name.content))
        except ValueError:
            return "#" + name.content[:32].hex()
    if name.tag in (_DNS, _EMAIL, _URI):
        return cut(name.content[:1024].decode("utf-8", "replace"), 256)
    return "(another kind of name)"


def _validity(content: bytes) -> tuple[datetime | None, datetime | None, bool]:
    match elements(content):
        case [first, last]:
            not_before, not_after = _time(first), _time(last)
            dates = ((first, not_before), (last, not_after))
            canonical = (time is None or (each.tag == der.UTC_TIME) is (time.year < 2050) for each, time in dates)
            return not_before, not_after, all(canonical)
    raise Malformed("not a validity")


def _time(element: Element) -> datetime | None:
    """RFC 5280, 4.1.2.5: seconds are required, the zone is Z, and years of two digits are 1950 to 2049."""
    try:
        text = element.content.decode("ascii")
    except UnicodeDecodeError:
        return None
    if element.tag == der.UTC_TIME and len(text) == 13:
        text = ("19" if text[:2] >= "50" else "20") + text
    elif element.tag != der.GENERALIZED_TIME or len(text) != 15:
        return None
    if not text[:14].isdigit() or text[14] != "Z":
        return None
    try:
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _hex(serial: bytes) -> str:
    if len(serial) > MAX_SERIAL_BYTES:
        return cut(serial.hex(), 2 * MAX_SERIAL_BYTES)
    return f"{int.from_bytes(serial, signed=True):x}"


def _algorithm(content: bytes) -> tuple[str, Sequence[Element]]:
    match elements(content):
        case [Element(der.OID, name), *parameters]:
            return oid(name), parameters
    raise Malformed("not an algorithm")


def _signature_name(algorithm: bytes) -> str:
    name, _ = _algorithm(algorithm)
    return algorithms.SIGNATURES.get(name, name)


def _is_weak_signature(algorithm: bytes) -> bool:
    name, parameters = _algorithm(algorithm)
    if name != algorithms.RSA_PSS:
        return name in algorithms.BROKEN_SIGNATURES
    for parameter in elements(parameters[0].content) if parameters else ():
        if parameter.tag == _EXPLICIT:
            return _algorithm(only(parameter.content, der.SEQUENCE))[0] not in algorithms.SOUND_DIGESTS
    return True


def _key(content: bytes) -> Key:
    match elements(content):
        case [Element(der.SEQUENCE, algorithm), Element(der.BIT_STRING, key)]:
            name, parameters = _algorithm(algorithm)
        case _:
            raise Malformed("not a key")
    kind = algorithms.KEYS.get(name, name)
    try:
        named = kind == "EC" and parameters and parameters[0].tag == der.OID
        return Key(kind, _key_bits(kind, parameters, key), oid(parameters[0].content) if named else None)
    except (Malformed, IndexError):
        return Key(kind, None)


def _key_bits(kind: str, parameters: Sequence[Element], key: bytes) -> int | None:
    match kind, parameters:
        case (("RSA" | "RSA-PSS"), _):
            return _length(elements(only(bits(key), der.SEQUENCE))[0])
        case "DSA", [Element(content=domain)] if domain:
            return _length(elements(domain)[0])
        case "EC", [Element(der.OID, curve)]:
            return algorithms.CURVES.get(oid(curve))
        case "EC", [Element(der.SEQUENCE, curve)]:
            return _length(elements(expected(elements(curve)[1], der.SEQUENCE))[1])  # the prime of its field
    return algorithms.FIXED_BITS.get(kind)


def _length(number: Element) -> int:
    return int.from_bytes(expected(number, der.INTEGER)).bit_length()
