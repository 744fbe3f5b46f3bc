"""Names for selectors: functions, errors and events that are known (jobs/engines/evm/data/signatures.tsv)."""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

import msgspec

from jobs.engines.evm import abi, address, data_file, text
from jobs.engines.evm.abi import Type, Value
from jobs.fields import doc

MAX_SHOWN_BYTES = 256
"""Limit for one argument."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A function or an error.

    Attributes:
        text: canonical: ``transfer(address,uint256)``.
        arguments: a tuple type, with their names.
    """

    name: str
    text: str
    arguments: Type


class Argument(msgspec.Struct, frozen=True):
    """One decoded argument."""

    name: Annotated[str, doc("The argument's name. Empty when it has none.")]
    type: Annotated[str, doc("The argument's Solidity type, such as `uint256`.")]
    value: Annotated[Any, doc("The value. Numbers are decimal strings, bytes are hex, tuples are objects.")]


@lru_cache(maxsize=1024)
def known(selector: bytes, kind: Literal["function", "error"]) -> Signature | None:
    """The known function or error with this selector. Others may have the same four bytes."""
    written = _table().get((selector.hex(), kind))
    if written is None:
        return None
    name, _, _ = written.partition("(")
    parsed = abi.parse_arguments(written.removeprefix(name))
    return Signature(name, name + parsed.name, parsed)


def arguments(signature: Signature, values: tuple[Value, ...]) -> list[Argument]:
    """The arguments of calldata or of an error, by name."""
    named = zip(signature.arguments.names, signature.arguments.parts, values, strict=True)
    return [Argument(name, part.name, shown(part, value)) for name, part, value in named]


def shown(kind: Type, value: Value) -> object:
    """A value as JSON."""
    match value:
        case bool():
            return value
        case int():
            return str(value)
        case bytes():
            more = "…" if len(value) > MAX_SHOWN_BYTES else ""
            return "0x" + value[:MAX_SHOWN_BYTES].hex() + more
        case str():
            return address.checksummed(value) if kind.kind == "address" else text.clean(value, MAX_SHOWN_BYTES)
        case tuple() if kind.kind == "array":
            return [shown(kind.parts[0], each) for each in value]
        case tuple():
            named = zip(kind.names, kind.parts, value, strict=True)
            return {name or str(at): shown(part, each) for at, (name, part, each) in enumerate(named)}


@cache
def _table() -> dict[tuple[str, str], str]:
    return {(selector, kind): written for selector, kind, written in data_file.lines("signatures.tsv")}
