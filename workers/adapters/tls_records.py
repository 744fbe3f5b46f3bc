"""Reads what a TLS server sends unencrypted, for certificates that are too long for OpenSSL.

TLS 1.2 and older send certificates unencrypted. TLS 1.3 sends only the first message so, which names the cipher.
"""

import functools
import ssl
from collections.abc import Iterator, Mapping

_HANDSHAKE = 22
_SERVER_HELLO = 2
_CERTIFICATE = 11
_RECORD_HEADER = 5
_MESSAGE_HEADER = 4
_BEFORE_SESSION_ID = 34


class ServerFlight:
    """Collects handshake messages from records as they arrive (RFC 5246, 6.2.1 and 7.4)."""

    def __init__(self) -> None:
        self._records = bytearray()
        self._messages = bytearray()
        self._is_over = False

    def feed(self, received: bytes) -> None:
        """Add received bytes."""
        self._records += received
        at = 0
        while not self._is_over and at + _RECORD_HEADER <= len(self._records):
            begin = at + _RECORD_HEADER
            end = begin + int.from_bytes(self._records[at + 3 : begin])
            if self._records[at] != _HANDSHAKE:
                self._is_over = True
            elif end > len(self._records):
                break
            else:
                self._messages += self._records[begin:end]
                at = end
        del self._records[:at]

    def cipher(self) -> int | None:
        """The number of the cipher suite that the server has chosen; None before it has chosen one."""
        for kind, begin, end in self._found():
            if kind == _SERVER_HELLO and begin + _BEFORE_SESSION_ID < end <= len(self._messages):
                at = begin + _BEFORE_SESSION_ID
                at += 1 + self._messages[at]
                if at + 2 <= end:
                    return int.from_bytes(self._messages[at : at + 2])
        return None

    def certificates(self) -> list[bytes] | None:
        """The certificates in DER; None when they are incomplete; empty when something else came, such as an alert."""
        for kind, begin, end in self._found():
            if kind == _CERTIFICATE and end <= len(self._messages):
                return _listed(bytes(self._messages[begin:end]))
        return [] if self._is_over else None

    def _found(self) -> Iterator[tuple[int, int, int]]:
        """Kind, begin and end of each message whose header has arrived."""
        at = 0
        while at + _MESSAGE_HEADER <= len(self._messages):
            begin = at + _MESSAGE_HEADER
            end = begin + int.from_bytes(self._messages[at + 1 : begin])
            yield self._messages[at], begin, end
            at = end


def _listed(body: bytes) -> list[bytes]:
    found = []
    at = 3
    while at < len(body):
        begin = at + 3
        end = begin + int.from_bytes(body[at:begin])
        if end > len(body):
            return []
        found.append(body[begin:end])
        at = end
    return found


@functools.cache
def ciphers() -> Mapping[int, tuple[str, int]]:
    """OpenSSL's names of cipher suites, and the bits of their keys, by their numbers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers("ALL:@SECLEVEL=0")
    return {cipher["id"] & 0xFFFF: (cipher["name"], cipher["strength_bits"]) for cipher in context.get_ciphers()}
