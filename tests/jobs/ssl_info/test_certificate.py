"""What one certificate says, however odd it is."""

import hashlib
import ipaddress
from datetime import UTC, datetime
from typing import Any

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given
from hypothesis import strategies as st

from compose.sandbox.upstreams.authority import Authority, Key, self_signed
from jobs.ssl_info.certificate import Certificate, read_certificate
from jobs.ssl_info.der import Malformed
from tests.each import each
from tests.jobs import certificates as made

EC_KEY = ec.generate_private_key(ec.SECP256R1())
GOOD = self_signed("www.example.com", key=EC_KEY)
CN, ORG, OU, C, EMAIL = "2.5.4.3", "2.5.4.10", "2.5.4.11", "2.5.4.6", "1.2.840.113549.1.9.1"
SAN = "2.5.29.17"
UTF8, PRINTABLE, T61, IA5, UNIVERSAL, BMP = 0x0C, 0x13, 0x14, 0x16, 0x1C, 0x1E


def read(der: bytes) -> Certificate:
    return read_certificate(der, most_names=200)


def odd(changes: dict[int, bytes]) -> Certificate:
    return read(made.altered(GOOD, EC_KEY, changes))


def test_what_it_says_is_what_cryptography_says() -> None:
    """Every field of an ordinary certificate."""
    identity = Authority().identity(
        "www.example.com",
        "*.example.com",
        x509.IPAddress(ipaddress.ip_address("192.0.2.1")),
        x509.IPAddress(ipaddress.ip_address("2001:db8::1")),
        x509.RFC822Name("ann@example.com"),
        x509.UniformResourceIdentifier("https://example.com/"),
        x509.RegisteredID(x509.ObjectIdentifier("1.2.3")),
    )
    theirs = identity.certificate
    ours = read(made.der(identity))
    assert ours.subject.distinguished_name == "CN=www.example.com,O=Coinslot Sandbox" == theirs.subject.rfc4514_string()
    assert ours.issuer.common_name == "Coinslot Sandbox Root"
    assert (ours.not_before, ours.not_after) == (theirs.not_valid_before_utc, theirs.not_valid_after_utc)
    assert int(ours.serial, 16) == theirs.serial_number
    assert ours.fingerprint == hashlib.sha256(made.der(identity)).hexdigest()
    assert ours.dns_names == [b"www.example.com", b"*.example.com"]
    assert ours.alternative_names == [
        *("www.example.com", "*.example.com", "192.0.2.1", "2001:db8::1", "ann@example.com", "https://example.com/"),
        "(another kind of name)",
    ]
    assert ours.alternative_count == 7
    assert (ours.signature_algorithm, ours.key.kind, ours.key.bits) == ("ecdsa-with-SHA256", "EC", 256)
    assert ours.is_well_formed
    assert ours.may_serve
    assert not ours.names_itself
    assert not ours.has_weak_signature


KEYS: list[tuple[Key, str, int, bool]] = [
    (rsa.generate_private_key(65537, 2048), "RSA", 2048, False),
    (rsa.generate_private_key(65537, 1024), "RSA", 1024, True),
    (dsa.generate_private_key(1024), "DSA", 1024, True),
    (ec.generate_private_key(ec.SECP384R1()), "EC", 384, False),
    (ec.generate_private_key(ec.SECP521R1()), "EC", 521, False),
    (ec.generate_private_key(ec.SECP256K1()), "EC", 256, False),
    (ec.generate_private_key(ec.BrainpoolP512R1()), "EC", 512, False),
    (ed25519.Ed25519PrivateKey.generate(), "Ed25519", 256, False),
    (ed448.Ed448PrivateKey.generate(), "Ed448", 456, False),
]


@each(("key", "kind", "bits", "is_weak"), KEYS, ids=[f"{row[1]}-{row[2]}" for row in KEYS])
def test_keys(key: Key, kind: str, bits: int, is_weak: bool) -> None:
    """Their kinds and sizes, and which are too short."""
    found = read(made.der(self_signed("www.example.com", key=key))).key
    assert (found.kind, found.bits, found.is_weak) == (kind, bits, is_weak)


