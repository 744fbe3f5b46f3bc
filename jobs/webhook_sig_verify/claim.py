"""What a signature claims, before it is checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Algorithm = Literal["hmac_sha256", "hmac_sha1"]
Scheme = Literal["v1", "v0", "sha256", "sha1"]
Reason = Literal[
    "signature_mismatch", "timestamp_out_of_tolerance", "malformed_signature", "missing_header", "unsupported_scheme"
]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Delivery:
    """A webhook as it arrived, and its secret. It has no repr, because of the secret.

    Attributes:
        payload: the body's bytes.
        signature: the value of the sender's signature header.
        secret: the key's bytes.
        timestamp: the digits of Slack's timestamp header. Other senders write the time into the signature, or send none.
        headers: values by lower-case name; None when the caller gave no headers.
    """

    payload: bytes
    signature: str
    secret: bytes
    timestamp: str | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The claim that the holder of the secret signed these bytes.

    Attributes:
        scheme: the sender's name for this way of signing.
        signed: the bytes.
        macs: the digests in the signature, of the algorithm's length. One right digest is enough.
        signed_at: Unix seconds; None when the scheme has no time.
        is_weak: the sender has replaced this scheme with a stronger one.
    """

    scheme: Scheme
    algorithm: Algorithm
    signed: bytes
    macs: tuple[bytes, ...]
    signed_at: int | None = None
    is_weak: bool = False


class NoClaim(Exception):
    """The signature claims nothing that can be checked."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason
