"""What stricter verifiers refuse. cryptography's verifier is the second opinion."""

import warnings
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.x509 import verification
from cryptography.x509.oid import ExtendedKeyUsageOID

from compose.sandbox.upstreams.authority import Authority, Identity, Key
from jobs.ssl_info.examination import Findings, Question, examine
from tests.each import each
from tests.jobs import certificates as made

HOST = "www.example.com"
NOW = datetime.now(UTC).replace(microsecond=0)
KEY = ec.generate_private_key(ec.SECP256R1())
BELOW_KEY = ec.generate_private_key(ec.SECP256R1())
ROOT = Authority(key=KEY)
BELOW = Authority("Below", issuer=ROOT, key=BELOW_KEY)
ROOT_IDENTITY, BELOW_IDENTITY = Identity([ROOT.root], KEY), Identity([BELOW.certificate], BELOW_KEY)
SKI, KEY_USAGE, SAN, BASIC, NAMES, AKI, EKU = (f"2.5.29.{number}" for number in (14, 15, 17, 19, 30, 35, 37))


def names(*others: bytes) -> bytes:
    return made.tlv(0x30, made.tlv(0x82, HOST.encode()), *others)


def purposes(*oids: x509.ObjectIdentifier) -> tuple[bool, bytes]:
    return False, x509.ExtendedKeyUsage(oids).public_bytes()


def altered(identity: Identity, extensions: made.Extensions, fields: Mapping[int, bytes]) -> bytes:
    """The first certificate of a chain with other extensions and fields, signed by the root."""
    return made.altered(identity, KEY, {made.EXTENSIONS: made.other_extensions(identity, extensions), **fields})


def found(chain: list[bytes], *, root: Authority = ROOT, now: datetime = NOW) -> Findings:
    roots = root.root.public_bytes(serialization.Encoding.PEM)
    return examine(Question(host=HOST, chain=chain, authorities=roots, now_s=int(now.timestamp())))


def codes(findings: Findings, certificate: int = 0) -> list[str]:
    return [lint.code for lint in findings.lint if lint.certificate == certificate]


