"""Whether a chain leads to an authority that is trusted."""

import time
from datetime import UTC, datetime, timedelta

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from compose.sandbox.upstreams.authority import Authority, Identity, self_signed
from jobs.ssl_info.trust import is_self_signed, trust_in
from tests.each import each
from tests.jobs import certificates as made

NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
HOST = "www.example.com"

ROOT_KEY = ec.generate_private_key(ec.SECP256R1())
ROOT = Authority(key=ROOT_KEY)
INTERMEDIATE = Authority("Intermediate", issuer=ROOT)
UNTRUSTED = Authority("Untrusted")
GOOD = INTERMEDIATE.identity(HOST)


def pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in certificates)


def encoded(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.DER)


def judged(chain: list[bytes] | Identity, *, roots: bytes | None = None, now: datetime = NOW) -> str | None:
    der = made.chain(chain) if isinstance(chain, Identity) else chain
    return trust_in(der, pem(ROOT.root) if roots is None else roots, now).distrust


def test_a_chain_to_an_authority() -> None:
    """Directly, over one, or over several."""
    assert judged(ROOT.identity(HOST)) is None
    assert judged(GOOD) is None
    deep = Authority("Deep", issuer=Authority("Deeper", issuer=INTERMEDIATE))
    assert judged(deep.identity(HOST)) is None


def test_the_order_of_the_others_does_not_matter_nor_what_does_not_belong() -> None:
    """Servers send chains in a wrong order, twice, and with unrelated certificates."""
    deep = Authority("Deep", issuer=INTERMEDIATE).identity(HOST)
    leaf, first, second = deep.chain
    assert judged(deep.showing(second, first)) is None
    assert judged(deep.showing(UNTRUSTED.root, second, leaf, first, first, ROOT.root)) is None


def test_an_authority_that_nobody_trusts() -> None:
    """When it is sent it is an untrusted root; when it is not, nobody can tell it from a missing intermediate."""
    identity = UNTRUSTED.identity(HOST)
    assert judged(identity.showing(UNTRUSTED.root)) == "untrusted_root"
    assert judged(identity) == "incomplete_chain"
    assert judged(identity, roots=pem(ROOT.root, UNTRUSTED.root)) is None
    assert judged(GOOD, roots=b"") == "incomplete_chain"


def test_a_missing_intermediate() -> None:
    """Nothing is fetched, and what one server did not send, another call's server has not sent either."""
    assert judged(GOOD) is None
    assert judged(GOOD.showing()) == "incomplete_chain"
    assert judged(Authority("Deep", issuer=INTERMEDIATE).identity(HOST).showing(INTERMEDIATE.certificate)) == (
        "incomplete_chain"
    )


def test_self_signed() -> None:
    """Not trusted, unless the operator says so."""
    identity = self_signed(HOST)
    assert judged(identity) == "self_signed"
    assert judged(identity, roots=pem(identity.certificate)) is None
    assert is_self_signed(made.der(identity))
    assert is_self_signed(encoded(ROOT.root))
    assert not is_self_signed(made.der(GOOD))


def test_self_signed_is_what_its_own_key_has_signed() -> None:
    """A certificate that names itself as its issuer and is signed by another is not."""
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    identity = self_signed(HOST, key=key)
    assert is_self_signed(made.altered(identity, key, {}))
    assert not is_self_signed(made.altered(identity, other, {}))


def test_self_signed_although_it_names_another_key_as_its_issuers() -> None:
    """An authority key identifier that fits nobody does not make it another's."""
    key = ec.generate_private_key(ec.SECP256R1())
    field = made.extensions(
        made.extension("2.5.29.14", made.tlv(0x04, b"one")),
        made.extension("2.5.29.35", made.tlv(0x30, made.tlv(0x80, b"another"))),
    )
    identity = self_signed(HOST, key=key)
    assert is_self_signed(made.altered(identity, key, {made.EXTENSIONS: field}))
    other = ec.generate_private_key(ec.SECP256R1())
    assert not is_self_signed(made.altered(identity, other, {made.EXTENSIONS: field}))


def test_old_and_odd_self_signed_certificates() -> None:
    """SHA-1, MD5 and a serial number below zero: the signature is its own."""
    key = rsa.generate_private_key(65537, 2048)
    identity = self_signed(HOST, key=key)
    for signed in ("1.2.840.113549.1.1.5", "1.2.840.113549.1.1.4"):
        assert is_self_signed(made.altered(identity, key, {}, signed=signed))
    assert is_self_signed(made.altered(identity, key, {made.SERIAL: b"\2\1\x80"}))


@each("days", [-1000, -2, 2, 200])
def test_the_dates_of_the_certificate_itself_are_no_matter_of_trust(days: int) -> None:
    """As long as its issuers are within theirs."""
    identity = INTERMEDIATE.identity(HOST, not_before=NOW + (days - 1) * DAY, not_after=NOW + days * DAY)
    assert judged(identity) is None


