"""The certificates in what a server of TLS 1.2 or older sends in the clear, when they are too long for OpenSSL."""

from __future__ import annotations

_HANDSHAKE = 22
_CERTIFICATE = 11
_RECORD_HEADER = 5
_MESSAGE_HEADER = 4


class CertificateMessage:
    """Reads the Certificate message (RFC 5246, 7.4.2) out of records as they come (6.2.1)."""

    def __init__(self) -> None:
        self._records = bytearray()
        self._messages = bytearray()
        self._is_broken = False

    def feed(self, received: bytes) -> None:
        """What has come."""
        self._records += received
        at = 0
        while at + _RECORD_HEADER <= len(self._records):
            begin = at + _RECORD_HEADER
            end = begin + int.from_bytes(self._records[at + 3 : begin])
            if end > len(self._records):
                break
            if self._records[at] != _HANDSHAKE:
                self._is_broken = True
            self._messages += self._records[begin:end]
            at = end
        del self._records[:at]

    def certificates(self) -> list[bytes] | None:
        """DER. None: it has not come to its end yet. Empty: this is something else, an alert for one."""
        if self._is_broken:
            return []
        at = 0
        while at + _MESSAGE_HEADER <= len(self._messages):
            body = at + _MESSAGE_HEADER
            end = body + int.from_bytes(self._messages[at + 1 : body])
            if self._messages[at] == _CERTIFICATE:
                return _listed(bytes(self._messages[body:end])) if end <= len(self._messages) else None
            at = end
        return None


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