def is_refused(chain: Iterable[bytes]) -> bool:
    """What cryptography's verifier says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            leaf, *others = map(x509.load_der_x509_certificate, chain)
            builder = verification.PolicyBuilder().store(verification.Store([ROOT.root])).time(NOW)
            builder.build_server_verifier(x509.DNSName(HOST)).verify(leaf, others)
        except (verification.VerificationError, ValueError):
            return True
    return False


SERVER: list[tuple[str, made.Extensions, Mapping[int, bytes]]] = [
    ("missing_alternative_names", {SAN: None}, {}),
    ("wrong_criticality", {SAN: (True, names())}, {}),
    ("wrong_criticality", {}, {made.SUBJECT: made.name()}),
    ("wrong_criticality", {EKU: (True, purposes(ExtendedKeyUsageOID.SERVER_AUTH)[1])}, {}),
    ("bad_alternative_name", {SAN: (False, names(made.tlv(0x82, b"a_b.example.com")))}, {}),
    ("bad_alternative_name", {SAN: (False, names(made.tlv(0x82, b"w*.example.com")))}, {}),
    ("bad_alternative_name", {SAN: (False, names(made.tlv(0x82, b"*.com")))}, {}),
    ("bad_alternative_name", {SAN: (False, names(made.tlv(0x82, b"printer")))}, {}),
    ("bad_alternative_name", {SAN: (False, names(made.tlv(0x82, b"192.0.2.1")))}, {}),
    ("bad_alternative_name", {SAN: (False, names(made.tlv(0x81, b"ann@example.com")))}, {}),
    ("common_name_not_listed", {}, {made.SUBJECT: made.name([("2.5.4.3", 0x0C, b"Our server")])}),
    ("missing_extended_key_usage", {EKU: None}, {}),
    ("wrong_extended_key_usage", {EKU: purposes(ExtendedKeyUsageOID.CLIENT_AUTH)}, {}),
    ("wrong_extended_key_usage", {EKU: purposes(ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE)}, {}),
    ("authority_as_server", {BASIC: (True, x509.BasicConstraints(True, None).public_bytes())}, {}),
    ("wrong_key_usage", {KEY_USAGE: (True, made.tlv(0x03, b"\x02\x84"))}, {}),
    ("missing_authority_key_id", {AKI: None}, {}),
    (
        "name_constraints_on_server",
        {NAMES: (True, x509.NameConstraints([x509.DNSName(HOST)], None).public_bytes())},
        {},
    ),
    ("unknown_critical_extension", {"1.2.3.4": (True, b"\5\0")}, {}),
    ("serial_not_positive", {}, {made.SERIAL: made.tlv(0x02, b"\x80")}),
    ("serial_not_positive", {}, {made.SERIAL: made.tlv(0x02, b"\x00")}),
    ("serial_too_long", {}, {made.SERIAL: made.tlv(0x02, b"\x01" * 21)}),
    ("date_format", {}, {made.VALIDITY: made.validity(b"20260101000000Z", b"20270101000000Z", 0x18)}),
    ("validity_too_long", {}, {made.VALIDITY: made.validity(b"260101000000Z", b"450101000000Z")}),
]
ISSUERS: list[tuple[str, made.Extensions]] = [
    ("not_an_authority", {BASIC: None}),
    ("wrong_criticality", {BASIC: (False, x509.BasicConstraints(True, None).public_bytes())}),
    ("missing_key_usage", {KEY_USAGE: None}),
    ("wrong_key_usage", {KEY_USAGE: (True, made.tlv(0x03, b"\x07\x80"))}),
    ("missing_subject_key_id", {SKI: None}),
    ("missing_authority_key_id", {AKI: None}),
    ("wrong_extended_key_usage", {EKU: purposes(ExtendedKeyUsageOID.CLIENT_AUTH)}),
    (
        "unsupported_name_constraints",
        {NAMES: (True, x509.NameConstraints(None, [x509.DirectoryName(ROOT.root.subject)]).public_bytes())},
    ),
    (
        "unsupported_name_constraints",
        {NAMES: (True, x509.NameConstraints([x509.DNSName(".com")], None).public_bytes())},
    ),
]
NO_RULES_OF_CRYPTOGRAPHY = {
    *("bad_alternative_name", "common_name_not_listed", "missing_extended_key_usage", "serial_too_long"),
    *("validity_too_long", "missing_subject_key_id", "missing_authority_key_id"),
}


@each(("code", "extensions", "fields"), SERVER)
def test_a_servers_certificate(code: str, extensions: made.Extensions, fields: Mapping[int, bytes]) -> None:
    """Each fault has its code and a sentence, and no other code."""
    chain = [altered(ROOT.identity(HOST), extensions, fields)]
    findings = found(chain)
    assert codes(findings) == [code]
    assert findings.lint[0].message.endswith(".")
    assert is_refused(chain) or code in NO_RULES_OF_CRYPTOGRAPHY or fields.get(made.SERIAL) == b"\2\1\0"


@each(("code", "extensions"), ISSUERS)
def test_an_issuers_certificate(code: str, extensions: made.Extensions) -> None:
    """It is said of which certificate of the chain it is."""
    leaf, below = made.chain(BELOW.identity(HOST))
    chain = [leaf, altered(BELOW_IDENTITY, extensions, {})]
    assert codes(found([leaf, below])) == codes(found([leaf, below]), 1) == []
    assert (codes(found(chain)), codes(found(chain), 1)) == ([], [code])
    assert is_refused(chain) or code in NO_RULES_OF_CRYPTOGRAPHY


@each(
    ("key", "expected"),
    [
        (rsa.generate_private_key(65537, 2048), []),
        (ec.generate_private_key(ec.SECP521R1()), []),
        (rsa.generate_private_key(65537, 1024), ["weak_key"]),
        (dsa.generate_private_key(2048), ["weak_key"]),
        (ec.generate_private_key(ec.SECP256K1()), ["unusual_key"]),
        (ed25519.Ed25519PrivateKey.generate(), ["unusual_key"]),
    ],
)
def test_keys(key: Key, expected: list[str]) -> None:
    """Those that browsers accept, and those that they do not."""
    assert codes(found(made.chain(ROOT.identity(HOST, key=key)))) == expected


def test_signatures() -> None:
    """SHA-1 is weak; Ed25519 is none that public authorities may use."""
    key = rsa.generate_private_key(65537, 2048)
    root = Authority(key=key)
    sha1 = made.altered(root.identity(HOST), key, {}, signed="1.2.840.113549.1.1.5")
    assert codes(found([sha1], root=root)) == ["weak_signature"]
    other = Authority(key=ed25519.Ed25519PrivateKey.generate())
    assert codes(found(made.chain(other.identity(HOST)), root=other)) == ["unusual_signature"]


@each(("issued", "days"), [((2021, 1), 398), ((2026, 4), 200), ((2027, 4), 100), ((2029, 4), 47)])
def test_the_longest_validity(issued: tuple[int, int], days: int) -> None:
    """It depends on the day of issue. The last second counts."""
    first = datetime(*issued, 1, tzinfo=UTC)
    for seconds, expected in ((-1, []), (0, ["validity_too_long"])):
        identity = ROOT.identity(HOST, not_before=first, not_after=first + timedelta(days=days, seconds=seconds))
        findings = found(made.chain(identity))
        assert codes(findings) == expected
        assert all(f" {days} days " in lint.message for lint in findings.lint)


def test_extensions_that_cannot_be_read() -> None:
    """One entry stands for all, as nothing is known of them."""
    broken = made.altered(ROOT.identity(HOST), KEY, {made.EXTENSIONS: made.extensions(b"\x30\x01")})
    assert codes(found([broken])) == ["malformed_extensions"]
    empty = {NAMES: (True, made.tlv(0x30, made.tlv(0xA1, b"\x30\0")))}
    assert codes(found([altered(ROOT.identity(HOST), empty, {})])) == ["name_constraints_on_server"]


def test_whatever_else_the_verifier_refuses_has_an_entry() -> None:
    """Here an authority that was not sent: its basic constraints are not critical."""
    root = altered(ROOT_IDENTITY, {BASIC: (False, x509.BasicConstraints(True, None).public_bytes())}, {})
    pem = x509.load_der_x509_certificate(root).public_bytes(serialization.Encoding.PEM)
    question = Question(HOST, made.chain(ROOT.identity(HOST)), pem, int(NOW.timestamp()))
    findings = examine(question)
    assert (findings.distrust, codes(findings)) == (None, ["other"])
    expired = ROOT.identity(HOST, not_before=NOW - timedelta(days=9), not_after=NOW - timedelta(days=1))
    assert codes(found(made.chain(expired))) == codes(found(made.chain(ROOT.identity("other.example.com")))) == []
