"""The interface of a verification key. The key, never the token, decides which algorithms it may be used with."""

from typing import Literal, Protocol

from shared.endpoint import InvalidField

Family = Literal["HS", "RS"]


class Key(Protocol):
    """A shared secret or a public key."""

    @property
    def family(self) -> Family:
        """The first two letters of the algorithms that the key verifies."""

    def verifies(self, message: bytes, signature: bytes, *, bits: int) -> bool:
        """Whether this key made the signature, over a hash of `bits` bits."""

    def weakness(self, bits: int | None) -> str | None:
        """A sentence when RFC 7518 requires a longer key for a hash of `bits` bits (None: the shortest hash); otherwise
        None."""


def invalid_key(detail: str, field: str) -> InvalidField:
    """The error for a key that cannot be used. The detail never quotes the key."""
    return InvalidField(detail, field=field, code="invalid_key")
