"""Which keys are taken, and that none of those that are refused is quoted."""

import base64
import datetime
import json
import math
import random
import warnings

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.utils import CryptographyDeprecationWarning
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.jwt_verify.public_key import PublicKey, public_key
from jobs.jwt_verify.secret import Encoding as SecretEncoding
from jobs.jwt_verify.secret import SharedSecret, shared_secret
from shared.endpoint import InvalidField
from tests.each import each
from tests.jobs.jose import PUBLIC_KEY, RSA_E, RSA_ENCRYPTION, RSA_N, certificate, der, integer, pem, pkcs1, rs, spki

SIGNED, _, SIGNATURE = rs({"a": 1}, bits=384).rpartition(".")
RSASSA_PSS = bytes.fromhex("06092a864886f70d01010a")
CANARY = "Y2FuYXJ5LWluLWEta2V5"


def _is_it(key: PublicKey) -> bool:
    return key.verifies(SIGNED.encode(), base64.urlsafe_b64decode(SIGNATURE + "=="), bits=384)


def _refusal(text: str) -> str:
    with pytest.raises(InvalidField) as caught:
        public_key(text)
    assert (caught.value.code, caught.value.field) == ("invalid_key", "publicKey")
    return caught.value.detail


def _secret_refusal(text: str, encoding: SecretEncoding) -> str:
    with pytest.raises(InvalidField) as caught:
        shared_secret(text, encoding)
    assert (caught.value.code, caught.value.field) == ("invalid_key", "sharedSecret")
    return caught.value.detail


@each(
    "text",
    [
        PUBLIC_KEY,
        pem("RSA PUBLIC KEY", pkcs1()),
        pem("CERTIFICATE", certificate()),
        PUBLIC_KEY.replace("\n", "\r\n"),
        PUBLIC_KEY.replace("\n", "\r"),
        PUBLIC_KEY.replace("\n", "\\n"),
        PUBLIC_KEY.replace("\n", "\\r\\n"),
        PUBLIC_KEY.replace("\n", " "),
        PUBLIC_KEY.replace("\n", ""),
        PUBLIC_KEY.replace("\n", "\n    "),
        PUBLIC_KEY.strip(),
        f"\n\n  \t{PUBLIC_KEY}  \r\n\n",
        f"{PUBLIC_KEY}\\n",
    ],
)
def test_spellings_of_one_key(text: str) -> None:
    """The three kinds of block, and every way that line ends get lost, give the same key."""
    key = public_key(text)
    assert (key.family, key.weakness(384)) == ("RS", None)
    assert _is_it(key)


def test_as_tools_write_them() -> None:
    """The formats of another writer, and a certificate that another key signed."""
    key = rsa.RSAPublicNumbers(RSA_E, RSA_N).public_key()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "issuer")])
    day = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key, 1, day, day, [])
    for text in (
        key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        key.public_bytes(Encoding.PEM, PublicFormat.PKCS1),
        builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(Encoding.PEM),
    ):
        assert _is_it(public_key(text.decode()))


def test_private_keys_are_refused() -> None:
    """In all formats, encrypted or not, and beside a public key."""
    key = rsa.generate_private_key(65537, 1024)
    for format_ in (PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL):
        for cover in (NoEncryption(), BestAvailableEncryption(b"x")):
            assert "private key" in _refusal(key.private_bytes(Encoding.PEM, format_, cover).decode())
    openssh = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    assert "private key" in _refusal(openssh)
    assert "private key" in _refusal(PUBLIC_KEY + openssh)


def test_other_kinds_of_keys_are_refused() -> None:
    """A key that is not RSA, or is for RSA-PSS only, has another message than text that is no key."""
    curve = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([])
    day = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
    of_curve = x509.CertificateBuilder(name, name, curve.public_key(), 1, day, day, []).sign(curve, hashes.SHA256())
    for text in (
        curve.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        ed25519.Ed25519PrivateKey.generate()
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        .decode(),
        of_curve.public_bytes(Encoding.PEM).decode(),
        pem("PUBLIC KEY", spki(algorithm=RSASSA_PSS)),
        pem("CERTIFICATE", certificate(key=spki(algorithm=RSASSA_PSS))),
    ):
        assert _refusal(text).startswith("This is not an RSA key")


