"""Certificates that no library makes: parts of good ones replaced, and signed again."""

from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from compose.sandbox.upstreams.authority import Identity, Key

SERIAL, ALGORITHM, ISSUER, VALIDITY, SUBJECT, PUBLIC_KEY, EXTENSIONS = range(1, 8)
"""Places of a certificate's fields, where the version is 0 (RFC 5280, 4.1)."""

Extensions = Mapping[str, tuple[bool, bytes] | None]

DIGESTS = {
    "1.2.840.113549.1.1.4": hashes.MD5,
    "1.2.840.113549.1.1.5": hashes.SHA1,
    "1.2.840.113549.1.1.11": hashes.SHA256,
    "1.2.840.10045.4.3.2": hashes.SHA256,
}


def tlv(tag: int, *parts: bytes) -> bytes:
    """One element."""
    content = b"".join(parts)
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + content


def oid(text: str) -> bytes:
    """An object identifier."""
    first, second, *others = map(int, text.split("."))
    encoded = bytes([40 * first + second])
    for arc in others:
        groups = [arc >> shift & 0x7F for shift in range(7 * ((max(arc.bit_length(), 1) - 1) // 7), -1, -7)]
        encoded += bytes([*(0x80 | group for group in groups[:-1]), groups[-1]])
    return tlv(0x06, encoded)


def algorithm(text: str, *parameters: bytes) -> bytes:
    """An AlgorithmIdentifier."""
    return tlv(0x30, oid(text), *parameters)


def name(*relatives: Sequence[tuple[str, int, bytes]]) -> bytes:
    """A Name of attributes: type, tag of the string, its bytes."""
    return tlv(
        0x30,
        *(
            tlv(0x31, *(tlv(0x30, oid(kind), tlv(tag, value)) for kind, tag, value in relative))
            for relative in relatives
        ),
    )


def validity(not_before: bytes, not_after: bytes, tag: int = 0x17) -> bytes:
    """Two times."""
    return tlv(0x30, tlv(tag, not_before), tlv(tag, not_after))


def extension(kind: str, value: bytes, *, critical: bool = False) -> bytes:
    """An Extension."""
    return tlv(0x30, oid(kind), tlv(0x01, b"\xff") if critical else b"", tlv(0x04, value))


def extensions(*found: bytes) -> bytes:
    """The field of a certificate."""
    return tlv(0xA3, tlv(0x30, *found))


def other_extensions(identity: Identity, changes: Extensions) -> bytes:
    """The field of the leaf, with other extensions: whether each is critical, and its value; None for none."""
    found: dict[str, tuple[bool, bytes] | None] = {
        known.oid.dotted_string: (known.critical, known.value.public_bytes())
        for known in identity.certificate.extensions
    }
    kept = [(name, *known) for name, known in {**found, **changes}.items() if known]
    return extensions(*[extension(name, value, critical=critical) for name, critical, value in kept])


def der(identity: Identity) -> bytes:
    """Of the leaf."""
    return identity.certificate.public_bytes(serialization.Encoding.DER)


def chain(identity: Identity) -> list[bytes]:
    """As it is sent."""
    return [certificate.public_bytes(serialization.Encoding.DER) for certificate in identity.chain]


def altered(identity: Identity, key: Key, changes: Mapping[int, bytes], *, signed: str | None = None) -> bytes:
    """The leaf with other fields, signed with a key.

    Args:
        key: RSA or EC.
        signed: with this signature algorithm.
    """
    fields = _split(_content(identity.certificate.tbs_certificate_bytes))
    text = signed or ("1.2.840.113549.1.1.11" if isinstance(key, rsa.RSAPrivateKey) else "1.2.840.10045.4.3.2")
    how = algorithm(text, b"\x05\x00") if isinstance(key, rsa.RSAPrivateKey) else algorithm(text)
    changed = {ALGORITHM: how, **changes}
    body = tlv(0x30, *(changed.get(place, field) for place, field in enumerate(fields)))
    return tlv(0x30, body, how, tlv(0x03, b"\0", _signature(key, body, DIGESTS[text]())))


def _signature(key: Key, body: bytes, digest: hashes.HashAlgorithm) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(body, padding.PKCS1v15(), digest)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key.sign(body, ec.ECDSA(digest))


def _content(element: bytes) -> bytes:
    return element[_header(element) :]


def _header(element: bytes) -> int:
    return 2 + (element[1] & 0x7F if element[1] & 0x80 else 0)


def _split(content: bytes) -> list[bytes]:
    found = []
    while content:
        header = _header(content)
        length = int.from_bytes(content[2:header]) if content[1] & 0x80 else content[1]
        found.append(content[: header + length])
        content = content[header + length :]
    return found
