"""The characters of a group name: the identifiers of ECMAScript, by Unicode 16."""

from __future__ import annotations

# Python 3.11 has XID_Start and XID_Continue of Unicode 14. These are the additional code points of ID_Start and ID_Continue in
# Unicode 16, as hexadecimal ranges.
_LATER_STARTS = """
37a e33 eb3 1c89-1c8a 309b-309c a7cb-a7cd a7da-a7dc fc5e-fc63 fdfa-fdfb fe70 fe72 fe74 fe76 fe78 fe7a fe7c fe7e ff9e-ff9f
105c0-105f3 10d4a-10d65 10d6f-10d85 10ec2-10ec4 1123f-11240 11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3
11bc0-11be0 11f02 11f04-11f10 11f12-11f33 1342f 13441-13446 13460-143fa 16100-1611d 16d40-16d6c 18cff 1b132 1b155
1df25-1df2a 1e030-1e06d 1e4d0-1e4eb 1e5d0-1e5ed 1e5f0 2b739 2ebf0-2ee5d 31350-323af
"""
_LATER_PARTS = """
897 cf3 ece 30fb ff65 10d40-10d49 10d69-10d6d 10efc-10eff 11241 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2
113e1-113e2 116d0-116e3 11bf0-11bf9 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 11f50-11f5a 13440 13447-13455 1611e-16139
16d70-16d79 1ccf0-1ccf9 1e08f 1e4ec-1e4f9 1e5ee-1e5ef 1e5f1-1e5fa
"""


def is_start(point: int) -> bool:
    """Whether an identifier may begin with this code point."""
    return chr(point).isidentifier() or point == 0x24 or _is_in(_STARTS, point)


def is_part(point: int) -> bool:
    """Whether an identifier may continue with this code point, such as `$`, ZWNJ and ZWJ."""
    return ("a" + chr(point)).isidentifier() or point in (0x24, 0x200C, 0x200D) or _is_in(_PARTS, point)


def _ranges(table: str) -> tuple[range, ...]:
    bounds = (part.partition("-") for part in table.split())
    return tuple(range(int(first, 16), int(last or first, 16) + 1) for first, _, last in bounds)


def _is_in(ranges: tuple[range, ...], point: int) -> bool:
    return point > 0x7F and any(point in each for each in ranges)


_STARTS = _ranges(_LATER_STARTS)
_PARTS = _STARTS + _ranges(_LATER_PARTS)
