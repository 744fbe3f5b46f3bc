"""Tokens and keys made by hand, so that what is tested is not also what tests it: hmac, integer powers and DER, no library.

The RSA key is the one of RFC 7520 section 3.4, whose private exponent everybody knows.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

SECRET = "a shared secret that is long enough for any of the three hashes: 64+"
NOW = 1_767_225_600
"""2026-01-01T00:00:00Z."""

RSA_N = int.from_bytes(
    base64.urlsafe_b64decode(
        "n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_Ns"
        "YOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCu"
        "EHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw=="
    )
)
_RSA_D = int.from_bytes(
    base64.urlsafe_b64decode(
        "bWUC9B-EFRIo8kpGfh0ZuyGPvMNKvYWNtB_ikiH9k20eT-O1q_I78eiZkpXxXQ0UTEs2LsNRS-8uJbvQ-A1irkwMSMkK1J3XTGgdrhCku9gRldY7sNA_"
        "AKZGh-Q661_42rINLRCe8W-nZ34ui_qOfkLnK9QWDDqpaIsA-bMwWWSDFu2MUBYwkHTMEzLYGqOe04noqeq1hExBTHBOBdkMXiuFhUq1BU6l-DqEiWxq"
        "g82sXt2h-LMnT3046AOYJoRioz75tSUQfGCshWTBnP5uDjd18kKhyv07lhfSJdrPdM5Plyl21hsFf4L_mHCuoFau7gdsPfHPxxjVOcOpBrQzwQ=="
    )
)
RSA_E = 65537

# RFC 8017 section 9.2, note 1: the DER in front of a hash.
_DIGEST_INFO = {
    256: bytes.fromhex("3031300d060960864801650304020105000420"),
    384: bytes.fromhex("3041300d060960864801650304020205000430"),
    512: bytes.fromhex("3051300d060960864801650304020305000440"),
}


def b64u(data: bytes | str) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data.encode() if isinstance(data, str) else data).rstrip(b"=").decode()


def signing_input(header: Any, payload: Any) -> str:
    """The first two parts. Text and bytes are taken as they are, anything else is written as JSON."""

    def part(value: Any) -> str:
        return b64u(value if isinstance(value, bytes | str) else json.dumps(value))

    return f"{part(header)}.{part(payload)}"


def hs(payload: Any, header: Any = None, *, secret: bytes | str = SECRET, bits: int = 256) -> str:
    """A token signed with a secret. The header need not say so."""
    data = signing_input({"alg": f"HS{bits}"} if header is None else header, payload)
    key = secret.encode() if isinstance(secret, str) else secret
    return f"{data}.{b64u(hmac.new(key, data.encode(), f'sha{bits}').digest())}"


def rs(payload: Any, header: Any = None, *, bits: int = 256) -> str:
    """A token signed with the RSA key, by RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2.1)."""
    data = signing_input({"alg": f"RS{bits}"} if header is None else header, payload)
    tail = _DIGEST_INFO[bits] + hashlib.new(f"sha{bits}", data.encode()).digest()
    padded = b"\x00\x01" + b"\xff" * (256 - 3 - len(tail)) + b"\x00" + tail
    return f"{data}.{b64u(pow(int.from_bytes(padded), _RSA_D, RSA_N).to_bytes(256))}"


def der(tag: int, *contents: bytes) -> bytes:
    """One DER value."""
    content = b"".join(contents)
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + content


def integer(value: int) -> bytes:
    """A DER INTEGER that is not negative."""
    return der(0x02, value.to_bytes(value.bit_length() // 8 + 1))


RSA_ENCRYPTION = bytes.fromhex("06092a864886f70d010101")


def pkcs1(n: int = RSA_N, e: int = RSA_E) -> bytes:
    """RSAPublicKey of RFC 8017 appendix A.1.1."""
    return der(0x30, integer(n), integer(e))


def spki(n: int = RSA_N, e: int = RSA_E, *, algorithm: bytes = RSA_ENCRYPTION + b"\x05\x00") -> bytes:
    """SubjectPublicKeyInfo of RFC 5280 section 4.1."""
    return der(0x30, der(0x30, algorithm), der(0x03, b"\x00", pkcs1(n, e)))


def certificate(*, key: bytes | None = None, version: int = 2, serial: int = 7) -> bytes:
    """A certificate whose dates are long past and whose signature is nonsense."""
    name = der(0x30, der(0x31, der(0x30, bytes.fromhex("0603550403"), der(0x0C, b"x"))))
    algorithm = der(0x30, bytes.fromhex("06092a864886f70d01010b"), b"\x05\x00")
    dates = der(0x30, der(0x17, b"000101000000Z"), der(0x17, b"010101000000Z"))
    body = der(
        0x30, der(0xA0, integer(version)), integer(serial), algorithm, name, dates, name, spki() if key is None else key
    )
    return der(0x30, body, algorithm, der(0x03, b"\x00" + b"\x55" * 256))


def pem(label: str, data: bytes) -> str:
    """RFC 7468."""
    return f"-----BEGIN {label}-----\n{base64.encodebytes(data).decode()}-----END {label}-----\n"


PUBLIC_KEY = pem("PUBLIC KEY", spki())