def test_the_dates_of_its_issuers_are() -> None:
    """At the time that is asked for, whether its own have passed or not."""
    brief = Authority("Brief", issuer=ROOT, not_after=NOW + DAY)
    identity = brief.identity(HOST, not_after=NOW + 3 * DAY)
    assert judged(identity) is None
    assert judged(identity, now=NOW + DAY) is None
    assert judged(identity, now=NOW + DAY + timedelta(seconds=1)) == "issuer_expired"
    assert judged(identity, now=NOW + 4 * DAY) == "issuer_expired"
    assert judged(identity, now=NOW - 40 * DAY) == "issuer_not_yet_valid"
    assert judged(GOOD, now=NOW + 500 * DAY) == "issuer_expired"


def test_an_expired_way_does_not_hide_a_good_one() -> None:
    """Two certificates of one intermediate, one of them expired, as when a root has been renewed."""
    key = ec.generate_private_key(ec.SECP256R1())
    old = Authority("Twice", issuer=ROOT, key=key, not_after=NOW - DAY)
    new = Authority("Twice", issuer=ROOT, key=key)
    identity = new.identity(HOST)
    assert judged(identity.showing(old.certificate, new.certificate)) is None
    late = new.identity(HOST, not_before=NOW - 9 * DAY, not_after=NOW - 3 * DAY)
    assert judged(late.showing(new.certificate, old.certificate)) is None


def test_signatures_that_are_not_the_issuers() -> None:
    """A changed certificate, and one that somebody else has signed in an authority's name."""
    leaf = bytearray(made.der(ROOT.identity(HOST)))
    at = leaf.index(b"www.example.com")
    leaf[at : at + 3] = b"WWW"
    assert judged([bytes(leaf)]) == "bad_signature"
    forger = ec.generate_private_key(ec.SECP256R1())
    assert judged([made.altered(ROOT.identity(HOST), forger, {})]) == "bad_signature"


def test_issuers_that_are_no_authorities() -> None:
    """A certificate of a server issues nothing, and an authority only as deep as it may."""
    server = ROOT.identity("server.example.com", key=(key := ec.generate_private_key(ec.SECP256R1())))
    issued = made.altered(self_signed(HOST), key, {made.ISSUER: server.certificate.subject.public_bytes()})
    assert judged([issued, made.der(server)]) == "invalid_issuer"
    shallow = Authority("Shallow", issuer=ROOT, path_length=0)
    assert judged(shallow.identity(HOST)) is None
    assert judged(Authority("Below", issuer=shallow).identity(HOST)) == "invalid_issuer"


def test_name_constraints() -> None:
    """An authority for some names is none for others."""
    permitted = x509.NameConstraints([x509.DNSName("example.com")], None)
    excluded = x509.NameConstraints(None, [x509.DNSName("example.org")])
    for number, (constraints, allowed, refused) in enumerate(
        [(permitted, HOST, "www.example.org"), (excluded, HOST, "www.example.org")]
    ):
        authority = Authority(f"Constrained {number}", issuer=ROOT, constraints=constraints)
        assert judged(authority.identity(allowed)) is None
        assert judged(authority.identity(refused)) == "name_constraint_violated"
        assert judged(authority.identity(allowed, refused)) == "name_constraint_violated"


@each(
    ("excluded", "name", "expected"),
    [
        ("secret.example.com", "*.example.com", "name_constraint_violated"),
        ("example.com", "*.example.com", "name_constraint_violated"),
        ("example.com", "*.www.example.com", "name_constraint_violated"),
        ("a.secret.example.com", "*.example.com", None),
        ("example.org", "*.example.com", None),
    ],
)
def test_a_wildcard_stands_for_all_its_names(excluded: str, name: str, expected: str | None) -> None:
    """One of which may be excluded."""
    constraints = x509.NameConstraints(None, [x509.DNSName(excluded)])
    authority = Authority(f"Without {excluded}", issuer=ROOT, constraints=constraints)
    assert judged(authority.identity(name)) == expected


def test_an_authoritys_own_certificate_serves_nobody() -> None:
    """Neither with basic constraints that make it an authority, nor with a key that may sign certificates."""
    identity = ROOT.identity(HOST)
    names = made.extension("2.5.29.17", made.tlv(0x30, made.tlv(0x82, HOST.encode())))
    authority = made.extension("2.5.29.19", made.tlv(0x30, b"\x01\x01\xff"), critical=True)
    none = made.extension("2.5.29.19", made.tlv(0x30), critical=True)
    signs = made.extension("2.5.29.15", made.tlv(0x03, b"\x02\x84"), critical=True)
    for field, expected in (
        ((names, authority), "wrong_purpose"),
        ((names, signs), "wrong_purpose"),
        ((names, none), None),
    ):
        leaf = made.altered(identity, ROOT_KEY, {made.EXTENSIONS: made.extensions(*field)})
        assert judged([leaf]) == expected


def test_a_dsa_key_is_weak() -> None:
    """No client of today accepts one."""
    assert judged(ROOT.identity(HOST, key=dsa.generate_private_key(2048))) == "weak_key"


