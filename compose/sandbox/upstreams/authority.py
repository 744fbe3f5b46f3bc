"""A certificate authority for one sandbox, and the certificates that it makes."""

from __future__ import annotations

import datetime
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate with what is sent beside it, and its key."""

    chain: Sequence[x509.Certificate]
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate(self) -> x509.Certificate:
        """The leaf."""
        return self.chain[0]

    def chain_pem(self) -> bytes:
        """The leaf first."""
        return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in self.chain)

    def key_pem(self) -> bytes:
        """PKCS 8, unencrypted."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def server_context(self) -> ssl.SSLContext:
        """For a server that shows it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:  # ssl reads files only
            file.write(self.chain_pem() + self.key_pem())
            file.flush()
            context.load_cert_chain(file.name)
        return context


class Authority:
    """A root that nobody trusts but who is told to."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = _name("Coinslot Sandbox Root")
        now = datetime.datetime.now(datetime.UTC)
        self.root = (
            _builder(name, name, self._key.public_key(), now - _DAY, now + 30 * _DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(ca=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def write_root(self, path: Path) -> Path:
        """As PEM, for COINSLOT_CA_FILE."""
        path.write_bytes(self.root.public_bytes(serialization.Encoding.PEM))
        return path

    def identity(
        self,
        *names: str,
        not_before: datetime.datetime | None = None,
        not_after: datetime.datetime | None = None,
    ) -> Identity:
        """A certificate for these DNS names, the first of which is its common name."""
        now = datetime.datetime.now(datetime.UTC)
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(
                _name(names[0]),
                self.root.subject,
                key.public_key(),
                not_before or now - _DAY,
                not_after or now + 20 * _DAY,
            )
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(ca=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return Identity([certificate], key)


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
    public_key: ec.EllipticCurvePublicKey,
    not_before: datetime.datetime,
    not_after: datetime.datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before)
        .not_valid_after(not_after)
    )


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )
