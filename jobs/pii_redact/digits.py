"""The digits of a text, in groups and runs as people write numbers."""

import string
from collections.abc import Iterable
from dataclasses import dataclass

from jobs.engines.text.ascii_runs import Runs

_DIGITS = Runs(string.digits)


@dataclass(frozen=True, slots=True)
class Group:
    """Digits with nothing between them.

    Attributes:
        start: position of the first digit.
        end: position after the last digit.
        digits: the digits themselves.
    """

    start: int
    end: int
    digits: str


@dataclass(frozen=True, slots=True)
class Run:
    """Groups with only separators between them.

    Attributes:
        groups: at least one.
        gaps: the separators, one fewer than groups.
    """

    groups: list[Group]
    gaps: list[str]

    def before(self, index: int) -> str:
        """The separators before a group; empty before the first."""
        return self.gaps[index - 1] if index else ""

    def after(self, index: int) -> str:
        """The separators after a group; empty after the last."""
        return self.gaps[index] if index < len(self.gaps) else ""


def groups(text: str, outside: Iterable[tuple[int, int]] = ()) -> list[Group]:
    """All groups of a text, without those that overlap a range of `outside`."""
    found = [Group(start, start + len(digits), digits) for start, digits in _DIGITS.find(text)]
    taken = bytearray(len(text))
    for start, end in outside:
        taken[start:end] = b"\1" * (end - start)
    return [group for group in found if not (taken[group.start] or taken[group.end - 1])]


def runs(text: str, found: list[Group], separators: str, widest: int) -> list[Run]:
    """Join groups to runs.

    Args:
        found: groups of the text, in order.
        separators: the characters that may be between two groups of a run.
        widest: the largest number of them.
    """
    joined: list[Run] = []
    for group in found:
        if joined:
            last = joined[-1]
            gap_start = last.groups[-1].end
            if group.start - gap_start <= widest and not text[gap_start : group.start].strip(separators):
                last.gaps.append(text[gap_start : group.start])
                last.groups.append(group)
                continue
        joined.append(Run([group], []))
    return joined
