"""Reads the fields of one certificate (RFC 5280), whether they are correct or not."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from jobs.ssl_info import algorithms, der
from jobs.ssl_info.der import Element, Malformed, bits, elements, expected, oid, only
from jobs.ssl_info.names import Name, cut, read_name

MAX_SERIAL_BYTES = 64
"""RFC 5280 allows 20 bytes."""

ANY_PURPOSE = "2.5.29.37.0"
SERVER_AUTH = "1.3.6.1.5.5.7.3.1"

_SAN = "2.5.29.17"
_KEY_USAGE = "2.5.29.15"
_EXTENDED_KEY_USAGE = "2.5.29.37"
_EXPLICIT = 0xA0
_EXTENSIONS = 0xA3
_EMAIL, _DNS, _URI, _IP = 0x81, 0x82, 0x86, 0x87
# digitalSignature, keyEncipherment, keyAgreement: the ways in which a TLS server uses its key.
_SERVER_BITS = 0b1010_1000
_CERT_SIGN = 0b0000_0100
_BASIC_CONSTRAINTS = "2.5.29.19"
_NAME_CONSTRAINTS = "2.5.29.30"
_EXCLUDED = 0xA1
_BOOLEAN = 0x01


@dataclass(frozen=True, slots=True)
class Key:
    """A public key.

    Attributes:
        kind: RSA, EC, Ed25519 ..., or an object identifier.
        bits: size of the modulus, or of the curve's field; None when it is not known.
    """

    kind: str
    bits: int | None

    @property
    def is_weak(self) -> bool:
        """Whether the key is shorter than LEAST_BITS. A key of an unknown kind is not weak."""
        return self.bits is not None and self.bits < algorithms.LEAST_BITS.get(self.kind, 0)


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate.

    Attributes:
        serial: in hex, with a sign when it is negative.
        not_before: None, like not_after, when it is not a valid date.
        dns_names: the bytes of the DNS names among the alternative names.
        alternative_names: texts of the alternative names that have one.
        alternative_count: number of all alternative names.
        excluded_names: DNS names below which it may not issue.
        may_serve: whether key usage and extended key usage allow a TLS server, and it is no authority.
        may_issue_servers: whether extended key usage allows it to issue certificates of TLS servers.
        is_well_formed: whether the dates and all relevant extensions can be read, and no extension appears twice.
    """

    subject: Name
    issuer: Name
    names_itself: bool
    serial: str
    not_before: datetime | None
    not_after: datetime | None
    dns_names: Sequence[bytes]
    alternative_names: Sequence[str]
    alternative_count: int
    fingerprint: str
    signature_algorithm: str
    has_weak_signature: bool
    key: Key
    excluded_names: Sequence[bytes]
    may_serve: bool
    may_issue_servers: bool
    is_well_formed: bool


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
    if fields and fields[0].tag == _EXPLICIT:
        del fields[0]
    if len(fields) < 6:
        raise Malformed("not a certificate")
    serial, algorithm, issuer, validity, subject, key = (
        expected(field, tag) for field, tag in zip(fields, (der.INTEGER, *[der.SEQUENCE] * 5), strict=False)
    )
    not_before, not_after = _validity(validity)
    extensions, is_well_formed = _extensions(fields[6:])
    names = extensions.alternative_names
    return Certificate(
        subject=read_name(subject),
        issuer=read_name(issuer),
        names_itself=subject == issuer,
        serial=_hex(serial),
        not_before=not_before,
        not_after=not_after,
        dns_names=[name.content for name in names if name.tag == _DNS],
        alternative_names=[_alternative(name) for name in names[:most_names]],
        alternative_count=len(names),
        fingerprint=hashlib.sha256(data).hexdigest(),
        signature_algorithm=_signature_name(algorithm),
        has_weak_signature=_is_weak_signature(algorithm),
        key=_key(key),
        excluded_names=extensions.excluded_names,
        may_serve=extensions.may_serve,
        may_issue_servers=extensions.may_issue_servers,
        is_well_formed=is_well_formed and not_before is not None and not_after is not None,
    )


@dataclass(slots=True)
class _Extensions:
    alternative_names: list[Element]
    excluded_names: list[bytes] = field(default_factory=list)
    may_serve: bool = True
    may_issue_servers: bool = True


def _extensions(fields: Sequence[Element]) -> tuple[_Extensions, bool]:
    """The content of the extensions, and whether all of them are well formed."""
    found = _Extensions([])
    seen = set()
    try:
        for field in fields:
            if field.tag != _EXTENSIONS:
                continue
            for extension in elements(only(field.content, der.SEQUENCE)):
                name, value = _extension(expected(extension, der.SEQUENCE))
                if name in seen:
                    return _Extensions([]), False
                seen.add(name)
                _take(found, name, value)
    except Malformed:
        return _Extensions([]), False
    return found, True


def _extension(content: bytes) -> tuple[str, bytes]:
    match elements(content):
        case [Element(der.OID, name), *_, Element(der.OCTET_STRING, value)]:
            return oid(name), value
    raise Malformed("not an extension")


def _take(found: _Extensions, name: str, value: bytes) -> None:
    if name == _SAN:
        found.alternative_names = elements(only(value, der.SEQUENCE))
    elif name == _KEY_USAGE:
        usage = only(value, der.BIT_STRING)[1:2]
        found.may_serve &= bool(usage and usage[0] & _SERVER_BITS and not usage[0] & _CERT_SIGN)
    elif name == _BASIC_CONSTRAINTS:
        found.may_serve &= not any(
            part.tag == _BOOLEAN and any(part.content) for part in elements(only(value, der.SEQUENCE))
        )
    elif name == _NAME_CONSTRAINTS:
        for part in elements(only(value, der.SEQUENCE)):
            if part.tag == _EXCLUDED:
                bases = (elements(expected(subtree, der.SEQUENCE))[0] for subtree in elements(part.content))
                found.excluded_names += [base.content.lower() for base in bases if base.tag == _DNS]
    elif name == _EXTENDED_KEY_USAGE:
        purposes = {oid(expected(purpose, der.OID)) for purpose in elements(only(value, der.SEQUENCE))}
        found.may_issue_servers = not purposes.isdisjoint({SERVER_AUTH, ANY_PURPOSE})
        found.may_serve &= found.may_issue_servers


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


def _validity(content: bytes) -> tuple[datetime | None, datetime | None]:
    match elements(content):
        case [not_before, not_after]:
            return _time(not_before), _time(not_after)
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
        return Key(kind, _key_bits(kind, parameters, key))
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