def test_keys_that_nobody_knows() -> None:
    """An unknown algorithm is its identifier; an unknown curve, or a key that cannot be read, has no size."""
    unknown = made.tlv(0x30, made.algorithm("1.2.3.4"), made.tlv(0x03, b"\0key"))
    assert (odd({made.PUBLIC_KEY: unknown}).key.kind, odd({made.PUBLIC_KEY: unknown}).key.bits) == ("1.2.3.4", None)
    curve = made.tlv(0x30, made.algorithm("1.2.840.10045.2.1", made.oid("1.2.3.4")), made.tlv(0x03, b"\0\4xy"))
    assert (odd({made.PUBLIC_KEY: curve}).key.kind, odd({made.PUBLIC_KEY: curve}).key.bits) == ("EC", None)
    for broken in (b"", b"\0", b"\0\x30\0", b"\0\x30\x80", b"\1\x30\0"):
        rsa_key = made.tlv(0x30, made.algorithm("1.2.840.113549.1.1.1"), made.tlv(0x03, broken))
        assert odd({made.PUBLIC_KEY: rsa_key}).key.bits is None


@each(
    ("content", "text"),
    [
        (b"\x00", "0"),
        (b"\x80", "-80"),
        (b"\xff", "-1"),
        (b"\x00\x80", "80"),
        (b"\x7f" + b"\xaa" * 19, "7f" + "aa" * 19),
        (b"", "0"),
        (b"\xab" * 5000, "ab" * 63 + "a…"),
    ],
)
def test_serial_numbers(content: bytes, text: str) -> None:
    """Zero, negative and endless ones too."""
    assert odd({made.SERIAL: made.tlv(0x02, content)}).serial == text


@each(
    ("relatives", "common_name", "whole"),
    [
        ([], None, ""),
        ([[(ORG, UTF8, b"Org")]], None, "O=Org"),
        ([[(C, PRINTABLE, b"DE")], [(ORG, UTF8, "Käse".encode())], [(CN, UTF8, b"a")]], "a", "CN=a,O=Käse,C=DE"),
        ([[(CN, UTF8, b"a"), (OU, UTF8, b"b")]], "a", "CN=a+OU=b"),
        ([[(CN, UTF8, b"first")], [(CN, UTF8, b"second")]], "first", "CN=second,CN=first"),
        ([[(CN, UTF8, b"\xff\xfe")]], "\ufffd\ufffd", "CN=\ufffd\ufffd"),
        ([[(CN, PRINTABLE, b"caf\xe9")]], "caf\ufffd", "CN=caf\ufffd"),
        ([[(CN, T61, b"caf\xe9")]], "café", "CN=café"),
        ([[(CN, BMP, "Ж".encode("utf-16-be"))]], "Ж", "CN=Ж"),
        ([[(CN, BMP, b"\xd8\x00")]], "\ufffd", "CN=\ufffd"),
        ([[(CN, UNIVERSAL, "Ж".encode("utf-32-be"))]], "Ж", "CN=Ж"),
        ([[(CN, UNIVERSAL, b"\xff\xff\xff\xff")]], "\ufffd", "CN=\ufffd"),
        ([[(CN, 0x02, b"\x05")]], "#05", "CN=\\#05"),
        ([[(CN, UTF8, b"a,b+c=d\\e\0")]], "a,b+c=d\\e\0", "CN=a\\,b\\+c\\=d\\\\e\\00"),
        ([[(CN, UTF8, b" a ")]], " a ", "CN=\\ a\\ "),
        ([[("1.2.3.4.5", UTF8, b"x")]], None, "1.2.3.4.5=x"),
        ([[(EMAIL, IA5, b"ann@example.com")]], None, "emailAddress=ann@example.com"),
        ([[(CN, UTF8, b"x" * 5000)]], "x" * 127 + "…", "CN=" + "x" * 127 + "…"),
        ([[]], None, ""),
    ],
)
def test_names(relatives: list[Any], common_name: str | None, whole: str) -> None:
    """Whatever they are made of."""
    subject = odd({made.SUBJECT: made.name(*relatives)}).subject
    assert (subject.common_name, subject.distinguished_name) == (common_name, whole)


