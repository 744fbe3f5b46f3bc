"""Measures JSON before it is decoded, and how deeply a decoded value is nested. Decoding hostile JSON takes the event loop of
the API many milliseconds, during which no other caller is served."""

import re
from itertools import accumulate
from operator import add
from typing import Any

import msgspec

_AS_BITS = bytes.maketrans(b"[{]}", b"1100")
_RUNS = re.compile(rb"1+|0+")
FEW = 64
"""With fewer than one innermost pair per this many brackets, the runs of brackets are counted one by one."""
_OTHERS = bytes(set(range(256)) - set(b'[{]}"'))
_ESCAPE = re.compile(
    rb"\\(?:[^u]|u(?:[^dD]|[dD][0-7])|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_NUMERALS = bytes(0x30 if chr(byte) in "0123456789" else 0x65 if chr(byte) in "eE" else 0x20 for byte in range(256))

_CONTAINERS = (dict, list)


def _heights(byte: int) -> list[int]:
    """The heights relative to the start, before the first and after each of eight brackets. A set bit opens, another closes."""
    return list(accumulate((1 if byte >> bit & 1 else -1 for bit in range(7, -1, -1)), initial=0))


_CLIMB = [_heights(byte)[-1] for byte in range(256)]
_PEAK = [max(_heights(byte)) for byte in range(256)]


def levels(text: bytes) -> int:
    """The largest number of objects and arrays that are open at once: 0 for a scalar, 1 for `[]`. For text that is not JSON, at
    least as many as a parser has open when it fails.

    256 KB take at most 5 ms, whatever the content. Decoding them may take 11 ms, and walking the value 25 ms (measured).
    """
    if b"\\" in text:
        text = text.replace(rb"\\", b"").replace(rb"\"", b"")
    # Text between quotes is a string. Empty strings are frequent, and are removed at once.
    brackets = b"".join(text.translate(_AS_BITS, _OTHERS).replace(b'""', b"").split(b'"')[::2])
    if not brackets:
        return 0
    if brackets.count(b"10") < len(brackets) // FEW:
        return _highest(_RUNS.findall(brackets))
    around = brackets.replace(b"10", b"")  # without the innermost pairs, which are frequent
    size = -(-len(around) // 8)
    packed = int(around.ljust(8 * size, b"0") or b"0", 2).to_bytes(size)
    heights = accumulate(map(_CLIMB.__getitem__, packed), initial=0)
    return 1 + max(map(add, heights, map(_PEAK.__getitem__, packed)), default=0)


def _highest(runs: list[bytes]) -> int:
    height = highest = 0
    for run in runs:
        height += len(run) if run.startswith(b"1") else -len(run)
        highest = max(highest, height)
    return highest


def may_overflow(text: bytes) -> bool:
    """Whether a number may be too large for a double, or have too many digits for an integer: its exponent has three digits, or
    it has 200 digits itself. Strings that look like such numbers count too.
    """
    numerals = text.translate(_NUMERALS, b"+")
    return b"0e000" in numerals or b"0" * 200 in numerals


def lone_surrogate(text: bytes) -> str | None:
    """The first escape of half a surrogate pair without its other half, such as ``\\ud83d``. It is no character."""
    for match in _ESCAPE.finditer(text):
        if match[1] is not None:
            return match[1].decode()
    return None


def least_size(text: bytes) -> int:
    """The size in bytes without spaces, if every escaped character (``\\u00e9``) became one byte."""
    compact = msgspec.json.format(text, indent=-1)
    return len(compact) - 5 * compact.count(rb"\u")


def is_deeper(value: Any, levels: int) -> bool:
    """Whether more than so many objects and arrays are within one another."""
    level = [value]
    for _ in range(levels + 1):
        level = [one for one in level if isinstance(one, _CONTAINERS)]
        if not level:
            return False
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return True
