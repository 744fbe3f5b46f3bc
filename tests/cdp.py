"""A strict double of what Coinbase's gateway checks of a call's token, without the library that makes ours.

Rules: https://docs.cdp.coinbase.com/api-reference/v2/authentication, and the official `cdp-sdk` 1.51.0 for Python.
"""

import base64
import json
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

ED25519_ID, ES256_ID = "12345678-1234-1234-1234-123456789abc", "organizations/a/apiKeys/b"
ED25519 = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
ES256 = derive_private_key(int.from_bytes(bytes(range(1, 33)), "big"), SECP256R1())
PEM = ES256.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()

FILES: dict[str, dict[str, str]] = {
    ED25519_ID: {
        "id": ED25519_ID,
        "privateKey": base64.b64encode(bytes(range(32)) + ED25519.public_key().public_bytes_raw()).decode(),
    },
    ES256_ID: {"name": ES256_ID, "privateKey": PEM},
}
"""By key id: what the portal gives."""
_KEYS: dict[str, tuple[str, Ed25519PrivateKey | EllipticCurvePrivateKey]] = {
    ED25519_ID: ("EdDSA", ED25519),
    ES256_ID: ("ES256", ES256),
}


class Gateway:
    """Takes each token once, for the call that it was made for."""

    def __init__(self) -> None:
        self._nonces: set[str] = set()

    def refusal(self, authorization: str, call: str, now: float) -> str:
        """Why a call is 401, or nothing.

        Args:
            call: method, host and path, ``GET api.cdp.coinbase.com/platform/v2/x402/supported``.
            now: Unix seconds.
        """
        scheme, _, token = authorization.partition(" ")
        parts = token.split(".")
        if scheme != "Bearer" or len(parts) != 3:
            return "no token"
        header, claims = (json.loads(_decoded(part)) for part in parts[:2])
        if header.get("kid") not in _KEYS or set(header) != {"alg", "kid", "nonce", "typ"} or header["typ"] != "JWT":
            return "header"
        if not _is_signed(header, f"{parts[0]}.{parts[1]}".encode(), _decoded(parts[2])):
            return "signature"
        if not isinstance(header["nonce"], str) or len(header["nonce"]) < 16 or header["nonce"] in self._nonces:
            return "nonce"
        self._nonces.add(header["nonce"])
        return _refused(claims, header["kid"], call, now)


def _refused(claims: dict[str, Any], key_id: str, call: str, now: float) -> str:
    if claims.pop("aud", None) is not None or set(claims) != {"sub", "iss", "nbf", "exp", "uris"}:
        return "claims"
    if (claims["sub"], claims["iss"]) != (key_id, "cdp"):
        return "sub or iss"
    if type(claims["nbf"]) is not int or type(claims["exp"]) is not int or claims["exp"] - claims["nbf"] > 120:
        return "life"
    if not claims["nbf"] <= now < claims["exp"]:
        return "expired"
    return "" if claims["uris"] == [call] else "uris"


def _is_signed(header: dict[str, Any], signed: bytes, signature: bytes) -> bool:
    algorithm, key = _KEYS[header["kid"]]
    try:
        if header["alg"] != algorithm or len(signature) != 64:
            return False
        if isinstance(key, Ed25519PrivateKey):
            key.public_key().verify(signature, signed)
        else:
            r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
            key.public_key().verify(encode_dss_signature(r, s), signed, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _decoded(part: str) -> bytes:
    assert "=" not in part
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