@each(
    ("text", "word"),
    [
        ("", "one PEM block"),
        ("secret", "one PEM block"),
        (base64.b64encode(spki()).decode(), "one PEM block"),
        (PUBLIC_KEY.replace("END PUBLIC", "END RSA PUBLIC"), "one PEM block"),
        (PUBLIC_KEY.replace("-----END", "----END"), "one PEM block"),
        (PUBLIC_KEY.replace("-----END PUBLIC KEY-----", ""), "one PEM block"),
        (PUBLIC_KEY.lower(), "one PEM block"),
        (f'"{PUBLIC_KEY}"', "one PEM block"),
        (f"Bag Attributes\n{PUBLIC_KEY}", "one PEM block"),
        (pem("CERTIFICATE REQUEST", spki()), "one PEM block"),
        (PUBLIC_KEY + PUBLIC_KEY, "more than one"),
        (pem("CERTIFICATE", certificate()) * 2, "more than one"),
        (json.dumps({"kty": "RSA", "n": CANARY, "e": "AQAB"}), "JSON Web Key"),
        (f"ssh-rsa {CANARY} ada@example", "OpenSSH"),
        (pem("PUBLIC KEY", b""), "not an RSA key"),
        (pem("PUBLIC KEY", spki() + b"\0"), "not a public key"),
        (pem("PUBLIC KEY", spki()[:-1]), "not a public key"),
        (pem("PUBLIC KEY", certificate()), "not an RSA key"),
        (pem("CERTIFICATE", spki()), "not a certificate"),
        (pem("CERTIFICATE", b""), "not a certificate"),
        (pem("CERTIFICATE", certificate(version=9)), "not a certificate"),
        (PUBLIC_KEY.replace("IB", "I*", 1), "not a public key"),
        (PUBLIC_KEY.replace("IB", "I\u00e9", 1), "not a public key"),
        (pem("PUBLIC KEY", b"x").replace("eA==", "eB=="), "not a public key"),
        (pem("PUBLIC KEY", b"x").replace("eA==", "eA"), "not a public key"),
        ("-----BEGIN PUBLIC KEY-----" + "A" * 16_000, "one PEM block"),
        ("-" * 16_384, "one PEM block"),
    ],
)
def test_text_that_is_no_key(text: str, word: str) -> None:
    """It is refused with a sentence that helps and does not quote it."""
    detail = _refusal(text)
    assert word in detail
    assert CANARY not in detail


