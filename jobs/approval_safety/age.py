"""How long code has been at an address: was it there seven days ago?

The block of then is found by its timestamp, with four probes at most, because blocks are not a fixed time apart everywhere.
Then one read of the code at that block decides. A node without an archive cannot say; then nobody here claims that it is safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from jobs.evm.chains import BlockTime, Chain, ChainCall, Code, Unavailable
from jobs.evm.reader import Reader
from shared.outcome import UpstreamFailed

DAY_S = 86_400
WINDOW_S = 7 * DAY_S
MAX_PROBES = 4
CLOSE_S = 3_600
"""A block that is older than seven days by less is the block of seven days ago."""
BLOCK_S: dict[Chain, int] = {"base": 2, "ethereum": 12}

Verdict = Literal["established", "fresh", "unknown"]


class Point(NamedTuple):
    """A block and its time."""

    number: int
    time: int


class Bracket(NamedTuple):
    """Blocks around the moment seven days ago.

    Attributes:
        before: the newest known one that is at least as old; None when there is none.
        after: the oldest known one that is younger.
        target: the moment.
    """

    before: Point | None
    after: Point
    target: int

    @property
    def is_close(self) -> bool:
        """Whether what is not at `before` is young for certain."""
        if self.before is None:
            return False
        return self.target - self.before.time <= CLOSE_S or self.after.number - self.before.number == 1


class Age(NamedTuple):
    """Of code at an address.

    Attributes:
        code_then: what was there seven days ago; None when that is unknown.
        min_days: whole days that it has been there at least; None when unknown.
    """

    verdict: Verdict
    code_then: bytes | None
    min_days: int | None


UNKNOWN = Age("unknown", None, None)


def week_ago(reader: Reader) -> Bracket:
    """The blocks around that moment. Raises UpstreamFailed."""
    assert reader.block is not None
    head = Point(reader.block, reader.timestamp)
    bracket = Bracket(None, head, head.time - WINDOW_S)
    guess = max(0, head.number - WINDOW_S // BLOCK_S[reader.chain])
    for probe in range(MAX_PROBES):
        (time,) = reader.read(BlockTime(guess))
        if time is None:
            break
        point = Point(guess, time)
        older = time <= bracket.target
        bracket = bracket._replace(before=point) if older else bracket._replace(after=point)
        if bracket.is_close or bracket.after.number == 0:
            break
        guess = _next(bracket, head, BLOCK_S[reader.chain], halve=probe == 1)
    return bracket


def ages(reader: Reader, bracket: Bracket, addresses: Sequence[str]) -> dict[str, Age]:
    """Of code that is at those addresses now."""
    if bracket.before is None:
        return dict.fromkeys(addresses, UNKNOWN)
    then = past(reader, bracket.before.number, *(Code(address) for address in addresses))
    found: dict[str, Age] = {}
    for address, code in zip(addresses, then, strict=True):
        if not isinstance(code, bytes):
            found[address] = UNKNOWN
        elif code:
            found[address] = Age("established", code, (reader.timestamp - bracket.before.time) // DAY_S)
        else:
            found[address] = Age("fresh" if bracket.is_close else "unknown", b"", 0)
    unsure = [address for address, age in found.items() if age.verdict == "unknown" and age.code_then == b""]
    if unsure:
        # No block close to the moment was found. What was not there at a younger block either is young for certain.
        later = past(reader, bracket.after.number, *(Code(address) for address in unsure))
        found |= {address: Age("fresh", b"", 0) for address, code in zip(unsure, later, strict=True) if code == b""}
    return found


def past(reader: Reader, block: int, *calls: ChainCall) -> tuple[Any, ...]:
    """Results at an older block; Unavailable for each when no node can say."""
    try:
        return reader.read_past(block, *calls)
    except UpstreamFailed:
        return tuple(Unavailable() for _ in calls)


def _next(bracket: Bracket, head: Point, block_s: int, *, halve: bool) -> int:
    """The block to look at next, between the two that are known; further back when none is old enough yet."""
    before, after = bracket.before, bracket.after
    if before is None:
        seconds = (head.time - after.time) / (head.number - after.number) if head.number > after.number else block_s
        # A little more than it takes, so that this one is old enough.
        return max(0, after.number - int((after.time - bracket.target) / max(seconds, 0.1) * 1.02) - 1)
    if halve:
        guess = (before.number + after.number) // 2
    else:
        part = (bracket.target - before.time) / max(after.time - before.time, 1)
        guess = before.number + int((after.number - before.number) * part)
    return min(max(guess, before.number + 1), after.number - 1)