def test_an_operator_may_trust_an_intermediate() -> None:
    """Without its root, which the server need not send."""
    assert judged(GOOD.showing(), roots=pem(INTERMEDIATE.certificate)) is None
    assert judged(GOOD, roots=pem(INTERMEDIATE.certificate)) is None
    assert judged(UNTRUSTED.identity(HOST), roots=pem(INTERMEDIATE.certificate)) == "incomplete_chain"


def test_purposes() -> None:
    """A certificate of a client is none of a server."""
    client = ROOT.identity(HOST, purpose=ExtendedKeyUsageOID.CLIENT_AUTH)
    assert judged(client) == "wrong_purpose"
    assert judged(ROOT.identity(HOST, purpose=ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE)) is None


@pytest.mark.parametrize(("purpose", "expected"), [("1.3.6.1.5.5.7.3.1", None), ("1.3.6.1.5.5.7.3.4", "wrong_purpose")])
def test_an_authority_of_mail_is_none_of_servers(purpose: str, expected: str | None) -> None:
    """Extended key usage of an intermediate limits what it may issue for."""
    key = ec.generate_private_key(ec.SECP256R1())
    authority = Authority("Mail", issuer=ROOT, key=key)
    field = made.extensions(
        made.extension("2.5.29.19", made.tlv(0x30, b"\x01\x01\xff"), critical=True),
        made.extension("2.5.29.15", made.tlv(0x03, b"\x02\x04"), critical=True),
        made.extension("2.5.29.37", made.tlv(0x30, made.oid(purpose))),
    )
    limited = made.altered(Identity([authority.certificate], key), ROOT_KEY, {made.EXTENSIONS: field})
    assert judged([made.der(authority.identity(HOST)), limited]) == expected


def test_weak_keys_and_signatures() -> None:
    """Of the certificate or of an issuer; nobody looks at how an authority has signed itself."""
    weak = rsa.generate_private_key(65537, 1024)
    strong = rsa.generate_private_key(65537, 2048)
    assert judged(ROOT.identity(HOST, key=weak)) == "weak_key"
    assert judged(ROOT.identity(HOST, key=strong)) is None
    assert judged(Authority("Weak", issuer=ROOT, key=weak).identity(HOST)) == "weak_key"
    root = Authority("RSA", key=strong)
    for signed in ("1.2.840.113549.1.1.5", "1.2.840.113549.1.1.4"):
        der = made.altered(root.identity(HOST), strong, {}, signed=signed)
        assert judged([der], roots=pem(root.root)) == "weak_signature"
    assert judged(root.identity(HOST), roots=pem(root.root)) is None


def test_extensions() -> None:
    """A critical one that nobody knows forbids the use; one that is there twice can be read in two ways."""
    unknown = made.extensions(made.extension("1.2.3.4", b"\5\0", critical=True))
    assert judged([made.altered(ROOT.identity(HOST), ROOT_KEY, {made.EXTENSIONS: unknown})]) == (
        "unknown_critical_extension"
    )
    names = made.extension("2.5.29.17", made.tlv(0x30, made.tlv(0x82, HOST.encode())))
    twice = made.altered(ROOT.identity(HOST), ROOT_KEY, {made.EXTENSIONS: made.extensions(names, names)})
    assert judged([twice]) is not None


def test_what_is_no_date_is_malformed() -> None:
    """And no serial number is wrong enough to matter."""
    field = made.validity(b"2601010000Z", b"3601010000Z")
    assert judged([made.altered(ROOT.identity(HOST), ROOT_KEY, {made.VALIDITY: field})]) == "malformed"
    for serial in (b"\2\1\0", b"\2\1\x80"):
        assert judged([made.altered(ROOT.identity(HOST), ROOT_KEY, {made.SERIAL: serial})]) is None


def test_what_is_no_certificate_is_malformed() -> None:
    """Bytes that OpenSSL cannot read, in any place of the chain."""
    assert judged([b"nonsense"]) == "malformed"
    assert judged([*made.chain(GOOD), b""]) == "malformed"


@pytest.mark.filterwarnings("ignore:Parsed a serial number")
def test_the_public_authorities_are_trusted() -> None:
    """Each vouches for itself."""
    with open(certifi.where(), "rb") as file:
        roots = x509.load_pem_x509_certificates(file.read())
    for root in roots:
        if root.not_valid_before_utc <= NOW <= root.not_valid_after_utc:
            assert judged([encoded(root)], roots=b"") in (None, "wrong_purpose")
        assert is_self_signed(encoded(root))


def test_a_chain_may_not_take_long() -> None:
    """Thousands of constraints on thousands of names, and a chain of fifty: each is over in a moment."""
    constraints = x509.NameConstraints(None, [x509.DNSName(f"n{number}.example.org") for number in range(3000)])
    names = [HOST, *(f"host-{number}.example.com" for number in range(3000))]
    wide = Authority("Wide", issuer=ROOT, constraints=constraints).identity(*names)
    authority = ROOT
    for number in range(45):
        authority = Authority(f"Step {number}", issuer=authority)
    begin = time.process_time()
    assert judged(wide) is not None
    assert judged(authority.identity(HOST)) is None
    assert time.process_time() - begin < 2
