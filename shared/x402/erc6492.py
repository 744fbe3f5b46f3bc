"""Signatures of wallets that are not deployed yet (ERC-6492): the wallet's own signature, and the call of the factory that
deploys it."""

from dataclasses import dataclass

SUFFIX = bytes.fromhex("6492" * 16)
_WORD = 32


@dataclass(frozen=True, slots=True)
class Deployment:
    """What such a signature consists of.

    Attributes:
        factory: the contract that deploys the wallet, in lower case.
        data: what it is called with.
        signature: what the wallet is asked about once it is there (ERC-1271).
    """

    factory: str
    data: bytes
    signature: bytes


def deployment_of(signature: bytes) -> Deployment | None:
    """Take the wrapper off: ``abi.encode(address, bytes, bytes)`` and SUFFIX. None for a signature without it.

    Raises:
        ValueError: it is no such encoding.
    """
    if not signature.endswith(SUFFIX):
        return None
    content = signature[: -len(SUFFIX)]
    factory = content[:_WORD]
    if len(content) < 3 * _WORD or any(factory[:12]):
        raise ValueError("no address of a factory")
    own = _bytes_at(content, 2 * _WORD)
    if own.endswith(SUFFIX):
        raise ValueError("a wrapper within a wrapper")
    return Deployment(f"0x{factory[12:].hex()}", _bytes_at(content, _WORD), own)


def _bytes_at(content: bytes, head: int) -> bytes:
    """The dynamic bytes whose offset is in the word at `head`. Raises ValueError."""
    start = int.from_bytes(content[head : head + _WORD])
    length = int.from_bytes(content[start : start + _WORD]) if start <= len(content) - _WORD else len(content)
    if start + _WORD + length > len(content):
        raise ValueError("bytes beyond the end")
    return content[start + _WORD : start + _WORD + length]