def test_a_key_of_the_roca_generator_is_weak() -> None:
    """Its factors, and so its modulus, are powers of 65537 modulo the product of the small primes. Others are not."""
    small = math.prod(number for number in range(2, 702) if all(number % divisor for divisor in range(2, number)))
    modulus = (2**2047 // small + 1) * small + pow(65537, 12345, small)
    assert modulus.bit_length() == 2048
    weakness = public_key(pem("PUBLIC KEY", spki(modulus))).weakness(256)
    assert weakness is not None
    assert "ROCA" in weakness
    for other in (modulus + 2, RSA_N):
        assert public_key(pem("PUBLIC KEY", spki(other))).weakness(256) is None


@each(("bits", "weak"), [(1023, None), (1024, True), (2047, True), (2048, False), (8192, False), (8193, None)])
def test_sizes(bits: int, weak: bool | None) -> None:
    """1024 to 8192 bits are taken, and below 2048 there is a warning."""
    text = pem("PUBLIC KEY", spki(n=(1 << (bits - 1)) + 1))
    if weak is None:
        assert "1024 to 8192 bits" in _refusal(text)
    else:
        weakness = public_key(text).weakness(256)
        assert weakness == (f"The RSA key has {bits} bits; RFC 7518 demands 2048 or more." if weak else None)


@each(("e", "taken"), [(0, False), (1, False), (2, False), (3, True), (65537, True), ((1 << 64) - 1, True)])
def test_exponents(e: int, taken: bool) -> None:
    """Those that sign nothing are refused."""
    text = pem("RSA PUBLIC KEY", pkcs1(e=e))
    if taken:
        assert not _is_it(public_key(text)) or e == RSA_E
    else:
        assert "not a rsa public key" in _refusal(text)


def test_long_exponents() -> None:
    """More than 64 bits would make verifying slow."""
    assert "64 bits" in _refusal(pem("PUBLIC KEY", spki(e=(1 << 64) + 1)))
    assert "bits" in _refusal(pem("PUBLIC KEY", spki(n=(1 << 60_000) + 1, e=(1 << 30_000) + 1)))


def test_an_even_modulus_verifies_nothing() -> None:
    """And does not raise."""
    assert not _is_it(public_key(pem("PUBLIC KEY", spki(n=RSA_N - 1))))


def test_old_certificates_are_taken() -> None:
    """Serial number 0, which old tools wrote, is warned of by the library and nothing else."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always", CryptographyDeprecationWarning)
        assert _is_it(public_key(pem("CERTIFICATE", certificate(serial=0))))


@each("length", [0, 1, 255, 257, 10_000])
def test_signatures_of_another_length(length: int) -> None:
    """They are not of this key, and do not raise."""
    assert public_key(PUBLIC_KEY).verifies(b"x", b"\1" * length, bits=512) is False


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@pytest.mark.parametrize(
    ("label", "data"), [("PUBLIC KEY", spki()), ("RSA PUBLIC KEY", pkcs1()), ("CERTIFICATE", certificate())]
)
def test_damaged_keys(label: str, data: bytes) -> None:
    """Whatever bytes are changed, it is a key or it is refused."""
    draw = random.Random(20)
    codes = set()
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 3))):
            at = draw.randrange(min(len(damaged), draw.choice((40, len(damaged)))))
            damaged[at : at + draw.choice((0, 1, 1, 2))] = draw.randbytes(draw.choice((0, 1, 1)))
        try:
            key = public_key(pem(label, bytes(damaged)))
        except InvalidField as refused:
            codes.add(refused.code)
        else:
            assert _is_it(key) in (True, False)
    assert codes == {"invalid_key"}


@each(
    ("text", "encoding", "data"),
    [
        ("secret", "utf8", b"secret"),
        (" secret\n", "utf8", b" secret\n"),
        ("é😀", "utf8", "é😀".encode()),
        ("c2VjcmV0", "utf8", b"c2VjcmV0"),
        ("+/+/", "base64", b"\xfb\xff\xbf"),
        ("cw==", "base64", b"s"),
        ("-_-_", "base64url", b"\xfb\xff\xbf"),
        ("cw", "base64url", b"s"),
        ("cw==", "base64url", b"s"),
        ("c2U=", "base64url", b"se"),
        ("00ffA0", "hex", b"\x00\xff\xa0"),
        ("0" * 32, "utf8", b"0" * 32),
        ("0Y012345", "utf8", b"0Y012345"),
        ("ssh-my-secret", "utf8", b"ssh-my-secret"),
        ('{"secret": 1}', "utf8", b'{"secret": 1}'),
    ],
)
def test_secrets(text: str, encoding: SecretEncoding, data: bytes) -> None:
    """A secret is exactly the bytes that its encoding says; nothing is trimmed."""
    secret = shared_secret(text, encoding)
    assert (secret.data, secret.family) == (data, "HS")


@each(
    ("text", "encoding"),
    [
        ("cw", "base64"),
        ("cw=", "base64"),
        ("cx==", "base64"),
        ("c===", "base64"),
        ("-_-_", "base64"),
        ("c2Vj\n", "base64"),
        ("c2Vj cmV0", "base64"),
        ("+/+/", "base64url"),
        ("cw=", "base64url"),
        ("cw===", "base64url"),
        ("cx", "base64url"),
        ("c", "base64url"),
        ("abc", "hex"),
        ("0xab", "hex"),
        ("ab cd", "hex"),
        ("ab\n", "hex"),
        ("\u0661\u0662", "hex"),
    ],
)
def test_secrets_not_in_their_encoding(text: str, encoding: SecretEncoding) -> None:
    """Nothing is guessed: it is refused with the encoding's name."""
    detail = _secret_refusal(text, encoding)
    assert encoding in detail or encoding == "hex"
    assert text not in detail or len(text) < 3


@each("encoding", ["utf8", "base64", "base64url", "hex"])
def test_empty_secrets(encoding: SecretEncoding) -> None:
    """They are refused: anybody can sign with nothing."""
    assert _secret_refusal("", encoding) == "The secret is empty."


@each(
    "data",
    [
        PUBLIC_KEY.encode(),
        PUBLIC_KEY.strip().encode(),
        PUBLIC_KEY.replace("\n", "\\n").encode(),
        b"# mine\n" + pem("CERTIFICATE", certificate()).encode(),
        pem("RSA PRIVATE KEY", b"x").encode(),
        pem("ANY", b"x").encode(),
        b"ssh-rsa AAAAB3NzaC1yc2E",
        b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@example",
        b"ecdsa-sha2-nistp256 AAAAE2VjZHNh",
        b'{"kty":"RSA","n":"AQAB","e":"AQAB"}',
        b' {"kid": "1", "kty": "oct", "k": "c2VjcmV0"}',
        b'{"keys":[{"kty":"RSA"}]}',
        spki(),
        pkcs1(),
        pkcs1(n=(1 << 1023) + 1),
        certificate(),
        ec.generate_private_key(ec.SECP256R1())
        .public_key()
        .public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        ed25519.Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        spki().replace(RSA_ENCRYPTION, RSASSA_PSS),
        base64.b64encode(spki()),
        base64.encodebytes(certificate()),
        base64.b64encode(pkcs1()) + b"\n",
        base64.urlsafe_b64encode(certificate()).rstrip(b"="),
        base64.b64encode(PUBLIC_KEY.encode()),
    ],
)
def test_keys_are_no_secrets(data: bytes) -> None:
    """Text or bytes of a key pair are refused in every encoding: a token signed with a public key proves nothing."""
    encodings: list[tuple[str, SecretEncoding]] = [
        (data.hex(), "hex"),
        (base64.b64encode(data).decode(), "base64"),
        (base64.urlsafe_b64encode(data).decode(), "base64url"),
    ]
    if data.isascii():
        encodings.append((data.decode(), "utf8"))
    for text, encoding in encodings:
        assert "publicKey" in _secret_refusal(text, encoding)


@each(
    ("length", "bits", "weak"),
    [(31, 256, True), (32, 256, False), (47, 384, True), (48, 384, False), (63, 512, True), (64, 512, False)],
)
def test_short_secrets(length: int, bits: int, weak: bool) -> None:
    """RFC 7518 section 3.2: as long as the hash, or there is a warning."""
    assert (shared_secret("x" * length, "utf8").weakness(bits) is not None) is weak


@settings(deadline=None)
@given(st.text(max_size=80) | st.text(alphabet="-BEGINPUBLICKEYD \n\\nAz=", max_size=80))
def test_any_text_is_refused_as_a_public_key(text: str) -> None:
    """There is one exception, and it never quotes more than a word."""
    detail = _refusal(text)
    assert len(text) < 12 or text not in detail


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=80))
def test_any_bytes_are_a_secret(data: bytes) -> None:
    """In every encoding the same bytes come out."""
    for text, encoding in (
        (data.hex(), "hex"),
        (data.hex().upper(), "hex"),
        (base64.b64encode(data).decode(), "base64"),
        (base64.urlsafe_b64encode(data).decode(), "base64url"),
        (base64.urlsafe_b64encode(data).decode().rstrip("="), "base64url"),
    ):
        assert shared_secret(text, encoding).data == data


def test_keys_do_not_show_themselves() -> None:
    """Not in a traceback with local variables either."""
    assert CANARY not in repr(SharedSecret(CANARY.encode()))
    assert str(RSA_N) not in repr(public_key(PUBLIC_KEY))
    assert der(0x30, integer(5)) == b"\x30\x03\x02\x01\x05"
