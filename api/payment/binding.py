"""Tokens that bind a payment to one request, on networks whose payments can carry a text: Solana's memo, XRPL's invoice.

A token is made for a challenge and stored nowhere: it says until when it is good and proves that it is ours, for this endpoint
and, if the challenge answered a request with a short body, for exactly these bytes. That it pays once is the ledger's matter.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import random

from shared.sealing import derive

LIFE_S = 600
"""How long a token can be paid with. Official clients pay within seconds; an agent may ask a person first."""
TOKEN_CHARS = 40

_EXPIRY_BYTES, _SALT_BYTES, _PROOF_BYTES = 4, 9, 16
_ANY_BODY, _THIS_BODY = b"\0", b"\1"


class Binder:
    """Makes and judges tokens. Every API process of an installation gives and takes the same.

    Args:
        master: the 32 bytes of the key file.
    """

    def __init__(self, master: bytes) -> None:
        self._key = derive(master, "request-binding")

    def token(self, endpoint_name: str, body: bytes | None, now: int) -> str:
        """A new one: 40 characters of URL-safe base64.

        Args:
            body: None or empty: whatever body the paid request will have.
            now: Unix seconds.
        """
        kind = _THIS_BODY if body else _ANY_BODY
        expiry = (now + LIFE_S).to_bytes(_EXPIRY_BYTES, "big")
        # Unique is enough: what it opens is proven by the rest.
        head = expiry + random.getrandbits(8 * _SALT_BYTES).to_bytes(_SALT_BYTES, "big") + kind
        return base64.urlsafe_b64encode(head + self._proof(head, endpoint_name, body)).decode()

    def binds(self, token: str, endpoint_name: str, body: bytes, now: int) -> bool:
        """Whether the token is ours, good at `now` and for this request."""
        try:
            raw = base64.urlsafe_b64decode(token.encode("ascii"))
        except (UnicodeEncodeError, binascii.Error):
            return False
        # Python reads much else as base64, and a token in other words would be another one to the ledger.
        if len(token) != TOKEN_CHARS or base64.urlsafe_b64encode(raw).decode() != token:
            return False
        head, proof = raw[:-_PROOF_BYTES], raw[-_PROOF_BYTES:]
        if int.from_bytes(head[:_EXPIRY_BYTES], "big") < now:
            return False
        return hmac.compare_digest(proof, self._proof(head, endpoint_name, body))

    def _proof(self, head: bytes, endpoint_name: str, body: bytes | None) -> bytes:
        digest = hashlib.blake2b(head, key=self._key, digest_size=_PROOF_BYTES)
        if head[-1:] == _THIS_BODY:
            digest.update(hashlib.blake2b(body or b"", digest_size=32).digest())
        digest.update(endpoint_name.encode())
        return digest.digest()
