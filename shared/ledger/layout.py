"""The layout of the ledger's keys. Each bucket has its number, and no process uses a server that has another one, or a bucket
without one that had one before: it would take used payments for new ones, and would not find stored answers.

Every process checks the same, and not all have the same client. So a check is a generator: it yields commands, receives their
answers, with an exception in place of what the server refused, and returns why the server must not be used, or "".
"""

from collections.abc import Collection, Generator, Sequence
from pathlib import Path
from typing import Any

from shared.layouts import LEDGER
from shared.ledger.keys import BUCKETS, JOURNAL, of_each_bucket
from shared.ledger.servers import NOT_RUN, kind_of
from shared.lua_script import Command, load

KEYS = of_each_bucket("layout")
"""By bucket: its number. It moves with the bucket from server to server."""
EARLIER_KEY = "coinslot:layout"
"""The number of a whole server, as 0.2.0 wrote it."""
EARLIER_PLACE = "coinslot:place"
"""Which server of how many it is, as 0.2.0 wrote it: ``1 of 2``."""
COPYING = "copying"
"""In place of a bucket's number while its keys are copied (ops/ledger_copy.py). Every process refuses it."""
EARLIER = tuple(f"coinslot:{name}" for name in ("journal", "open", "refundable", "recheck", "lost"))
"""Keys of layout 1. Every payment left a line in its journal."""
EARLIER_RECORDS = "coinslot:payment:*"
"""A pattern for SCAN: records of layout 1."""

HAS_EARLIER = (
    "it has payments in an earlier layout, which this version does not read: start the version that wrote them, and see "
    "docs/operations.md, Updating"
)
IS_COPIED = (
    "a copy into it is under way, or broke off: wait for its end, or repeat `coinslot-ops ledger copy` (see docs/scaling.md, "
    "From a list of primaries)"
)
IS_EMPTY = (
    "it is empty, or has lost some buckets, and it was used before: bring its data back, or, if they are lost, start once with "
    "--new-ledger (see docs/operations.md, Updating)"
)

Check = Generator[Sequence[Command], Sequence[Any], str]

_SET_ONCE = load(Path(__file__).with_name("lua") / "set_once.lua")
_OF_SERVER = tuple(("EXISTS", key) for key in EARLIER)


def checked(buckets: Sequence[int], known: set[int]) -> Check:
    """Check buckets on the server that has them. Where there is no number, it gets one, if it is empty or has keys of this
    layout. One with an earlier number that this version reads gets the number of what is written from now on.

    Args:
        buckets: those that have moved to another server meanwhile are left out.
        known: the buckets that were used before, and so cannot be empty. What is found is added.
    """
    numbers, earlier, why = yield from _asked(buckets)
    if why:
        return why
    lacking = [bucket for bucket, number in numbers.items() if number is None]
    if known.intersection(lacking) and not (yield from _is_unmarked(lacking, numbers, earlier)):
        return IS_EMPTY
    raised = [bucket for bucket, number in numbers.items() if number is not None and int(number) < LEDGER.written]
    written = str(LEDGER.written)
    found = yield [_SET_ONCE.eval({"key": KEYS[bucket], "value": written}) for bucket in lacking]
    for number in found:
        if isinstance(number, Exception) or (why := _wrong(number)):
            return why or f"it refuses to be used: {number}"
    yield [("SET", KEYS[bucket], written) for bucket in raised]
    known.update(numbers)
    return ""


def checked_at_start(buckets: Sequence[int], known: set[int]) -> Check:
    """As `checked`, and once, for a server without a number, all keys are looked at."""
    return (yield from _has_earlier_records(buckets)) or (yield from checked(buckets, known))


def checked_by_reader(buckets: Sequence[int]) -> Check:
    """As `checked_at_start`, but nothing is written: buckets without a number will do."""
    if why := (yield from _has_earlier_records(buckets)):
        return why
    _, _, why = yield from _asked(buckets)
    return why


def _asked(buckets: Sequence[int]) -> Generator[Sequence[Command], Sequence[Any], tuple[dict[int, Any], Any, str]]:
    """The number of each bucket that is here, that of the whole server, and why it must not be used."""
    earlier, *found = yield (("GET", EARLIER_KEY), *_OF_SERVER, *(("GET", KEYS[bucket]) for bucket in buckets))
    numbers = {}
    for bucket, number in zip(buckets, found[len(_OF_SERVER) :], strict=True):
        if not isinstance(number, Exception):
            numbers[bucket] = number
        elif kind_of(number) not in NOT_RUN:
            return {}, None, f"it refuses to be read: {number}"
    earlier = None if isinstance(earlier, Exception) else earlier
    for number in {earlier, *numbers.values()} - {None}:
        if why := _wrong(number):
            return {}, None, why
    if earlier is None and not any(numbers.values()) and any(_is_there(answer) for answer in found[: len(_OF_SERVER)]):
        return {}, None, HAS_EARLIER
    return numbers, earlier, ""


def _is_unmarked(
    lacking: Collection[int], numbers: dict[int, Any], earlier: Any
) -> Generator[Sequence[Command], Sequence[Any], bool]:
    """Whether the version before this one has left it: all of it is without numbers, and it is not empty."""
    if len(lacking) < len(numbers):
        return False
    if earlier is not None:
        return True
    journals = yield [("EXISTS", JOURNAL[bucket]) for bucket in lacking]
    return any(map(_is_there, journals))


def _has_earlier_records(buckets: Sequence[int]) -> Check:
    found = yield (("GET", EARLIER_KEY), *(("GET", KEYS[bucket]) for bucket in buckets))
    cursor: Any = 0
    while not any(map(_is_there, found)):
        (answer,) = yield (("SCAN", int(cursor), "MATCH", EARLIER_RECORDS, "COUNT", 10_000),)
        if isinstance(answer, Exception):
            return f"it refuses to be read: {answer}"
        cursor, keys = answer
        if keys:
            return HAS_EARLIER
        if int(cursor) == 0:
            break
    return ""


def _is_there(answer: Any) -> bool:
    return bool(answer) and not isinstance(answer, Exception)


def _wrong(found: Any) -> str:
    number = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return IS_COPIED if number == COPYING else LEDGER.wrong(int(number) if number.isdecimal() else number)


ALL = tuple(range(BUCKETS))
"""The buckets of a plain server."""
