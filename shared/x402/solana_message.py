"""Reads a well-formed Solana transaction, legacy or version 0.

It is stricter than a node: whatever it accepts, a node reads as the same values, but a node accepts more.
Sources: Solana's documentation of transactions and of the compact-u16 lengths in them, and the SDK's `sanitize`.
"""

import msgspec

MAX_TRANSACTION_BYTES = 1232
"""The most that a node takes: it fits into one UDP packet."""
_VERSIONED = 0x80


class Malformed(ValueError):
    """The bytes are no well-formed transaction."""


class Instruction(msgspec.Struct, frozen=True):
    """One call of a program.

    Args:
        program: the index of its key.
        accounts: one index in each byte.
    """

    program: int
    accounts: bytes
    data: bytes


class Lookup(msgspec.Struct, frozen=True):
    """Further accounts, by their positions in a table on the chain."""

    table: bytes
    writable: bytes
    readonly: bytes


class Message(msgspec.Struct, frozen=True):
    """The signed part of a transaction.

    Args:
        version: None for a legacy message.
        signers: how many of the first keys sign. The very first pays the fee.
        readonly_signers: how many of the last signers cannot be changed.
        readonly_others: how many of the last other keys cannot be changed.
        keys: all different.
    """

    version: int | None
    signers: int
    readonly_signers: int
    readonly_others: int
    keys: tuple[bytes, ...]
    blockhash: bytes
    instructions: tuple[Instruction, ...]
    lookups: tuple[Lookup, ...]


class Transaction(msgspec.Struct, frozen=True):
    """A message and its signatures, one for each signer. They are not checked.

    Args:
        signed: the bytes of the message.
    """

    signatures: tuple[bytes, ...]
    signed: bytes
    message: Message


def read_transaction(raw: bytes) -> Transaction:
    """Read all of `raw`. Raises Malformed."""
    if len(raw) > MAX_TRANSACTION_BYTES:
        raise Malformed("too long")
    reader = _Reader(raw)
    signatures = tuple([reader.take(64) for _ in range(reader.length())])
    signed = raw[reader.at :]
    message = _read_message(reader)
    if reader.at != len(raw):
        raise Malformed("bytes after the end")
    if len(signatures) != message.signers:
        raise Malformed("a signature for each signer")
    return Transaction(signatures, signed, message)


class _Reader:
    __slots__ = ("_raw", "at")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.at = 0

    def take(self, size: int) -> bytes:
        start = self.at
        end = self.at = start + size
        if end > len(self._raw):
            raise Malformed("cut off")
        return self._raw[start:end]

    def byte(self) -> int:
        at = self.at
        if at >= len(self._raw):
            raise Malformed("cut off")
        self.at = at + 1
        return self._raw[at]

    def length(self) -> int:
        """A compact-u16: seven bits a byte, the low ones first, three bytes at most, in the shortest form."""
        first = self.byte()
        if first < 0x80:
            return first
        second = self.byte()
        if second < 0x80:
            if second == 0:
                raise Malformed("a length in a longer form")
            return first & 0x7F | second << 7
        third = self.byte()
        if not 0 < third < 4:
            raise Malformed("a length in a longer form, or above 65,535")
        return first & 0x7F | (second & 0x7F) << 7 | third << 14

    def vector(self) -> bytes:
        return self.take(self.length())


def _read_message(reader: _Reader) -> Message:
    version: int | None = None
    signers = reader.byte()
    if signers & _VERSIONED:
        version = signers & 0x7F
        if version != 0:
            raise Malformed("an unknown version")
        signers = reader.byte()
    readonly_signers, readonly_others = reader.byte(), reader.byte()
    keys = tuple([reader.take(32) for _ in range(reader.length())])
    if not (readonly_signers < signers and signers + readonly_others <= len(keys) <= 256):
        raise Malformed("a header that does not fit the keys")
    if len(set(keys)) != len(keys):
        raise Malformed("a key twice")
    blockhash = reader.take(32)
    instructions = tuple([Instruction(reader.byte(), reader.vector(), reader.vector()) for _ in range(reader.length())])
    lookups: tuple[Lookup, ...] = ()
    if version is not None:
        lookups = tuple([Lookup(reader.take(32), reader.vector(), reader.vector()) for _ in range(reader.length())])
    _require_indexes(len(keys), instructions, lookups)
    return Message(version, signers, readonly_signers, readonly_others, keys, blockhash, instructions, lookups)


def _require_indexes(keys: int, instructions: tuple[Instruction, ...], lookups: tuple[Lookup, ...]) -> None:
    """Check the indexes. Programs are among the message's own keys, and the fee payer is no program."""
    accounts = keys
    for lookup in lookups:
        loaded = len(lookup.writable) + len(lookup.readonly)
        if loaded == 0:
            raise Malformed("a table of which nothing is used")
        accounts += loaded
    if accounts > 256:
        raise Malformed("more accounts than can be numbered")
    for instruction in instructions:
        if not 0 < instruction.program < keys:
            raise Malformed("a program that is not among the keys")
        if instruction.accounts and max(instruction.accounts) >= accounts:
            raise Malformed("an account that is not among the keys")
