"""Decides which bracket the author meant, when closing brackets do not match."""

import re
from collections.abc import Sequence

from jobs.json_repair.source import QUOTES, Source

_LOOK_AHEAD = 16
"""Limit of closing brackets that are compared at once. Without it, a long row of them would take quadratic time."""

_KEY = re.compile(r"[\w$.@-]{1,64}+[ \t]*+:|[\"'][^\"'\n]{0,64}+[\"'][ \t]*+:")


def doubled(source: Source, i: int, closers: Sequence[str]) -> bool:
    """Whether the closing bracket at `i` is an extra one before the right one, as in `[{"a": [1]]}, {"a": 2}]`."""
    row, end = _row(source, i)
    if len(row) < 2 or row[1] != closers[-1]:
        return False
    stack = list(closers[-_LOOK_AHEAD - 4 :])
    without = 1 + _cost(source, end, stack, row[1:])
    return without < min(_cost(source, end, stack, row), _cost(source, end, stack, [row[1], row[0], *row[2:]]))


def swapped(source: Source, i: int, closers: Sequence[str]) -> bool:
    """Whether the closing bracket at `i` and the next one are swapped, as in `[{"a": [1}], {"a": 2}]`.

    Both readings are tried on the closing brackets that follow. The one that breaks fewer rules wins.

    Args:
        source: the text.
        i: position of a closing bracket that does not fit the innermost container.
        closers: the closing bracket that each open container needs, the innermost last.
    """
    row, end = _row(source, i)
    if len(row) < 2 or row[1] != closers[-1] or row[0] == row[1]:
        return False
    stack = list(closers[-_LOOK_AHEAD - 4 :])
    return _cost(source, end, stack, [row[1], row[0], *row[2:]]) < _cost(source, end, stack, row)


def _row(source: Source, i: int) -> tuple[list[str], int]:
    """The closing brackets from `i` on, and the position after them."""
    row: list[str] = []
    while len(row) < _LOOK_AHEAD and source.at(i) in ("}", "]"):
        row.append(source.text[i])
        i = source.gap(i + 1)
    return row, i


def _cost(source: Source, end: int, stack: list[str], row: list[str]) -> int:
    """How many rules a reading breaks: containers that stay open, extra brackets, a key or an element in the wrong place."""
    stack = list(stack)
    cost = 0
    for closer in row:
        if closer not in stack:
            cost += 1
            continue
        while stack.pop() != closer:
            cost += 1
    following = source.at(end)
    if following == "":
        return cost + len(stack)
    separated = following == ","
    if separated:
        end = source.gap(end + 1)
        following = source.at(end)
    if not stack:
        return cost + 1 + separated
    key = following in QUOTES + "_" or following.isalnum()
    if key and _KEY.match(source.text, end):
        return cost + (stack[-1] != "}")
    return cost + (stack[-1] == "}" and following in "{[\"'")
