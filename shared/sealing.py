"""Sealed job arguments: a dashboard, a log or a dead letter that shows a message never shows a caller's body."""

from __future__ import annotations

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12
_NONCES_DRAWN = 512


class Unsealable(ValueError):
    """Sealed under another key, for another job, or damaged."""


def derive(master: bytes, purpose: str) -> bytes:
    """A 32-byte key of its own for each purpose (at most 16 ASCII characters)."""
    return hashlib.blake2b(key=master, person=purpose.encode("ascii"), digest_size=32).digest()


class Sealer:
    """AES-256-GCM with a random 96-bit nonce.

    Args:
        master: the 32 bytes of the key file.
        purpose: what is sealed; each has a key of its own.
    """

    def __init__(self, master: bytes, purpose: str = "job-arguments") -> None:
        self._cipher = AESGCM(derive(master, purpose))
        self._nonces: list[bytes] = []
        self._drawn_by = 0

    def seal(self, plain: bytes, bound_to: bytes) -> bytes:
        """Encrypt; only `open` with the same `bound_to` gives it back."""
        nonce = self._nonce()
        return nonce + self._cipher.encrypt(nonce, plain, bound_to)

    def _nonce(self) -> bytes:
        # Drawn in bulk: os.urandom lets other threads in, and under load the way back costs 5 us a call. A forked process
        # draws its own: the same nonce twice would give the key away.
        if not self._nonces or self._drawn_by != os.getpid():
            drawn = os.urandom(_NONCE_BYTES * _NONCES_DRAWN)
            self._nonces = [drawn[at : at + _NONCE_BYTES] for at in range(0, len(drawn), _NONCE_BYTES)]
            self._drawn_by = os.getpid()
        return self._nonces.pop()

    def open(self, sealed: bytes, bound_to: bytes) -> bytes:
        """Raises Unsealable."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound_to)
        except (InvalidTag, ValueError):
            raise Unsealable("arguments were sealed under another key or for another job") from None
