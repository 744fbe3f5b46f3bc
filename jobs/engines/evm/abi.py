"""The contract ABI: decodes calldata and return data within a budget, because anybody may have made them.

Offsets may overlap, so a few kilobytes can mean millions of values. A library that decodes all of them cannot be used here.
Source of the rules: Solidity documentation, Contract ABI Specification.
"""

import re
from dataclasses import dataclass

MAX_VALUES = 2_000
"""The budget of one decoding: numbers, addresses and the like, and texts by each 32 bytes."""
MAX_DEPTH = 8
_WORD = 32
_ELEMENTARY = re.compile(
    r"(address|bool|string|function|bytes(?:3[0-2]|[12][0-9]|[1-9])?|u?int(?:[0-9]{1,3})?)", re.ASCII
)
_SUFFIX = re.compile(r"\[([1-9][0-9]{0,3})?\]", re.ASCII)

Value = int | bool | str | bytes | tuple["Value", ...]
"""int for numbers, str for addresses (lower case) and strings, tuple for arrays and tuples."""


class Undecodable(ValueError):
    """The data is not of these types: too short, unclean padding, an offset that leads out of it, or too much."""


@dataclass(frozen=True, slots=True)
class Type:
    """An ABI type.

    Attributes:
        name: canonical: ``uint256``, ``(address,bytes)[]``.
        kind: ``uint``, ``int``, ``address``, ``bool``, ``fixed_bytes``, ``bytes``, ``string``, ``tuple``, ``array``.
        size: bits of numbers, bytes of fixed bytes, length of a fixed array; 0 otherwise.
        parts: of a tuple; the one element of an array.
        names: of a tuple's parts, "" where there is none.
    """

    name: str
    kind: str
    size: int = 0
    parts: "tuple[Type, ...]" = ()
    names: tuple[str, ...] = ()

    @property
    def is_dynamic(self) -> bool:
        """Whether its part in the head is an offset."""
        if self.kind == "array":
            return not self.size or self.parts[0].is_dynamic
        return self.kind in ("bytes", "string") or any(part.is_dynamic for part in self.parts)

    @property
    def head_bytes(self) -> int:
        """Size of its part in the head."""
        if self.is_dynamic:
            return _WORD
        if self.kind == "array":
            return self.size * self.parts[0].head_bytes
        return sum(part.head_bytes for part in self.parts) if self.kind == "tuple" else _WORD


def parse_arguments(text: str) -> Type:
    """``(address to,uint256 value)`` as a tuple type; names may be left out. Raises ValueError."""
    found, rest = _parse_type(text, 0)
    if rest or found.kind != "tuple":
        raise ValueError(f"no list of ABI types: {text}")
    return found


def decode(types: Type, data: bytes) -> tuple[Value, ...]:
    """The values of a tuple type. Bytes after the last one are allowed. Raises Undecodable."""
    return decode_prefix(types, data)[0]


def decode_prefix(types: Type, data: bytes) -> tuple[tuple[Value, ...], int]:
    """The values of a tuple type, and how many bytes of the data they take. Raises Undecodable."""
    decoder = _Decoder(data)
    return decoder.sequence(types.parts, 0, 0), decoder.end


def string_bytes(data: bytes) -> bytes | None:
    """The bytes of a single string, whose padding does not matter: hand-written contracts leave it out."""
    offset = int.from_bytes(data[:_WORD], "big")
    if len(data) < 2 * _WORD or offset > len(data) - _WORD:
        return None
    length = int.from_bytes(data[offset : offset + _WORD], "big")
    found = data[offset + _WORD : offset + _WORD + length]
    return found if len(found) == length else None


