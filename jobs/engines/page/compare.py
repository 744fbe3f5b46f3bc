"""The calculation that compares two texts. It runs in a child process, because neither text can be trusted:
one comes from the caller, and the other from a page."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from jobs.engines.page.diff import MAX_CELLS as MAX_LINE_CELLS
from jobs.engines.page.diff import Change, Hunk, changes, hunk
from jobs.engines.page.ignoring import Ignore, compared_lines
from jobs.engines.page.words import MAX_CELLS as MAX_WORD_CELLS
from jobs.engines.page.words import changed_words
from jobs.fields import doc

NAME = "compare_texts"

CONTEXT = 3
"""Lines before and after a change."""


class Texts(msgspec.Struct, frozen=True):
    """Two normalised texts.

    Args:
        ignore: what does not count as a change.
    """

    old: str
    new: str
    ignore: Ignore | None = None


class Diff(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What changed between two texts."""

    added_lines: Annotated[
        int, msgspec.Meta(ge=0), doc("How many lines came. A replaced line counts as one that came and one that went.")
    ]
    removed_lines: Annotated[int, msgspec.Meta(ge=0), doc("How many lines went.")]
    similarity: Annotated[
        float,
        msgspec.Meta(ge=0, le=1),
        doc("The share of characters that both texts have in common, from 0 to 1. It is 1 only for equal texts."),
    ]
    hunks: Annotated[list[Hunk], doc("Each change. Applied to the previous text, they give the present one exactly.")]
    unified: Annotated[str, doc("The same as a unified diff, with three lines of context.")]


def calculate(argument: bytes) -> bytes:
    """Compare Texts and return their Diff, both as MessagePack."""
    texts = msgspec.msgpack.decode(argument, type=Texts)
    return msgspec.msgpack.encode(compared(texts.old, texts.new, ignore=texts.ignore))


def examples() -> Iterator[bytes]:
    """Two texts with a replaced line and a new one."""
    ignore = Ignore(texts=["milk"], numbers_and_dates=True)
    yield msgspec.msgpack.encode(Texts("green tea\nis 4 dollars\n", "green tea\nis 5 dollars\nnow\n"))
    yield msgspec.msgpack.encode(Texts("tea\nis 4 dollars\n", "tea\nis 5 dollars\nmilk\n", ignore))


def compared(old: str, new: str, *, ignore: Ignore | None = None, max_cells: int = MAX_LINE_CELLS) -> Diff:
    """Compare two normalised texts.

    Args:
        ignore: what does not count. Lines are then counted in the texts without those that are ignored.
        max_cells: of the lines that are compared each with each. With 0, all that lies between the first and the last
        difference
            is one change, and the time is linear.
    """
    (old_lines, old_keys), (new_lines, new_keys) = compared_lines(old, ignore), compared_lines(new, ignore)
    found = changes(old_keys, new_keys, max_cells=max_cells)
    hunks: list[Hunk] = []
    old_size, new_size = (sum(len(line) + 1 for line in lines) for lines in (old_lines, new_lines))
    common = old_size
    cells = MAX_WORD_CELLS if max_cells else 0
    for change in found:
        item = hunk(change, old_lines, new_lines)
        words, cells = changed_words(item.removed, item.added, cells)
        common -= sum(len(line) + 1 for line in item.removed)
        if words is not None:
            common += words.common
            item = msgspec.structs.replace(item, words=words.shown)
        hunks.append(item)
    return Diff(
        added_lines=sum(item.new_lines for item in hunks),
        removed_lines=sum(item.old_lines for item in hunks),
        similarity=_share(common, old_size + new_size, is_same=not found),
        hunks=hunks,
        unified=unified(found, old_lines, new_lines),
    )


def _share(common: int, size: int, *, is_same: bool) -> float:
    return 1.0 if is_same else min(0.9999, round(max(0.0, 2 * common / size), 4))


def unified(changes: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> str:
    """The diff, each line ended by `\\n`; "" when there are no changes. As in files whose last line is ended, too."""
    if not changes:
        return ""
    lines = ["--- previous", "+++ current"]
    for group in _groups(changes):
        lines += _section(group, old, new)
    return "\n".join(lines) + "\n"


def _groups(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes whose contexts touch are written together."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _section(group: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> list[str]:
    first, last = group[0], group[-1]
    before = min(CONTEXT, first.old_start)
    after = min(CONTEXT, len(old) - last.old_end)
    old_start, old_end = first.old_start - before, last.old_end + after
    new_start, new_end = first.new_start - before, last.new_end + after
    lines = [f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@"]
    at = old_start
    for change in group:
        lines += [" " + line for line in old[at : change.old_start]]
        lines += ["-" + line for line in old[change.old_start : change.old_end]]
        lines += ["+" + line for line in new[change.new_start : change.new_end]]
        at = change.old_end
    return lines + [" " + line for line in old[at:old_end]]


def _range(start: int, end: int) -> str:
    size = end - start
    if size == 1:
        return str(start + 1)
    return f"{start + bool(size)},{size}"
