"""Runs a pattern in V8, within limits of time and size."""

import functools
from typing import Annotated

import msgspec

from jobs.fields import doc
from jobs.regex_test.cursor import PatternError
from jobs.regex_test.program import PROGRAM
from jobs.regex_test.v8 import Isolate, LimitReached

LIMIT_S = 0.05
"""CPU time for compiling a pattern and matching it."""
REPORT_LIMIT_S = 1.0
"""CPU time for writing the matches as JSON. It takes 20 ms at most, so the limit is never reached."""
MAX_MATCHES_BYTES = 1 << 20
"""Limit of all matches together, as JSON."""

Place = tuple[int, int]


class Match(msgspec.Struct, frozen=True, rename="camel"):
    """One match. Offsets and lengths are in UTF-16 units, as in JavaScript."""

    match: Annotated[str, doc("The matched text. Half of a surrogate pair at its edge is written as U+FFFD.")]
    index: Annotated[int, doc("0-based offset of the match in `input`, in UTF-16 units.")]
    length: Annotated[int, doc("Length of the match, in UTF-16 units.")]
    groups: Annotated[
        list[str | None], doc("What each capturing group matched, in their order; null for a group that did not match.")
    ]
    named_groups: Annotated[
        dict[str, str | None] | None, doc("What each named group matched, by name. Null when no group has a name.")
    ]
    indices: Annotated[
        list[Place | None] | None,
        doc("`[start, end]` of the match, then of each group, in UTF-16 units. Null without the flag d."),
    ]
    named_indices: Annotated[
        dict[str, Place | None] | None,
        doc("`[start, end]` of each named group, by name. Null without the flag d or without names."),
    ]


class Matches(msgspec.Struct, frozen=True):
    """The number of matches, the first of them, and the CPU time that they took."""

    count: int
    first: list[Match]
    cpu_s: float


class Exhausted(Exception):
    """The pattern took more time or memory than allowed.

    Attributes:
        cpu_s: CPU time spent.
    """

    def __init__(self, cpu_s: float) -> None:
        super().__init__("the pattern is too much")
        self.cpu_s = cpu_s


class _Found(msgspec.Struct, frozen=True):
    count: int
    syntax: str | None = None
    exhausted: bool = False


_found = msgspec.json.Decoder(_Found)
_match = msgspec.json.Decoder(Match)


@functools.cache
def isolate() -> Isolate:
    """The only isolate of this process."""
    return Isolate(PROGRAM)


def find(pattern: str, flags: str, text: str, *, limit: int) -> Matches:
    """Match as `text.matchAll(pattern)` does with the flag g, and as `pattern.exec(text)` does without.

    Args:
        limit: how many matches to return; all are counted. Fewer are returned when their JSON is too large.

    Raises:
        PatternError: V8 refuses the pattern. The position is unknown.
        Exhausted: it took more than LIMIT_S of CPU time, or more than V8's 64 MB backtracking stack.
        Unstoppable: V8 does not stop at the limit.
    """
    try:
        outcome = isolate().call("match", pattern, flags, text, str(limit), str(MAX_MATCHES_BYTES), limit_s=LIMIT_S)
        found = _found.decode(outcome.text)
        if found.syntax is not None:
            raise PatternError(found.syntax, 0)
        if found.exhausted:
            raise Exhausted(outcome.cpu_s)
        report = isolate().call("report", str(MAX_MATCHES_BYTES), limit_s=REPORT_LIMIT_S)
    except LimitReached as reached:
        raise Exhausted(reached.cpu_s) from None
    return Matches(found.count, _decoded(report.text), outcome.cpu_s)


def _decoded(lines: bytes) -> list[Match]:
    """Decode the matches whose JSON fits. V8 limits characters, which may have three bytes each; this limits bytes."""
    matches: list[Match] = []
    left = MAX_MATCHES_BYTES
    for line in lines.splitlines():
        left -= len(line)
        if left < 0:
            break
        matches.append(_match.decode(line))
    return matches
