"""Compares two normalised texts line by line.

A *hunk* is one change: lines that went, lines that came, and where, counted as in a unified diff. Applying all hunks to the old
text gives the new one, to the character.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec

from jobs.fields import doc

MAX_CELLS = 5 * 10**8
"""Lines of one text times lines of the other. RapidFuzz takes a bit for each, 63 MB, and 0.2 s."""

Line = Annotated[int, msgspec.Meta(ge=0)]


class Hunk(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One change, without context."""

    old_start: Annotated[
        Line, doc("Number of its first line in the previous text, from 1. When no line went, of the line before it.")
    ]
    old_lines: Annotated[Line, doc("How many lines went.")]
    new_start: Annotated[
        Line, doc("Number of its first line in the present text, from 1. When no line came, of the line before it.")
    ]
    new_lines: Annotated[Line, doc("How many lines came.")]
    removed: Annotated[list[str], doc("The lines that went.")]
    added: Annotated[list[str], doc("The lines that came.")]
    words: Annotated[
        str | None,
        doc("The change word by word, with `[-old-]` and `{+new+}`. Null where no lines, or too many, were replaced."),
    ] = None


class Change(NamedTuple):
    """Lines [old_start, old_end) of the old text became lines [new_start, new_end) of the new one. Counted from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str], *, max_cells: int = MAX_CELLS) -> list[Change]:
    """What differs, in order. Two changes never touch.

    Where the lines that differ are too many to compare each with each, blocks between empty lines are compared, and then the
    lines of those that differ, as far as that is not too much either.
    """
    first, old_end, new_end = _trimmed(old, new)
    return [
        Change(start + first, end + first, new_start + first, stop + first)
        for start, end, new_start, stop in _changes(old[first:old_end], new[first:new_end], max_cells)
    ]


def hunk(change: Change, old: Sequence[str], new: Sequence[str]) -> Hunk:
    """The hunk of a change."""
    removed = list(old[change.old_start : change.old_end])
    added = list(new[change.new_start : change.new_end])
    return Hunk(
        old_start=change.old_start + bool(removed),
        old_lines=len(removed),
        new_start=change.new_start + bool(added),
        new_lines=len(added),
        removed=removed,
        added=added,
    )


def _trimmed(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[int, int, int]:
    """The first line that differs, and where what both have at their ends begins, in each."""
    most = min(len(old), len(new))
    first = 0
    while first < most and old[first] == new[first]:
        first += 1
    last = 0
    while last < most - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return first, len(old) - last, len(new) - last


def _changes(old: Sequence[str], new: Sequence[str], max_cells: int) -> list[Change]:
    if len(old) * len(new) <= max_cells:
        return _opcodes(old, new)
    return _by_blocks(old, new, max_cells)


def _by_blocks(old: Sequence[str], new: Sequence[str], max_cells: int) -> list[Change]:
    old_blocks, new_blocks = _blocks(old), _blocks(new)
    whole = [Change(0, len(old), 0, len(new))]
    if len(old_blocks) * len(new_blocks) > max_cells:
        return whole
    old_ends, new_ends = _ends(old_blocks), _ends(new_blocks)
    found: list[Change] = []
    left = max_cells
    for change in _opcodes(old_blocks, new_blocks):
        lines = Change(*(ends[at] for ends, at in zip((old_ends, old_ends, new_ends, new_ends), change, strict=True)))
        cells = (lines.old_end - lines.old_start) * (lines.new_end - lines.new_start)
        if not 0 < cells <= left:
            found.append(lines)
            continue
        left -= cells
        found += [
            Change(*(a + b for a, b in zip(inner, (lines[0], lines[0], lines[2], lines[2]), strict=True)))
            for inner in changes(old[lines[0] : lines[1]], new[lines[2] : lines[3]], max_cells=max_cells)
        ]
    return _joined(found)


def _blocks(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """The lines in groups, each of which ends with an empty line."""
    blocks: list[tuple[str, ...]] = []
    start = 0
    for index, line in enumerate(lines, 1):
        if not line or index == len(lines):
            blocks.append(tuple(lines[start:index]))
            start = index
    return blocks


def _ends(blocks: Iterable[Sequence[str]]) -> list[int]:
    ends = [0]
    for block in blocks:
        ends.append(ends[-1] + len(block))
    return ends


def ids(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """A small number for each distinct item: RapidFuzz compares numbers."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(item, len(known)) for item in old], [known.setdefault(item, len(known)) for item in new]


def _opcodes(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Change]:
    from rapidfuzz.distance import Indel

    return _joined(
        Change(code.src_start, code.src_end, code.dest_start, code.dest_end)
        for code in Indel.opcodes(*ids(old, new))
        if code.tag != "equal"
    )


def _joined(found: Iterable[Change]) -> list[Change]:
    """Changes that touch become one."""
    joined: list[Change] = []
    for change in found:
        if joined and (joined[-1].old_end, joined[-1].new_end) == (change.old_start, change.new_start):
            joined[-1] = Change(joined[-1].old_start, change.old_end, joined[-1].new_start, change.new_end)
        else:
            joined.append(change)
    return joined
