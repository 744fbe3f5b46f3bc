"""Tokens that bind a payment to one request, on networks whose payments can carry a text: Solana's memo, XRPL's invoice.

A token is made for a challenge and stored nowhere. It holds its expiry and a proof that it is ours, for this endpoint and, if
the challenge answered a request with a short body, for exactly these bytes. The ledger ensures that it pays once.
"""

import base64
import binascii
import hashlib
import hmac
import random

from shared.sealing.sealing import derive

LIFE_S = 600
"""How long a token is valid, in seconds. Official clients pay within seconds; an agent may ask a person first."""
TOKEN_CHARS = 28
"""Solana's official clients ask for 20,000 units of computation. A memo of 28 characters takes 11,508 of them, one of 40 15,865
(measured), and what the transfer needs has to fit in as well."""

_HEAD_BYTES, _SALT_BYTES, _PROOF_BYTES = 4, 5, 12
_THIS_BODY = 1 << 31


class Binder:
    """Makes and checks tokens, which all API processes of an installation share.

    Args:
        master: the 32 bytes of the key file.
        previous: those of the file before it: its tokens are taken, and none are made.
    """

    def __init__(self, master: bytes, previous: bytes | None = None) -> None:
        self._key = derive(master, "request-binding")
        self._previous = None if previous is None else Binder(previous)

    def token(self, endpoint_name: str, body: bytes | None, now: int) -> str:
        """A new token: URL-safe base64.

        Args:
            body: the body to bind to. None or empty binds to no body.
            now: Unix seconds.
        """
        # The unit is two seconds, which leaves one bit for the kind of binding until the year 2106.
        expiry = (now + LIFE_S + 1) // 2 | (_THIS_BODY if body else 0)
        # The salt must be unique, not secret: the proof protects the token.
        salt = random.getrandbits(8 * _SALT_BYTES)
        head = expiry.to_bytes(_HEAD_BYTES, "big") + salt.to_bytes(_SALT_BYTES, "big")
        return base64.urlsafe_b64encode(head + self._proof(head, endpoint_name, body)).decode()

    def binds(self, token: str, endpoint_name: str, body: bytes, now: int) -> bool:
        """Whether the token is ours, valid at `now` and for this request."""
        raw = _raw(token)
        head, proof = raw[:-_PROOF_BYTES], raw[-_PROOF_BYTES:]
        if not raw or expiry(token) < now:
            return False
        if hmac.compare_digest(proof, self._proof(head, endpoint_name, body)):
            return True
        return self._previous is not None and self._previous.binds(token, endpoint_name, body, now)

    def _proof(self, head: bytes, endpoint_name: str, body: bytes | None) -> bytes:
        digest = hashlib.blake2b(head, key=self._key, digest_size=_PROOF_BYTES)
        if _first(head) & _THIS_BODY:
            digest.update(hashlib.blake2b(body or b"", digest_size=32).digest())
        digest.update(endpoint_name.encode())
        return digest.digest()


def expiry(token: str) -> int:
    """The last second in which a token is valid, in Unix seconds; 0 when it is none."""
    return 2 * (_first(_raw(token)) & ~_THIS_BODY)


def _raw(token: str) -> bytes:
    """What a token says; empty when it has not the form of one."""
    try:
        raw = base64.urlsafe_b64decode(token.encode("ascii"))
    except (UnicodeEncodeError, binascii.Error):
        return b""
    # Python decodes other spellings too, and the ledger would take another spelling for another token.
    return raw if len(token) == TOKEN_CHARS and base64.urlsafe_b64encode(raw).decode() == token else b""


def _first(head: bytes) -> int:
    return int.from_bytes(head[:_HEAD_BYTES], "big")
