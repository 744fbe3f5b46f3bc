"""What a verification key does. Which algorithms it may be used with is a property of the key, never of the token."""

from __future__ import annotations

from typing import Literal, Protocol

from shared.endpoint import InvalidField

Family = Literal["HS", "RS"]


class Key(Protocol):
    """A shared secret or a public key."""

    @property
    def family(self) -> Family:
        """The first letters of the algorithms that it verifies."""

    def verifies(self, message: bytes, signature: bytes, *, bits: int) -> bool:
        """Whether the signature, over the hash of that many bits, is this key's."""

    def weakness(self, bits: int | None) -> str | None:
        """A sentence when RFC 7518 wants a longer key, for a hash of that many bits (None: the shortest)."""


def invalid_key(detail: str, field: str) -> InvalidField:
    """A key that cannot be used. The detail never quotes it."""
    return InvalidField(detail, field=field, code="invalid_key")
