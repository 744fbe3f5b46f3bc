"""Which requests are "the same request": same endpoint, same query, same JSON value in the body."""

from __future__ import annotations

import hashlib

import msgspec

from shared.sealing import derive

LONG_BYTES = 64 * 1024


class Fingerprinter:
    """Keyed, so that the stored fingerprint of a guessable body (a password, a short secret) cannot be tried offline.

    Args:
        master: the 32 bytes of the key file.
    """

    def __init__(self, master: bytes) -> None:
        self._key = derive(master, "fingerprints")

    def __call__(self, endpoint_name: str, query: bytes, body: bytes, proof: bytes) -> str:
        """64 hex digits. JSON that is only written differently (spaces, key order, escapes) gives the same, up to LONG_BYTES;
        of a longer body every byte counts.

        Args:
            proof: what else has to be the same.
        """
        digest = hashlib.blake2b(key=self._key, digest_size=32)
        for part in (endpoint_name.encode(), query, _canonical(body), proof):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return digest.hexdigest()


def _canonical(body: bytes) -> bytes:
    if len(body) > LONG_BYTES:
        # What holds up every other call: of 1.2 MB 3.6 ms to be written anew, and 0.7 ms to be hashed. No JSON begins so.
        return b"\0" + hashlib.sha256(body).digest()
    try:
        return msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return body
