"""Stellar addresses as text (SEP-23 "strkey"): accounts G…, contracts C… and multiplexed accounts M…, checksum included."""

import base64
import binascii
import re
from dataclasses import dataclass
from functools import lru_cache

ACCOUNT, CONTRACT, MUXED = 0, 1, 2
"""Kinds of addresses, with their numbers in XDR's SCAddressType."""

_VERSION_OF = {ACCOUNT: 6 << 3, CONTRACT: 2 << 3, MUXED: 12 << 3}
_KIND_OF = {version: kind for kind, version in _VERSION_OF.items()}
_BYTES_OF = {ACCOUNT: 32, CONTRACT: 32, MUXED: 40}
_TEXT = re.compile(r"[A-Z2-7]{56}|[A-Z2-7]{69}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """An account or a contract.

    Attributes:
        kind: ACCOUNT, CONTRACT or MUXED.
        key: 32 bytes: the account's Ed25519 key, or the contract's hash.
        muxed_id: the number of the account's customer; 0 unless the kind is MUXED.
    """

    kind: int
    key: bytes
    muxed_id: int = 0

    @property
    def account(self) -> "Address":
        """The account that holds the money: a multiplexed account is only another name of an account."""
        return Address(ACCOUNT, self.key) if self.kind == MUXED else self

    @property
    def text(self) -> str:
        """G…, C… or M…."""
        return _encode(self)


@lru_cache(maxsize=1024)
def parse(text: str) -> Address | None:
    """The address of a text; None for another kind or length, a wrong checksum or lower case."""
    if not _TEXT.fullmatch(text):
        return None
    raw = base64.b32decode(text + "=" * (-len(text) % 8))
    kind = _KIND_OF.get(raw[0])
    payload = raw[1:-2]
    if kind is None or len(payload) != _BYTES_OF[kind] or raw[-2:] != _checksum(raw[:-2]):
        return None
    address = Address(kind, payload[:32], int.from_bytes(payload[32:], "big"))
    # 69 characters hold one bit more than 43 bytes, so there are two spellings. One is accepted.
    return address if address.text == text else None


def _encode(address: Address) -> str:
    body = bytes([_VERSION_OF[address.kind]]) + address.key
    if address.kind == MUXED:
        body += address.muxed_id.to_bytes(8, "big")
    return base64.b32encode(body + _checksum(body)).decode().rstrip("=")


def _checksum(body: bytes) -> bytes:
    """CRC-16/XMODEM, low byte first."""
    return binascii.crc_hqx(body, 0).to_bytes(2, "little")
