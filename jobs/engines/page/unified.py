"""Writes changes as a unified diff (POSIX diff -U 3), for people and for tools that read patches."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.engines.page.diff import Change

CONTEXT = 3
"""Lines before and after a change."""


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
