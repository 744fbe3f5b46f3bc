"""`coinslot-ops revenue`: prints what the books say of some days, or compares it with the chains."""

import csv
import json
import sqlite3
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from typing import Any, Literal

from ops.books import history
from ops.books.facts import folded
from ops.books.revenue import EXACT, GROUPS, Line, plain, summed
from ops.books.store import DAY_MS, KEPT, Books, Unusable, open_books
from shared.settings.service import Settings

STALE_S = 600
"""Books in which nothing was written for so long are not kept any more."""
RECENT_S = 60
"""Transfers of so many seconds may not be in the ledger yet, or not in the books: they are not compared."""


def age(settings: Settings) -> tuple[Literal["ok", "warn"], str]:
    """Whether the books are kept, and a sentence about it."""
    if not settings.books_dir:
        return "ok", "none are kept: COINSLOT_BOOKS_DIR is not set"
    try:
        with closing(open_books(settings, is_reader=True)) as books:
            kept_s = time.time() - int(books.position(KEPT) or 0)
    except (Unusable, sqlite3.Error) as error:
        return "warn", str(error)
    if kept_s > STALE_S:
        return (
            "warn",
            f"nothing was written since {datetime.fromtimestamp(time.time() - kept_s, UTC):%Y-%m-%d %H:%M} UTC",
        )
    return "ok", f"{settings.books_dir} is kept"


def add_options(parser: ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--from", dest="since", type=day, metavar="DAY", help="the first day, UTC (of this month)")
    parser.add_argument("--to", dest="until", type=day, metavar="DAY", help="the last day, UTC (today)")
    parser.add_argument("--by", choices=GROUPS, default="endpoint", help="what a line is about (endpoint)")
    parser.add_argument(
        "--not", dest="without", nargs="+", default=[], metavar="WALLET", help="leave out your own wallets"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--check", action="store_true", help="compare what was received with the chains instead")
    form.add_argument("--csv", action="store_true", help="with all amounts in atomic units, too")
    form.add_argument("--json", action="store_true", help="one JSON object a line")


def day(text: str) -> date:
    """A day of an option, such as 2026-11-24."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no day like 2026-11-24") from None


def report(settings: Settings, chosen: Namespace) -> int:
    """Print it. Returns the exit code. Raises Unusable.

    Args:
        chosen: the command's options.
    """
    try:
        first, end = _days(chosen.since, chosen.until)
        if chosen.without and chosen.check:
            raise ValueError("--check compares what all wallets have paid: leave out --not")
        if chosen.without and not settings.books_payers:
            raise Unusable("--not needs payers, and COINSLOT_BOOKS_PAYERS is 0")
        books = open_books(settings, is_reader=True)
    except ValueError as error:
        print(f"coinslot-ops: {error}", file=sys.stderr)
        return 2
    try:
        level, sentence = age(settings)
        if level != "ok":
            print(f"coinslot-ops: {sentence}", file=sys.stderr)
        with localcontext(EXACT):
            if chosen.check:
                return _check(settings, books, first, end)
            without = {folded(one) for one in chosen.without}
            for wallet in sorted(without - _payers(books) if without else ()):
                print(f"coinslot-ops: the books have no payment of {wallet}", file=sys.stderr)
            lines = summed(books, first * DAY_MS, end * DAY_MS, chosen.by, without)
            _print(lines, chosen)
    except sqlite3.Error as error:
        raise Unusable(f"the books cannot be read: {error}") from None
    finally:
        books.close()
    return 0


def _days(since: date | None, until: date | None) -> tuple[int, int]:
    """The first day, and the day after the last one, counted from 1970-01-01: by default this month until today.

    Raises ValueError.
    """
    today = datetime.now(UTC).date()
    first, last = since or today.replace(day=1), until or today
    if last < first:
        raise ValueError(f"the last day {last} is before the first, {first}: set both --from and --to")
    began = date(1970, 1, 1)
    return (first - began).days, (last - began).days + 1


def _payers(books: Books) -> set[str]:
    return {folded(payer) for (payer,) in books.rows("SELECT payer FROM entries UNION SELECT payer FROM charges")}


def _print(lines: list[Line], chosen: Namespace) -> None:
    if chosen.csv:
        writer = csv.DictWriter(sys.stdout, Line("").row(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(one.row() for one in lines)
    elif chosen.json:
        for shown in (*(one.row() for one in lines), {"total": _total(lines)}):
            print(json.dumps(shown))
    else:
        for one in lines:
            print(_text(one, [each for each in lines if each.key == one.key or not one.key]))
        print(", ".join(f"{name} {value}" for name, value in _total(lines).items() if value is not None))


def _text(line: Line, of_key: Iterable[Line]) -> str:
    if not line.network:
        paid = sum(each.calls for each in of_key)
        return f"{line.key:24} {line.challenges} requests without a payment (402), and {paid} paid calls"
    shown = line.row()
    names = (name for name in ("by_channels", "refundable", "refunded", "lost") if getattr(line, name))
    more = "".join(f"  {name} {shown[name]}" for name in names)
    return (
        f"{line.key:24} {line.rail or line.network:10} {line.calls:8} calls  charged {shown['charged']}"
        f"  received {shown['received']} {line.token}  fees {shown['fees']} {line.coin} ({line.fees_of or '-'}){more}"
    )


def _total(lines: list[Line]) -> dict[str, Any]:
    """Sums over all tokens, each of which is worth a dollar."""
    calls, challenges = sum(one.calls for one in lines), sum(one.challenges for one in lines)
    dollars = {
        name: plain(sum((one.whole(getattr(one, name)) for one in lines), Decimal(0)))
        for name in ("charged", "by_channels", "received", "refundable", "refunded", "lost")
    }
    fees: dict[str, Decimal] = {}
    for one in lines:
        if one.fees:
            fees[one.coin] = fees.get(one.coin, Decimal(0)) + Decimal(one.fees).scaleb(-one.coin_decimals)
    shown = {f"{name}_dollars": value for name, value in dollars.items()}
    of_coins = {f"fees_{coin}": plain(amount) for coin, amount in sorted(fees.items())}
    conversion = f"{calls / challenges:.4f}" if challenges else None
    return {"calls": calls, **shown, **of_coins, "challenges": challenges, "conversion": conversion}


def _check(settings: Settings, books: Books, first: int, end: int) -> int:
    """Print what the chains show beside the books. Returns 1 when they differ, and 3 when not all could be read."""
    code = 0
    seconds = DAY_MS // 1000
    for one in history.compare(settings, books, first * seconds, min(end * seconds, int(time.time()) - RECENT_S)):
        for difference in one.differences:
            print(f"{one.rail}: {difference}")
        print(f"{one.rail}: {one.transfers} transfers to the recipient, {len(one.differences)} differences")
        if one.lacks:
            print(f"{one.rail}: not all was compared: {one.lacks}")
        code = 1 if one.differences else code or (3 if one.lacks else 0)
    return code
