"""`coinslot-ops books`: write what is new, once; with --rebuild all that the ledger and the chains still know."""

from __future__ import annotations

import sqlite3
import sys
import time
from datetime import UTC, date, datetime

from ops.books import history
from ops.books.keeper import Keeper
from ops.books.store import Unusable, open_books
from ops.chains import evm
from shared.ledger.keys import BUCKETS
from shared.servers.ledger_servers import connect_ledger
from shared.settings.service import Settings

REBUILD_DAYS = 90
"""How far back the chains are read where nothing else is said."""


def report(settings: Settings, *, is_rebuild: bool, since: date | None) -> int:
    """Do it, and print what was found. Returns the exit code. Raises RedisError, Unusable."""
    if since and not is_rebuild:
        print("coinslot-ops: --since is for --rebuild", file=sys.stderr)
        return 2
    books = open_books(settings)
    since_s = int(time.time()) - REBUILD_DAYS * 24 * 3600
    if since is not None:
        since_s = int(datetime(since.year, since.month, since.day, tzinfo=UTC).timestamp())
    try:
        with connect_ledger(settings) as ledger:
            keeper = Keeper(settings, ledger, books)
            if is_rebuild:
                print(f"the ledger: {keeper.journal.read_records(range(BUCKETS))} payments")
                if settings.evm.has_channels and settings.evm.rpc_url:
                    first = evm.block_at(settings.evm.rpc_url, since_s)
                    with books.transaction():
                        books.move(f"blocks {settings.evm.network}", str(first - 1))
                for sentence in history.complete(settings, books, since_s):
                    print(sentence)
            keeper.tick(is_all=True)
        ((count, unread),) = books.rows(
            "SELECT count(*), count(*) FILTER (WHERE has_fee = 0 AND tx != '') FROM entries"
        )
        print(f"the books have {count} entries; the fees of {unread} are not read yet")
    except sqlite3.Error as error:
        raise Unusable(f"the books cannot be written: {error}") from None
    finally:
        books.close()
    return 0
