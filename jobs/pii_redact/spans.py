"""The places of findings, and how overlapping findings are merged."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

PiiKind = Literal["email", "phone", "ssn", "credit_card", "ipv4", "hex_secret", "secret", "iban"]

KINDS: tuple[PiiKind, ...] = get_args(PiiKind)

PRECEDENCE: tuple[PiiKind, ...] = ("email", "credit_card", "iban", "ssn", "ipv4", "hex_secret", "secret", "phone")
"""If two overlapping findings are equally long, a caller's pattern counts, then the earlier kind in this list."""

_RANKS: dict[str, int] = {kind: -place for place, kind in enumerate(PRECEDENCE)}
PLACEHOLDERS: dict[str, str] = {kind: f"[{kind.upper()}]" for kind in KINDS}


class Span(NamedTuple):
    """A half-open range of code points and its kind: a PiiKind, or the name of a caller's pattern."""

    start: int
    end: int
    kind: str


def merge(spans: Iterable[Span]) -> list[Span]:
    """Sort the spans and merge overlapping ones. A merged span has the kind of the longest."""
    merged: list[Span] = []
    longest = 0
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            better = _rank(span.end - span.start, span.kind) > _rank(longest, last.kind)
            longest = max(longest, span.end - span.start)
            merged[-1] = Span(last.start, max(last.end, span.end), span.kind if better else last.kind)
        else:
            longest = span.end - span.start
            merged.append(span)
    return merged


def _rank(length: int, kind: str) -> tuple[int, int]:
    return length, _RANKS.get(kind, 1)