def test_a_name_of_thousands_of_parts_is_cut() -> None:
    """What is shown of it has a bound."""
    subject = odd({made.SUBJECT: made.name(*[[(OU, UTF8, b"unit")]] * 5000)}).subject
    assert len(subject.distinguished_name) == 512
    assert subject.organizational_unit == "unit"


@each(
    ("field", "not_before", "not_after"),
    [
        (made.validity(b"491231235959Z", b"500101000000Z"), (2049, 12, 31, 23, 59, 59), (1950, 1, 1)),
        (
            made.validity(b"20500101000000Z", b"99991231235959Z", 0x18),
            (2050, 1, 1),
            (9999, 12, 31, 23, 59, 59),
        ),
        (made.validity(b"2601010000Z", b"260101000000+0100"), None, None),
        (made.validity(b"20260101000000.5Z", b"20260101000000", 0x18), None, None),
        (made.validity(b"261301000000Z", b"260230000000Z"), None, None),
        (made.validity(b"00000101000000Z", b"20260101000060Z", 0x18), None, None),
        (made.validity("２６0101000000Z".encode(), b"\xff" * 13), None, None),
        (made.validity(b"", b""), None, None),
        (made.validity(b"260101000000Z", b"270101000000Z", 0x04), None, None),
    ],
)
def test_times(field: bytes, not_before: Any, not_after: Any) -> None:
    """What is no date of RFC 5280 is no date."""
    found = odd({made.VALIDITY: field})
    assert found.not_before == (datetime(*not_before, tzinfo=UTC) if not_before else None)
    assert found.not_after == (datetime(*not_after, tzinfo=UTC) if not_after else None)
    assert found.is_well_formed is (not_before is not None)


def _names(*found: bytes) -> bytes:
    return made.extension(SAN, made.tlv(0x30, *found))


@each(
    "field",
    [
        made.extensions(_names(made.tlv(0x82, b"a.example.com")), _names(made.tlv(0x82, b"www.example.com"))),
        made.extensions(made.extension(SAN, b"\x30\x05\x82\x10")),
        made.extensions(made.extension(SAN, b"")),
        made.extensions(_names(made.tlv(0x82, b"www.example.com")), made.extension("2.5.29.15", b"\x04\0")),
        made.extensions(made.tlv(0x30, made.oid(SAN))),
        made.extensions(
            made.tlv(0x30, made.oid(SAN), made.tlv(0x0C, made.tlv(0x30, made.tlv(0x82, b"a.example.com"))))
        ),
        made.tlv(0xA3, b"\x30\x80"),
    ],
    ids=["twice", "cut off", "empty", "another one broken", "no value", "value of another type", "no list"],
)
def test_extensions_that_cannot_be_trusted_name_nobody(field: bytes) -> None:
    """A certificate that two readers could read in two ways."""
    found = odd({made.EXTENSIONS: field})
    assert not found.is_well_formed
    assert (found.dns_names, found.alternative_count) == ([], 0)


def test_alternative_names_that_are_odd() -> None:
    """They are shown as they are, within bounds; addresses that are none in hex."""
    found = odd(
        {
            made.EXTENSIONS: made.extensions(
                _names(
                    made.tlv(0x82, b"www.example.com\0.evil.example.net"),
                    made.tlv(0x82, "bücher.example.com".encode()),
                    made.tlv(0x82, b"\xff\xfe"),
                    made.tlv(0x82, b"x" * 1000),
                    made.tlv(0x87, b"\1\2\3"),
                    made.tlv(0x87, b"\1" * 1000),
                    made.tlv(0xA4, made.name([(CN, UTF8, b"a")])),
                )
            )
        }
    )
    assert found.alternative_names == [
        *("www.example.com\0.evil.example.net", "bücher.example.com", "\ufffd\ufffd", "x" * 255 + "…"),
        *("#010203", "#" + "01" * 32, "(another kind of name)"),
    ]
    assert found.dns_names[0] == b"www.example.com\0.evil.example.net"


