"""How new paid calls ended, by endpoint and rail: what /status shows and the exporter serves.

Each API process writes what it has counted into fields that it alone writes, of three hashes in the ledger: one for these five
minutes, one for this hour and one for this day. Readers add up the fields of all hashes in a window. So all processes show the
same, a write that is repeated counts nothing twice, and a restart loses nothing. A name in it is an endpoint's, a rail's or a
cause's: no caller can make a new one.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from shared.ledger.keys import PREFIXES

FORM = 1
"""The number of the form of a field. A field of another form is left out, as if its process had not reported."""
WRITE_S = 10.0
"""Between the writes of a process."""
QUANTILES = (0.5, 0.95)
STEPS = 20
"""Buckets for each power of ten: each is 12 % wider than the one before."""
_SHORTEST_S, _LAST_BUCKET = 0.001, 5 * STEPS

Result = Literal["answered", "failed", "refused", "caller_failed"]
"""How a call ended. `failed`: it was charged, or may have been, and has no answer, by our fault. `refused`: the service could
not take it, and did not charge it. `caller_failed`: what the caller named does not work."""
OURS: tuple[Result, ...] = ("failed", "refused")
RESULTS: tuple[Result, ...] = ("answered", *OURS, "caller_failed")

Key = TypeVar("Key")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Window:
    """A time until now. It begins with a slot, so it is up to one slot longer than `length_s`."""

    name: str
    length_s: int
    slot_s: int

    @property
    def keep_s(self) -> int:
        """How long a slot's hash is kept after it was written."""
        return self.length_s + self.slot_s

    def slots(self, now: float) -> range:
        """The numbers of its slots; the last one is not over yet."""
        return range(int((now - self.length_s) // self.slot_s), int(now // self.slot_s) + 1)

    def key(self, slot: int) -> str:
        """The ledger's key of a slot. All are in one bucket, so that one server has the whole."""
        return f"{PREFIXES[BUCKET]}status:{self.name}:{slot}"

    def keys(self, now: float) -> list[str]:
        """The ledger's keys of its slots."""
        return [self.key(slot) for slot in self.slots(now)]


BUCKET = 0
WINDOWS = (Window("1h", 3600, 300), Window("24h", 24 * 3600, 3600), Window("30d", 30 * 24 * 3600, 24 * 3600))


class Failures(msgspec.Struct, array_like=True):
    """Calls that ended for one cause. `last`: when the last one did, in Unix seconds."""

    count: int = 0
    last: int = 0


class Cell(msgspec.Struct, array_like=True):
    """The calls of one endpoint on one rail.

    Attributes:
        seconds: the answered calls, by the number of their bucket (`bucket_of`).
        failures: the other ones, by result and cause.
    """

    seconds: dict[int, int] = {}
    failures: dict[tuple[Result, str], Failures] = {}

    def add(self, other: "Cell") -> None:
        """Add what another process, or another time, has counted."""
        for bucket, count in other.seconds.items():
            self.seconds[bucket] = self.seconds.get(bucket, 0) + count
        for key, failures in other.failures.items():
            ours = _of(self.failures, key, Failures)
            ours.count += failures.count
            ours.last = max(ours.last, failures.last)

    def count(self, result: Result) -> int:
        """How many calls ended so."""
        if result == "answered":
            return sum(self.seconds.values())
        return sum(failures.count for (ended, _), failures in self.failures.items() if ended == result)

    def quantile(self, share: float) -> float | None:
        """The seconds within which this share of the answered calls was answered; None without any.

        It is the upper end of a bucket, so the true value is up to 11 % lower.
        """
        missing = math.ceil(share * self.count("answered"))
        for bucket in sorted(self.seconds):
            missing -= self.seconds[bucket]
            if missing <= 0:
                return upper_end_s(bucket)
        return None


class Tally(msgspec.Struct, array_like=True):
    """What was counted: by one process in one slot, by all of them in a window, or the part of it that a field has.

    Attributes:
        spans: from when to when somebody counted, in Unix seconds, in order and apart from each other.
        cells: by endpoint and rail.
    """

    form: int = FORM
    spans: list[tuple[int, int]] = []
    cells: dict[tuple[str, str], Cell] = {}

    def count(self, endpoint: str, rail: str, result: Result, cause: str, took_s: float, now: float) -> None:
        """Count a call that has ended."""
        cell = _of(self.cells, (endpoint, rail), Cell)
        if result == "answered":
            bucket = bucket_of(took_s)
            cell.seconds[bucket] = cell.seconds.get(bucket, 0) + 1
        else:
            failures = _of(cell.failures, (result, cause), Failures)
            failures.count += 1
            failures.last = max(failures.last, int(now))

    def add(self, other: "Tally") -> None:
        """Add what another process, or another time, has counted."""
        self.spans = list(_joined(self.spans + other.spans))
        for key, cell in other.cells.items():
            _of(self.cells, key, Cell).add(cell)

    def total(self, *, endpoint: str | None = None, rail: str | None = None) -> Cell:
        """All calls, or those of an endpoint, of a rail, or of both."""
        if endpoint is not None and rail is not None:
            return self.cells.get((endpoint, rail), Cell())
        total = Cell()
        for (its_endpoint, its_rail), cell in self.cells.items():
            if endpoint in (None, its_endpoint) and rail in (None, its_rail):
                total.add(cell)
        return total

    def known(self, window: Window, now: float) -> tuple[int, int]:
        """For how many seconds of a window somebody counted, and how many seconds it has."""
        begin, end = window.slots(now)[0] * window.slot_s, int(now)
        if self.spans and 0 < end - self.spans[-1][1] < 3 * WRITE_S:
            end = self.spans[-1][1]  # what is counted now is written in some seconds
        return sum(max(0, min(last, end) - max(first, begin)) for first, last in self.spans), end - begin


def bucket_of(took_s: float) -> int:
    """The number of a time's bucket."""
    return min(_LAST_BUCKET, math.ceil(STEPS * math.log10(max(1.0, took_s / _SHORTEST_S))))


def upper_end_s(bucket: int) -> float:
    """The longest time of a bucket, to three digits. The last bucket has no end."""
    return float(f"{_SHORTEST_S * 10 ** (bucket / STEPS):.3g}")


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Tally)


def fields_of(process: str, tally: Tally, keys: Iterable[tuple[str, str]]) -> Iterator[str | bytes]:
    """Names and values of the fields of a process: one for its spans, and one for each of these cells.

    Args:
        process: a name that no other process has.
    """
    yield from (process, _encoder.encode(Tally(spans=tally.spans)))
    for key in keys:
        yield from (":".join((process, *key)), _encoder.encode(Tally(cells={key: tally.cells[key]})))


def summed(fields: Iterable[bytes]) -> Tally:
    """The sum of the values of fields, without those that this version cannot read."""
    total = Tally()
    for field in fields:
        try:
            tally = _decoder.decode(field)
        except msgspec.DecodeError:
            continue
        if tally.form == FORM:
            total.add(tally)
    return total


def _of(known: dict[Key, Made], key: Key, make: type[Made]) -> Made:
    found = known.get(key)
    if found is None:
        found = known[key] = make()
    return found


def _joined(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans in order, where those that touch are one."""
    current: tuple[int, int] | None = None
    for begin, end in sorted(spans):
        if current is None:
            current = begin, end
        elif begin <= current[1]:
            current = current[0], max(current[1], end)
        else:
            yield current
            current = begin, end
    if current is not None:
        yield current
