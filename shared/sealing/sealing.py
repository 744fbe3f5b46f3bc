"""Seals data on its way through Redis, so that a dashboard, a log or a backup never shows a caller's request or answer."""

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
_NONCE_BYTES = 12
_NONCES_DRAWN = 512


class Unsealable(ValueError):
    """The data was sealed with another key or for another purpose, or is damaged."""


def derive(master: bytes, purpose: str) -> bytes:
    """Derive a 32-byte key for a purpose (at most 16 ASCII characters). Each purpose has its own."""
    return hashlib.blake2b(key=master, person=purpose.encode("ascii"), digest_size=KEY_BYTES).digest()


class _Nonces:
    """Draws random nonces and never returns one twice. Thread-safe."""

    def __init__(self) -> None:
        self._drawn: list[bytes] = []
        # A forked process draws its own, because the same nonce twice would reveal the key.
        os.register_at_fork(after_in_child=self._drawn.clear)

    def one(self) -> bytes:
        # Drawn in bulk: os.urandom lets other threads run, and under load returning costs 5 us a call.
        try:
            return self._drawn.pop()
        except IndexError:
            random = os.urandom(_NONCE_BYTES * _NONCES_DRAWN)
            one, *more = (random[at : at + _NONCE_BYTES] for at in range(0, len(random), _NONCE_BYTES))
            self._drawn += more
            return one


_nonces = _Nonces()


class Sealer:
    """AES-256-GCM with a random 96-bit nonce.

    Args:
        master: the 32 bytes of the key file, or of a key that is derived from it.
        purpose: what is sealed. Each purpose has its own key.
        previous: of the key file before it. It opens what it sealed, and seals nothing new.
    """

    def __init__(self, master: bytes, purpose: str = "job-arguments", previous: bytes | None = None) -> None:
        self._cipher = AESGCM(derive(master, purpose))
        self._previous = None if previous is None else Sealer(previous, purpose)

    def seal(self, plain: bytes, bound_to: bytes) -> bytes:
        """Encrypt. `open` needs the same `bound_to` to decrypt."""
        nonce = _nonces.one()
        return nonce + self._cipher.encrypt(nonce, plain, bound_to)

    def open(self, sealed: bytes, bound_to: bytes) -> bytes:
        """Decrypt. Raises Unsealable."""
        return self.opened(sealed, bound_to)[0]

    def opened(self, sealed: bytes, bound_to: bytes) -> tuple[bytes, bool]:
        """As `open`, and whether the previous key had sealed it."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound_to), False
        except (InvalidTag, ValueError):
            if self._previous is not None:
                return self._previous.open(sealed, bound_to), True
            raise Unsealable("sealed under another key or for something else") from None