@each(
    ("found", "may_serve", "may_issue"),
    [
        ([], True, True),
        ([made.extension("2.5.29.15", made.tlv(0x03, b"\x07\x80"))], True, True),
        ([made.extension("2.5.29.15", made.tlv(0x03, b"\x05\x20"))], True, True),
        ([made.extension("2.5.29.15", made.tlv(0x03, b"\x03\x08"))], True, True),
        ([made.extension("2.5.29.15", made.tlv(0x03, b"\x01\x06"))], False, True),
        ([made.extension("2.5.29.15", made.tlv(0x03, b"\x00"))], False, True),
        ([made.extension("2.5.29.37", made.tlv(0x30, made.oid("1.3.6.1.5.5.7.3.1")))], True, True),
        ([made.extension("2.5.29.37", made.tlv(0x30, made.oid("2.5.29.37.0")))], True, True),
        ([made.extension("2.5.29.37", made.tlv(0x30, made.oid("1.3.6.1.5.5.7.3.2")))], False, False),
    ],
)
def test_purposes(found: list[bytes], may_serve: bool, may_issue: bool) -> None:
    """Key usage and extended key usage, where they are given."""
    certificate = odd({made.EXTENSIONS: made.extensions(*found)})
    assert (certificate.may_serve, certificate.may_issue_servers) == (may_serve, may_issue)


def test_signatures() -> None:
    """Which are broken; the digest of RSASSA-PSS is a parameter, and SHA-1 when nothing is said."""
    pss = "1.2.840.113549.1.1.10"
    sha256 = made.tlv(0x30, made.tlv(0xA0, made.algorithm("2.16.840.1.101.3.4.2.1")))
    sha1 = made.tlv(0x30, made.tlv(0xA0, made.algorithm("1.3.14.3.2.26")))
    for field, text, is_weak in [
        (made.algorithm("1.2.840.113549.1.1.4"), "md5WithRSAEncryption", True),
        (made.algorithm("1.2.840.113549.1.1.5"), "sha1WithRSAEncryption", True),
        (made.algorithm("1.2.840.10045.4.1"), "ecdsa-with-SHA1", True),
        (made.algorithm("1.2.840.113549.1.1.11"), "sha256WithRSAEncryption", False),
        (made.algorithm("1.3.101.112"), "Ed25519", False),
        (made.algorithm(pss, sha256), "RSASSA-PSS", False),
        (made.algorithm(pss, sha1), "RSASSA-PSS", True),
        (made.algorithm(pss, made.tlv(0x30)), "RSASSA-PSS", True),
        (made.algorithm(pss), "RSASSA-PSS", True),
        (made.algorithm("1.2.3"), "1.2.3", False),
    ]:
        found = odd({made.ALGORITHM: field})
        assert (found.signature_algorithm, found.has_weak_signature) == (text, is_weak)


@pytest.mark.filterwarnings("ignore:Parsed a serial number")  # one authority's is not positive
def test_every_public_authority_can_be_read() -> None:
    """As cryptography reads it, though it reads more."""
    with open(certifi.where(), "rb") as file:
        roots = x509.load_pem_x509_certificates(file.read())
    assert len(roots) > 100
    for theirs in roots:
        ours = read(theirs.public_bytes(serialization.Encoding.DER))
        assert ours.is_well_formed
        assert not ours.key.is_weak
        assert ours.not_after == theirs.not_valid_after_utc
        assert int(ours.serial, 16) == theirs.serial_number


WHOLE = made.der(Authority().identity("www.example.com", purpose=ExtendedKeyUsageOID.SERVER_AUTH))


@given(place=st.integers(0, len(WHOLE) - 1), value=st.integers(0, 255), end=st.integers(0, len(WHOLE)))
def test_whatever_is_changed_it_is_read_or_malformed(place: int, value: int, end: int) -> None:
    """No other exception, for any byte and any end."""
    for der in (WHOLE[:place] + bytes([value]) + WHOLE[place + 1 :], WHOLE[:end]):
        try:
            read(der)
        except Malformed:
            continue


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_malformed(der: bytes) -> None:
    """No other exception."""
    with pytest.raises(Malformed):
        read(der)
