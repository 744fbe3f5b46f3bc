"""Keeps the books: what the ledger, the metrics and the chains say, as it happens, and for `coinslot-ops books` once."""

from __future__ import annotations

import logging
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import redis
from redis.exceptions import RedisError

from ops import chains
from ops.books import channels, history
from ops.books.journal import Journal
from ops.books.store import DAY_MS, KEPT, Books, Unusable, open_books
from ops.chains import NODE_ERRORS, NOT_FOUND, Fee, evm
from ops.counted import CountedSeries
from ops.queries import get_json
from shared.ledger.keys import BUCKETS
from shared.servers.ledger_servers import connect_ledger
from shared.servers.ledger_start import WrongLedger
from shared.settings.secret_files import read_headers
from shared.settings.service import InvalidSetting, Settings

log = logging.getLogger(__name__)

TICK_S = 1.0
CHANNELS_S = 10.0
"""How often channels are looked at that owe something. Every claim has a line in the journal."""
FEES_S = 5.0
SLOW_S = 60.0
"""How often 402s are counted, our accounts asked for, and blocks searched for what channels paid out."""
TRY_AGAIN_S = 5.0
"""When the file or the ledger cannot be used."""
FEES_AT_ONCE = 200
GIVE_UP_MS = 3 * DAY_MS
"""A transaction so much older that no node shows has no fee in the books."""

REBUILD_DAYS = 90
"""How far back the chains are read where nothing else is said."""


class Keeper:
    """Writes what is new."""

    def __init__(self, settings: Settings, ledger: redis.Redis, books: Books) -> None:
        self._settings = settings
        self._books = books
        self.journal = Journal(ledger, books)
        self._due: dict[str, float] = {}
        self._absent: dict[str, tuple[float, float]] = {}
        """Transactions that the node did not show: when to ask again, and after which pause."""
        self._failing: set[str] = set()

    def tick(self, *, is_all: bool = False) -> None:
        """Do what is due. Raises RedisError and sqlite3.Error; a node that does not answer is asked again later.

        Args:
            is_all: what is not due yet, too.
        """
        while self.journal.follow():
            pass
        for name, every_s, work in (
            ("channels", CHANNELS_S, self.journal.read_owing),
            ("challenges", SLOW_S, self._count_challenges),
            ("settlers", SLOW_S, self._learn_settlers),
            ("blocks", SLOW_S, self._read_blocks),
            ("fees", FEES_S, self._read_fees),
            ("time", SLOW_S, self._note_time),
        ):
            if is_all or time.monotonic() >= self._due.get(name, 0.0):
                self._try(name, work)
                self._due[name] = time.monotonic() + every_s

    def _try(self, name: str, work: Callable[[], None]) -> None:
        """Do something that needs a node or a file. One that fails keeps nothing else from being written."""
        try:
            work()
            self._failing.discard(name)
        except RedisError:
            raise
        except NODE_ERRORS as error:
            if name not in self._failing:
                log.warning("books: %s cannot be read: %s: %s", name, type(error).__name__, error)
            self._failing.add(name)

    def _count_challenges(self) -> None:
        """The exporter's sums of this machine; they begin again in another folder."""
        if not self._settings.metrics_dir:
            return
        folder = Path(self._settings.metrics_dir)
        folder.mkdir(parents=True, exist_ok=True)
        name = folder / "folder.id"
        if not name.exists():
            name.write_text(secrets.token_hex(8))
        run, day = name.read_text(), int(time.time() * 1000) // DAY_MS
        with self._books.transaction():
            for family in CountedSeries(folder).read():
                for sample in family.samples:
                    if sample.name == "coinslot_calls_total" and sample.labels["cause"] == "unpaid":
                        endpoint = sample.labels["endpoint"]
                        if count := self._books.grown(f"402 {run} {endpoint}", int(sample.value)):
                            self._books.challenge(day, endpoint, count)

    def _learn_settlers(self) -> None:
        """The accounts of our facilitator on EVM networks. Another facilitator may settle there beside it."""
        for own in self._settings.rails.values():
            if own.pay_to and own.rpc_url and own.network.startswith("eip155:"):
                _, answer = get_json(f"{own.facilitator_url}/supported", read_headers(own.facilitator_headers_file))
                signers = (answer or {}).get("signers", {}).get("eip155:*", ())
                with self._books.transaction():
                    self._books.add_settlers(address.lower() for address in signers)

    def _note_time(self) -> None:
        with self._books.transaction():
            self._books.move(KEPT, str(int(time.time())))

    def _read_blocks(self) -> None:
        channels.read_blocks(self._settings, self._books)

    def _read_fees(self) -> None:
        for name in self._settings.rails:
            self._try(f"fees of {name}", partial(self._read_fees_of, name))

    def _read_fees_of(self, name: str) -> None:
        own = self._settings.rails[name]
        most = FEES_AT_ONCE + len(self._absent)
        while asked := [each for each in self._books.without_fee(own.network, most) if self._is_due(each[0])]:
            found = dict(chains.fees(name, own.rpc_url, [transaction for transaction, _, _ in asked]))
            for transaction, settled, lost in asked:
                if transaction not in found and (lost or time.time() * 1000 - settled > GIVE_UP_MS):
                    found[transaction] = Fee(0, source=NOT_FOUND)
                if transaction in found:
                    self._absent.pop(transaction, None)
                else:
                    self._put_off(transaction)
            with self._books.transaction():
                self._books.add_fees(own.network, found)

    def _is_due(self, transaction: str) -> bool:
        return time.monotonic() >= self._absent.get(transaction, (0.0, 0.0))[0]

    def _put_off(self, transaction: str) -> None:
        pause_s = min(2 * self._absent.get(transaction, (0.0, FEES_S / 2))[1], 3600.0)
        self._absent[transaction] = (time.monotonic() + pause_s, pause_s)


def keep(settings: Settings, stopping: threading.Event) -> None:
    """Keep the books until `stopping` is set. Whatever fails is tried again, and said once."""
    said = ""
    while not stopping.is_set():
        try:
            books = open_books(settings)
            try:
                with connect_ledger(settings) as ledger:
                    keeper = Keeper(settings, ledger, books)
                    while True:
                        keeper.tick()
                        if said:
                            log.warning("the books are kept again")
                            said = ""
                        if stopping.wait(TICK_S):
                            return
            finally:
                books.close()
        except (RedisError, WrongLedger, InvalidSetting, Unusable, OSError, sqlite3.Error) as error:
            why = f"{type(error).__name__}: {error}"
        except Exception as error:  # what nobody thought of: metrics are served on
            log.exception("the books")
            why = type(error).__name__
        if why != said:
            log.warning("the books are not kept: %s", why)
            said = why
        stopping.wait(TRY_AGAIN_S)


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
