"""Shared secrets, for HS256, HS384 and HS512.

A public key is never a secret. A text that is one, or its bytes or base64 (a PEM block without its first and last line), is
refused. So a token that was "signed" with the text of a public key never passes.
"""

import base64
import hmac
import re
from dataclasses import dataclass
from typing import Literal

from jobs.jwt_verify.key import Family, invalid_key
from jobs.jwt_verify.token import base64url, standard_base64

Encoding = Literal["utf8", "base64", "base64url", "hex"]

_FIELD = "sharedSecret"
_STANDARD = bytes.maketrans(b"-_", b"+/")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})*", re.ASCII)
_FORM = {
    "base64": "base64 with its padding, and nothing else",
    "base64url": "base64url, with all of its padding or none, and nothing else",
    "hex": "pairs of hexadecimal digits, and nothing else",
}

_KEY = re.compile(
    rb"""
      -----BEGIN[ ]                                         # PEM
    | \A\s*(?:ssh-[a-z0-9]+|ecdsa-sha2-[a-z0-9]+)\s+AAAA    # OpenSSH
    | \A\s*[\[{].*"kty"                                     # JSON Web Key
    | \x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01[\x01\x0a]     # DER: rsaEncryption, id-RSASSA-PSS
    | \x06\x07\x2a\x86\x48\xce\x3d\x02\x01                  # DER: id-ecPublicKey
    | \x30\x05\x06\x03\x2b\x65[\x6e-\x71]                   # DER: X25519, X448, Ed25519, Ed448
    | \A\x30(?:\x81.|\x82..)\x02(?:\x81.|\x82..)\x00        # DER: PKCS #1
    """,
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, repr=False)
class SharedSecret:
    """The bytes that both sides know."""

    data: bytes
    family: Family = "HS"

    def verifies(self, message: bytes, signature: bytes, *, bits: int) -> bool:
        """Verify in constant time, for a signature of the right length."""
        return hmac.compare_digest(hmac.digest(self.data, message, f"sha{bits}"), signature)

    def weakness(self, bits: int | None) -> str | None:
        """RFC 7518 section 3.2: the secret must be at least as long as the hash."""
        needed = (bits or 256) // 8
        if len(self.data) >= needed:
            return None
        return f"The shared secret is shorter than the {needed} bytes that RFC 7518 demands for this algorithm."


def shared_secret(text: str, encoding: Encoding) -> SharedSecret:
    """Read a secret.

    Raises:
        InvalidField: `invalid_key` when it is empty, not in this encoding, or a public or private key.
    """
    data = _decoded(text, encoding)
    if data is None:
        raise invalid_key(f"The secret is not {_FORM[encoding]}.", _FIELD)
    if not data:
        raise invalid_key("The secret is empty.", _FIELD)
    if _KEY.search(data) or _KEY.search(_unwrapped(data)):
        detail = "This is a key of a key pair or a JSON Web Key, not a shared secret. Send a public key as publicKey."
        raise invalid_key(detail, _FIELD)
    return SharedSecret(data)


def _unwrapped(data: bytes) -> bytes:
    """Decode base64 in either alphabet, with or without line breaks and padding. Empty when this is not base64."""
    bare = b"".join(data.split()).translate(_STANDARD).rstrip(b"=")
    try:
        return base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True)
    except ValueError:
        return b""


def _decoded(text: str, encoding: Encoding) -> bytes | None:
    if encoding == "utf8":
        return text.encode()
    if encoding == "hex":
        return bytes.fromhex(text) if _HEX.fullmatch(text) else None
    if encoding == "base64url":
        bare = text.rstrip("=")
        padded = len(text) % 4 == 0 and len(text) - len(bare) <= 2
        return base64url(bare) if padded or bare == text else None
    return standard_base64(text)
