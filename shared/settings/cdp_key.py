"""Coinbase's API keys. Its facilitator wants a new token with every call, signed for that call's method, host and path.

Rules: https://docs.cdp.coinbase.com/api-reference/v2/authentication, and the official `cdp-sdk` 1.51.0 for Python.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from shared.settings.secret_files import read_content
from shared.settings.service import InvalidSetting

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LIFE_S = 120
"""How long a token is valid. Coinbase takes no longer ones."""
_MAX_BYTES = 8 * 1024
_ID = re.compile(r"[A-Za-z0-9/_-]{1,512}", re.ASCII)
_SEED_BYTES, _PUBLIC_BYTES = 32, 32


class _File(msgspec.Struct, frozen=True):
    """What Coinbase's portal gives: keys with Ed25519 have an `id`, older ones with ES256 only a `name`, which is their id."""

    private_key: str = msgspec.field(name="privateKey")
    id: str = ""
    name: str = ""


class CdpKey:
    """An API key of Coinbase Developer Platform. repr() shows nothing of it."""

    def __init__(self, key_id: str, key: Ed25519PrivateKey | EllipticCurvePrivateKey, algorithm: str) -> None:
        self._id = key_id
        self._key = key
        self._algorithm = algorithm

    def headers(self, method: str, url: str) -> dict[str, str]:
        """The header of one call, with a new token.

        Args:
            url: full address of the call. What a token is for leaves out the query and a password.
        """
        import jwt

        parts = urlsplit(url)
        now = int(time.time())
        claims = {
            "sub": self._id,
            "iss": "cdp",
            "nbf": now,
            "exp": now + LIFE_S,
            "uris": [f"{method} {parts.netloc.rpartition('@')[2]}{parts.path}"],
        }
        header = {"kid": self._id, "nonce": secrets.token_hex(16)}
        token = jwt.encode(claims, self._key, algorithm=self._algorithm, headers=header)
        return {"authorization": f"Bearer {token}"}


def read_cdp_key(path: str) -> CdpKey | None:
    """Read the JSON file that Coinbase's portal gives for an API key.

    Args:
        path: an empty path means that there is none.

    Raises:
        InvalidSetting: the file is missing or has another form.
    """
    if not path:
        return None
    content = read_content(path, "CDP key file", _MAX_BYTES)
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise InvalidSetting(f"the CDP key file {path} is not the JSON file of Coinbase's portal") from None
    key_id = file.id or file.name
    if not _ID.fullmatch(key_id):
        raise InvalidSetting(f"the CDP key file {path} names no key: `id` or `name` is missing or has another form")
    return _es256(key_id, file.private_key, path) if "BEGIN" in file.private_key else _ed25519(key_id, file, path)


def _ed25519(key_id: str, file: _File, path: str) -> CdpKey:
    """Base64 of 64 bytes: the seed and the public key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        raw = base64.b64decode("".join(file.private_key.split()), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) == _SEED_BYTES + _PUBLIC_BYTES:
        key = Ed25519PrivateKey.from_private_bytes(raw[:_SEED_BYTES])
        if key.public_key().public_bytes_raw() == raw[_SEED_BYTES:]:
            return CdpKey(key_id, key, "EdDSA")
    raise InvalidSetting(f"the `privateKey` of the CDP key file {path} is neither an Ed25519 nor an ES256 key")


def _es256(key_id: str, text: str, path: str) -> CdpKey:
    """PEM of a key on P-256. Some tools write its line ends as a backslash and an n."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(text.replace("\\n", "\n").encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, EllipticCurvePrivateKey) and isinstance(key.curve, SECP256R1):
        return CdpKey(key_id, key, "ES256")
    raise InvalidSetting(f"the `privateKey` of the CDP key file {path} is not a private key on P-256 (ES256)")