def encode_words(*words: int | str) -> bytes:
    """Numbers from 0 to 2^256-1 and addresses, one after the other."""
    return b"".join((int(word, 16) if isinstance(word, str) else word).to_bytes(_WORD, "big") for word in words)


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = MAX_VALUES
        self.end = 0

    def sequence(self, parts: tuple[Type, ...], start: int, depth: int) -> tuple[Value, ...]:
        if depth > MAX_DEPTH:
            raise Undecodable("nested too deeply")
        values: list[Value] = []
        at = start
        for part in parts:
            if part.is_dynamic:
                values.append(self._value(part, start + self._word(at), depth))
            else:
                values.append(self._value(part, at, depth))
            at += part.head_bytes
        return tuple(values)

    def _value(self, wanted: Type, at: int, depth: int) -> Value:
        match wanted.kind:
            case "tuple":
                self._spend(1)
                return self.sequence(wanted.parts, at, depth + 1)
            case "array":
                self._spend(1)
                count = wanted.size
                if not count:
                    count, at = self._word(at), at + _WORD
                if count > self._left:
                    raise Undecodable("too many values")
                return self.sequence(wanted.parts * count, at, depth + 1)
            case "bytes" | "string":
                return self._long(wanted, at)
            case _:
                self._spend(1)
                return self._elementary(wanted, self._bytes(at, _WORD))

    def _long(self, wanted: Type, at: int) -> Value:
        length = self._word(at)
        self._spend(1 + length // _WORD)
        padded = self._bytes(at + _WORD, -(-length // _WORD) * _WORD)
        if any(padded[length:]):
            raise Undecodable("unclean padding")
        if wanted.kind == "bytes":
            return padded[:length]
        try:
            return padded[:length].decode()
        except UnicodeDecodeError:
            raise Undecodable("no UTF-8") from None

    def _elementary(self, wanted: Type, word: bytes) -> Value:
        number = int.from_bytes(word, "big")
        match wanted.kind:
            case "uint" if number < 1 << wanted.size:
                return number
            case "int":
                signed = int.from_bytes(word, "big", signed=True)
                if -(1 << (wanted.size - 1)) <= signed < 1 << (wanted.size - 1):
                    return signed
            case "address" if number < 1 << 160:
                return "0x" + word[12:].hex()
            case "bool" if number < 2:
                return bool(number)
            case "fixed_bytes" if not any(word[wanted.size :]):
                return word[: wanted.size]
        raise Undecodable(f"no {wanted.name}")

    def _word(self, at: int) -> int:
        return int.from_bytes(self._bytes(at, _WORD), "big")

    def _bytes(self, at: int, length: int) -> bytes:
        if at + length > len(self._data):
            raise Undecodable("too short")
        self.end = max(self.end, at + length)
        return self._data[at : at + length]

    def _spend(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise Undecodable("too many values")


def _parse_type(text: str, depth: int) -> tuple[Type, str]:
    """The type at the start of `text`, and the rest."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if text.startswith("("):
        found, rest = _parse_tuple(text[1:], depth + 1)
    else:
        match = _ELEMENTARY.match(text)
        if match is None:
            raise ValueError(f"no ABI type: {text}")
        found, rest = _elementary_type(match[0]), text[match.end() :]
    while suffix := _SUFFIX.match(rest):
        found = Type(found.name + suffix[0], "array", int(suffix[1] or 0), (found,))
        rest = rest[suffix.end() :]
    return found, rest


def _parse_tuple(text: str, depth: int) -> tuple[Type, str]:
    parts: list[Type] = []
    names: list[str] = []
    rest = text
    while not rest.startswith(")"):
        if parts:
            rest = rest.removeprefix(",")
        part, rest = _parse_type(rest, depth)
        name = re.match(r" ?([A-Za-z_$][\w$]*)?", rest, re.ASCII)
        parts.append(part)
        names.append((name and name[1]) or "")
        rest = rest[name.end() :] if name else rest
        if not rest.startswith((",", ")")):
            raise ValueError(f"no list of ABI types: {text}")
    joined = ",".join(part.name for part in parts)
    return Type(f"({joined})", "tuple", 0, tuple(parts), tuple(names)), rest[1:]


def _elementary_type(name: str) -> Type:
    if name in ("address", "bool", "string", "bytes"):
        return Type(name, name)
    if name == "function":
        return Type(name, "fixed_bytes", 24)
    if name.startswith("bytes"):
        return Type(name, "fixed_bytes", int(name[5:]))
    kind = name.rstrip("0123456789")
    bits = int(name[len(kind) :] or 256)
    if bits % 8 or not 8 <= bits <= 256:
        raise ValueError(f"no ABI type: {name}")
    return Type(f"{kind}{bits}", kind, bits)
