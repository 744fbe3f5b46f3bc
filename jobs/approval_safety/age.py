"""How long code has been at an address: was it there seven days ago?

The block of then is found by its timestamp, because blocks are not a fixed time apart everywhere. There are at most
four probes, each one batch of calls. Where blocks come as the chain promises, the first or the second probe, of one block each,
is close. On any other chain (one that made no blocks for a while, or a test chain that began yesterday) a probe asks for some
thirty blocks: evenly spread, and denser towards both ends. A sixteenth of the blocks remains, and near the ends far fewer.

Then one read of the code at that block decides. A node without an archive does not know it, and the age is then unknown.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from jobs.engines.evm.reader import Reader
from jobs.ports.chains import BlockTime, Chain, ChainCall, Code, Unavailable
from shared.outcome import UpstreamFailed

DAY_S = 86_400
WINDOW_S = 7 * DAY_S
MAX_PROBES = 4
REGULAR_S = DAY_S
"""When a block is nearer to the moment than this, blocks come regularly enough to ask for one at a time."""
STEPS = 16
"""A larger probe divides the range between the two known blocks into this many parts."""
CLOSE_S = 3_600
"""A block counts as the one of seven days ago when it is older by less than this."""
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

    @property
    def is_near(self) -> bool:
        """Whether one of the two is near enough to the moment to continue from it."""
        points = [self.after] if self.before is None else [self.before, self.after]
        return any(abs(point.time - self.target) < REGULAR_S for point in points)

    def with_point(self, point: Point) -> "Bracket":
        """With one more block that is known."""
        if point.time <= self.target:
            is_nearer = self.before is None or point.number > self.before.number
            return self._replace(before=point) if is_nearer else self
        return self._replace(after=point) if point.number < self.after.number else self


class Age(NamedTuple):
    """The age of the code at an address.

    Attributes:
        code_then: what was there seven days ago; None when that is unknown.
        min_days: whole days that it has been there at least; None when unknown.
    """

    verdict: Verdict
    code_then: bytes | None
    min_days: int | None


UNKNOWN = Age("unknown", None, None)


def week_ago(reader: Reader) -> Bracket:
    """Find the blocks around the moment seven days ago. Raises UpstreamFailed."""
    assert reader.block is not None
    head = Point(reader.block, reader.timestamp)
    bracket = Bracket(None, head, head.time - WINDOW_S)
    for probe in range(MAX_PROBES):
        if bracket.is_close or bracket.after.number == 0:
            break
        likely = _likely(bracket, head, BLOCK_S[reader.chain])
        is_regular = (probe == 0 and likely > 0) or (probe == 1 and bracket.is_near)
        numbers = [likely] if is_regular else sorted({likely, *_ladder(bracket)})
        times = reader.read(*(BlockTime(number) for number in numbers))
        for number, time in zip(numbers, times, strict=True):
            if time is not None:
                bracket = bracket.with_point(Point(number, time))
    return bracket


def ages(reader: Reader, bracket: Bracket, addresses: Sequence[str]) -> dict[str, Age]:
    """The age of the code that is at these addresses now."""
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
            found[address] = Age("fresh", b"", 0) if bracket.is_close else Age("unknown", b"", None)
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


def _likely(bracket: Bracket, head: Point, block_s: int) -> int:
    """Where the block of the moment should be, if blocks come regularly."""
    before, after = bracket.before, bracket.after
    if before is None:
        seconds = (head.time - after.time) / (head.number - after.number) if head.number > after.number else block_s
        # A little more than it takes, so that this one is old enough.
        margin = 1.02 if head.number > after.number else 1
        return max(0, after.number - math.ceil((after.time - bracket.target) / max(seconds, 0.1) * margin))
    part = (bracket.target - before.time) / max(after.time - before.time, 1)
    guess = before.number + int((after.number - before.number) * part)
    return min(max(guess, before.number + 1), after.number - 1)


def _ladder(bracket: Bracket) -> Iterator[int]:
    """Blocks between the two that are known: all, or evenly spread, and at distances of 1, 4, 16... from either."""
    low = bracket.before.number if bracket.before else -1
    high = bracket.after.number
    width = high - low
    if width <= 3 * STEPS:
        yield from range(low + 1, high)
        return
    yield from (low + width * step // STEPS for step in range(1, STEPS))
    distance = 1
    while distance < width:
        yield low + distance
        yield high - distance
        distance *= 4
