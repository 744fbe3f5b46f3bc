"""A certificate authority for one sandbox, and the certificates that it makes, good and bad."""

import datetime
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = (
    ec.EllipticCurvePrivateKey
    | rsa.RSAPrivateKey
    | dsa.DSAPrivateKey
    | ed25519.Ed25519PrivateKey
    | ed448.Ed448PrivateKey
)

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate, the certificates that are sent with it, and its key."""

    chain: Sequence[x509.Certificate]
    key: Key

    @property
    def certificate(self) -> x509.Certificate:
        """The leaf."""
        return self.chain[0]

    def showing(self, *chain: x509.Certificate) -> "Identity":
        """The same leaf with other certificates beside it."""
        return replace(self, chain=[self.certificate, *chain])

    def chain_pem(self) -> bytes:
        """The leaf first."""
        return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in self.chain)

    def key_pem(self) -> bytes:
        """PKCS 8, unencrypted."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def server_context(self, *, ciphers: str = "DEFAULT") -> ssl.SSLContext:
        """A server's TLS context with this certificate. OpenSSL refuses weak keys unless the ciphers have ``@SECLEVEL=0``."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers(ciphers)
        with tempfile.NamedTemporaryFile() as file:  # ssl reads files only
            file.write(self.chain_pem() + self.key_pem())
            file.flush()
            context.load_cert_chain(file.name)
        return context


class Authority:
    """A private root, or an intermediate.

    Args:
        issuer: of an intermediate; None for a root.
        path_length: how many intermediates may follow it.
        constraints: names that it may issue certificates for.
    """

    def __init__(
        self,
        common_name: str = "Coinslot Sandbox Root",
        *,
        issuer: "Authority | None" = None,
        key: Key | None = None,
        path_length: int | None = None,
        constraints: x509.NameConstraints | None = None,
        not_after: datetime.datetime | None = None,
    ) -> None:
        self._key: Key = key or ec.generate_private_key(ec.SECP256R1())
        name = _name(common_name)
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            _builder(
                name,
                issuer.certificate.subject if issuer else name,
                self._key,
                now - 30 * _DAY,
                not_after or now + 180 * _DAY,
            )
            .add_extension(x509.BasicConstraints(ca=True, path_length=path_length), critical=True)
            .add_extension(_key_usage(ca=True), critical=True)
        )
        if constraints is not None:
            builder = builder.add_extension(constraints, critical=True)
        self.certificate: x509.Certificate = (issuer or self).sign(builder)
        self.root: x509.Certificate = issuer.root if issuer else self.certificate
        self.sent: Sequence[x509.Certificate] = [self.certificate, *issuer.sent] if issuer else []
        """The certificates that a server sends with a leaf of this authority."""

    def write_root(self, path: Path) -> Path:
        """As PEM, for COINSLOT_CA_FILE."""
        path.write_bytes(self.root.public_bytes(serialization.Encoding.PEM))
        return path

    def identity(
        self,
        *names: str | x509.GeneralName,
        not_before: datetime.datetime | None = None,
        not_after: datetime.datetime | None = None,
        key: Key | None = None,
        purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
    ) -> Identity:
        """A certificate for these names. Texts are DNS names, and the first name is the common name."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        builder = _leaf(names, self.certificate.subject, key, not_before, not_after, purpose)
        return Identity([self.sign(builder), *self.sent], key)

    def sign(self, builder: x509.CertificateBuilder) -> x509.Certificate:
        """A certificate from any builder, signed by this authority."""
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return _signed(builder.add_extension(identifier, critical=False), self._key)


def self_signed(
    *names: str | x509.GeneralName,
    not_before: datetime.datetime | None = None,
    not_after: datetime.datetime | None = None,
    key: Key | None = None,
) -> Identity:
    """A self-signed certificate for these names."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    builder = _leaf(names, _name(_text(names[0])), key, not_before, not_after, ExtendedKeyUsageOID.SERVER_AUTH)
    return Identity([_signed(builder, key)], key)


def _leaf(
    names: Sequence[str | x509.GeneralName],
    issuer: x509.Name,
    key: Key,
    not_before: datetime.datetime | None,
    not_after: datetime.datetime | None,
    purpose: x509.ObjectIdentifier,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    # An hour more than whole days, so that the number of days left does not change for an hour.
    not_after = not_after or now + 90 * _DAY + datetime.timedelta(hours=1)
    alternatives = [x509.DNSName(name) if isinstance(name, str) else name for name in names]
    return (
        _builder(_name(_text(names[0])), issuer, key, not_before or now - _DAY, not_after)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(ca=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    )


def _signed(builder: x509.CertificateBuilder, key: Key) -> x509.Certificate:
    has_own_digest = isinstance(key, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey)
    return builder.sign(key, None if has_own_digest else hashes.SHA256())


def _text(name: str | x509.GeneralName) -> str:
    return name if isinstance(name, str) else str(name.value)


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Coinslot Sandbox"),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name[:64]),
        ]
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: Key,
    not_before: datetime.datetime,
    not_after: datetime.datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before)
        .not_valid_after(not_after)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not ca,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )
