"""The layout of the ledger's keys. Each server of the ledger has its number, and no process uses a server that has another one:
it would take used payments for new ones, and would not find stored answers.

Every process checks the same, and not all have the same client. So a check is a generator: it yields commands, receives their
answers, and returns why the server must not be used, or "".
"""

from collections.abc import Generator, Sequence
from typing import Any

from shared.layouts import LEDGER
from shared.ledger import position
from shared.ledger.keys import JOURNAL
from shared.lua_script import Command

KEY = "coinslot:layout"
"""It belongs to no bucket: each primary has its own."""
EARLIER = tuple(f"coinslot:{name}" for name in ("journal", "open", "refundable", "recheck", "lost"))
"""Keys of layout 1. Every payment left a line in its journal."""
EARLIER_RECORDS = "coinslot:payment:*"
"""A pattern for SCAN: records of layout 1."""

HAS_EARLIER = (
    "it has payments in an earlier layout, which this version does not read: start the version that wrote them, and see "
    "docs/operations.md, Updating"
)
IS_EMPTY = (
    "it is empty, and it was used before: bring its data back, or, if they are lost, start once with --new-ledger (see "
    "docs/operations.md, Updating)"
)

Check = Generator[Sequence[Command], Sequence[Any], str]


def checked(place: str, *, is_known: bool) -> Check:
    """Check a server. One without a number gets it, if it is empty or has keys of this layout. One with an earlier number that
    this version reads gets the number of what is written from now on.

    Args:
        place: of the server (shared/ledger/position.py).
        is_known: whether this server of the ledger was used before. Then it cannot be empty.
    """
    found_place, found, *earlier = yield _ASK
    if found is None:
        if any(earlier):
            return HAS_EARLIER
        if is_known and found_place is None and not any((yield [("EXISTS", key) for key in JOURNAL])):
            return IS_EMPTY
        (found,) = yield (position.take(str(LEDGER.written), KEY),)
    if why := _wrong(found):
        return why
    if int(found) < LEDGER.written:
        yield (("SET", KEY, str(LEDGER.written)),)
    if found_place is None:
        (found_place,) = yield (position.take(place),)
    return position.wrong(found_place, place)


def checked_at_start(place: str, *, is_known: bool) -> Check:
    """As `checked`, and once, for a server without a number, all keys are looked at."""
    return (yield from _has_earlier_records()) or (yield from checked(place, is_known=is_known))


def checked_by_reader(place: str) -> Check:
    """As `checked_at_start`, but nothing is written: a server without a number or a place will do."""
    if why := (yield from _has_earlier_records()):
        return why
    found_place, found, *earlier = yield _ASK
    if found is None and any(earlier):
        return HAS_EARLIER
    if found is not None and (why := _wrong(found)):
        return why
    return "" if found_place is None else position.wrong(found_place, place)


_ASK = (position.ASK, ("GET", KEY), *(("EXISTS", key) for key in EARLIER))


def _has_earlier_records() -> Check:
    (found,) = yield (("GET", KEY),)
    cursor = 0
    while found is None:
        ((cursor, keys),) = yield (("SCAN", int(cursor), "MATCH", EARLIER_RECORDS, "COUNT", 10_000),)
        if keys:
            return HAS_EARLIER
        if int(cursor) == 0:
            break
    return ""


def _wrong(found: Any) -> str:
    number = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return LEDGER.wrong(int(number) if number.isdecimal() else number)
