"""The ABI decoder, with eth-abi as the second opinion."""

import random
import time
from typing import Any

import eth_abi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.evm import abi
from tests.each import each

ELEMENTARY = [
    "uint256",
    "uint8",
    "int256",
    "int64",
    "address",
    "bool",
    "bytes32",
    "bytes4",
    "bytes",
    "string",
    "uint96",
]
_element = st.sampled_from(ELEMENTARY)
TYPES = st.recursive(
    _element,
    lambda inner: st.one_of(
        inner.map(lambda kind: f"{kind}[]"),
        st.tuples(inner, st.integers(1, 3)).map(lambda each: f"{each[0]}[{each[1]}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({','.join(parts)})"),
    ),
    max_leaves=6,
)


def _value(kind: abi.Type, source: random.Random) -> Any:
    match kind.kind:
        case "uint":
            return source.choice([0, 1, (1 << kind.size) - 1, source.getrandbits(kind.size)])
        case "int":
            return source.choice([0, -1, -(1 << (kind.size - 1)), (1 << (kind.size - 1)) - 1])
        case "address":
            return "0x" + source.randbytes(20).hex()
        case "bool":
            return source.random() < 0.5
        case "fixed_bytes":
            return source.randbytes(kind.size)
        case "bytes":
            return source.randbytes(source.randrange(70))
        case "string":
            return "".join(source.choices("ab ü猫🙂", k=source.randrange(20)))
        case "array":
            return tuple(_value(kind.parts[0], source) for _ in range(kind.size or source.randrange(4)))
    return tuple(_value(part, source) for part in kind.parts)


@given(st.lists(TYPES, min_size=1, max_size=4), st.integers(0, 2**32))
def test_what_was_encoded_is_decoded(kinds: list[str], seed: int) -> None:
    """Any type, any value: the same as went in."""
    types = abi.parse_arguments(f"({','.join(kinds)})")
    values = tuple(_value(part, random.Random(seed)) for part in types.parts)
    encoded = eth_abi.encode(kinds, values)
    assert abi.decode_prefix(types, encoded) == (values, len(encoded))
    assert abi.decode(types, encoded + b"more") == values


@given(st.lists(TYPES, min_size=1, max_size=3), st.integers(0, 2**32), st.data())
def test_garbled_data_is_judged_as_eth_abi_does(kinds: list[str], seed: int, data: st.DataObject) -> None:
    """With some bytes changed or cut off: the same values, or both refuse."""
    types = abi.parse_arguments(f"({','.join(kinds)})")
    values = tuple(_value(part, random.Random(seed)) for part in types.parts)
    raw = bytearray(eth_abi.encode(kinds, values))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from([0, 1, 31, 32, 64, 255]))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    try:
        ours: Any = abi.decode(types, cut)
    except abi.Undecodable:
        ours = None
    try:
        theirs: Any = eth_abi.decode(kinds, cut)
    except (eth_abi.exceptions.DecodingError, UnicodeDecodeError, OverflowError, MemoryError, ValueError):
        theirs = None
    if ours is not None and theirs is not None:
        assert ours == theirs
    elif ours is None and theirs is not None:
        # Ours has a budget, and counts what overlapping offsets repeat.
        assert len(repr(theirs)) > 2_000 or not cut
    else:
        assert ours is None or theirs is None


def test_overlapping_offsets_stay_within_the_budget() -> None:
    """64 KB of calldata can stand for four million numbers; nobody waits for them."""
    count = 1_000
    inner = (count).to_bytes(32, "big") + bytes(32 * count)
    heads = (count * 32).to_bytes(32, "big") * count
    data = (32).to_bytes(32, "big") + count.to_bytes(32, "big") + heads + inner
    started = time.process_time()
    with pytest.raises(abi.Undecodable):
        abi.decode(abi.parse_arguments("(uint256[][])"), data)
    assert time.process_time() - started < 1


def test_names_of_arguments_are_kept() -> None:
    """Also those within tuples."""
    types = abi.parse_arguments("((address target,bytes callData)[] calls,uint256)")
    assert types.name == "((address,bytes)[],uint256)"
    assert types.names == ("calls", "")
    assert types.parts[0].parts[0].names == ("target", "callData")


@each("text", ["", "(", "(uint7)", "(uint264)", "(bytes33)", "(what)", "uint256", "(uint256", "(int0)"])
def test_other_types_are_refused(text: str) -> None:
    """What Solidity does not have."""
    with pytest.raises(ValueError, match=r"."):
        abi.parse_arguments(text)
