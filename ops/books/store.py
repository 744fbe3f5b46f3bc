"""The books' file. One transaction holds what was read and how far it was read, so a crash loses nothing and doubles nothing.

SQLite has a rollback journal here and no write-ahead log: the books are one file when nobody writes. A transaction
begins before the ledger is read. So of two writers one waits, and neither writes what is older than what the other has read.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ops.books.facts import CALL, TRANSFER, Fact
from ops.chains import Fee
from ops.queries import Failed
from shared.settings.service import Settings

FILE = "books.sqlite"
SCHEMA = 1
WAIT_S = 30.0
"""For another writer's transaction."""
KEPT = "kept"
"""The position that says when everything was read last, in Unix seconds."""
DAY_MS = 24 * 3600 * 1000

_TABLES = """
CREATE TABLE entries (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, network TEXT NOT NULL, asset TEXT NOT NULL, endpoint TEXT NOT NULL,
  payer TEXT NOT NULL, amount TEXT NOT NULL, tx TEXT NOT NULL, settled INTEGER NOT NULL, state TEXT NOT NULL,
  lost INTEGER NOT NULL, has_fee INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX by_time ON entries (settled);
CREATE INDEX by_transaction ON entries (network, tx);
CREATE INDEX without_fee ON entries (network, settled) WHERE has_fee = 0;
CREATE TABLE fees (
  network TEXT, tx TEXT, amount TEXT NOT NULL, sender TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (network, tx)
) WITHOUT ROWID;
CREATE TABLE settlers (address TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE charges (
  day INTEGER, channel TEXT, endpoint TEXT, network TEXT NOT NULL, asset TEXT NOT NULL, payer TEXT NOT NULL,
  calls INTEGER NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY (day, channel, endpoint)
) WITHOUT ROWID;
CREATE TABLE challenges (day INTEGER, endpoint TEXT, count INTEGER NOT NULL, PRIMARY KEY (day, endpoint)) WITHOUT ROWID;
CREATE TABLE counted (name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (at INTEGER NOT NULL, text TEXT NOT NULL);
"""
"""docs/books.md says what is in them. Days are counted from 1970-01-01. Wei may be more than SQLite's integers hold: text."""


class Unusable(Failed):
    """The file cannot be used. The text says why."""


class Books:
    """The file, for one thread.

    Args:
        keeps_payers: whether addresses of payers are written down.
        is_reader: it is not written, and has to be there.
    """

    def __init__(self, folder: Path, *, keeps_payers: bool = True, is_reader: bool = False) -> None:
        path = folder / FILE
        self._keeps_payers = keeps_payers
        # Who reads may have to take back what a killed writer has half written.
        url = f"{path.absolute().as_uri()}?mode={'rw' if is_reader else 'rwc'}"
        try:
            if is_reader:
                path.stat()
            self._db = sqlite3.connect(url, timeout=WAIT_S, isolation_level=None, uri=True)
            self._check(is_reader=is_reader)
        except FileNotFoundError:
            why = f"there are no books in {folder}: does the exporter run, or was `coinslot-ops books` called?"
            raise Unusable(why) from None
        except (OSError, sqlite3.Error) as error:
            raise Unusable(f"{path} cannot be used: {error}") from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written here, or nothing of it. Another writer waits meanwhile."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def position(self, name: str) -> str:
        """How far something was read; empty when it never was."""
        found = self._db.execute("SELECT value FROM positions WHERE name = ?", (name,)).fetchone()
        return str(found[0]) if found else ""

    def move(self, name: str, value: str) -> None:
        """It was read so far."""
        self._db.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (name, value))

    def note(self, at: int, text: str) -> None:
        """Write down, for a person, what happened to the books themselves."""
        self._db.execute("INSERT INTO notes VALUES (?, ?)", (at, text))

    def add(self, facts: Iterable[Fact]) -> None:
        """Write facts, or what has changed of them. A payment takes the line of the transfer that it is, and its own line from
        the time when payers were kept, or were not. The fee of one that is lost is read again: perhaps nothing was paid."""
        for fact in facts:
            hashed = hashlib.sha256(fact.id.encode()).hexdigest()
            other = hashed
            if not self._keeps_payers:
                other, fact = fact.id, fact._replace(id=hashed, payer="")
            self._db.execute(
                "UPDATE OR REPLACE entries SET id = ?, payer = ? WHERE id = ?", (fact.id, fact.payer, other)
            )
            changed = self._db.execute(
                "UPDATE entries SET state = ?1, lost = ?2, tx = ?3, has_fee = has_fee AND tx = ?3 AND lost = ?2 WHERE id = ?4",
                (fact.state, fact.lost, fact.transaction, fact.id),
            )
            if changed.rowcount:
                continue
            if fact.kind == CALL:
                self._db.execute(
                    "DELETE FROM entries WHERE id = (SELECT id FROM entries WHERE network = ? AND tx = ? AND kind = ?"
                    " AND amount = ? AND payer = ? LIMIT 1)",
                    (fact.network, fact.transaction, TRANSFER, fact.amount, fact.payer),
                )
            self._db.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)", fact)

    def add_fees(self, network: str, fees: Mapping[str, Fee]) -> None:
        """Write what transactions cost."""
        rows = ((network, name, str(fee.amount), fee.sender, fee.source) for name, fee in fees.items())
        self._db.executemany("INSERT OR REPLACE INTO fees VALUES (?, ?, ?, ?, ?)", rows)
        named = ((network, name) for name in fees)
        self._db.executemany("UPDATE entries SET has_fee = 1 WHERE network = ? AND tx = ?", named)

    def add_settlers(self, addresses: Iterable[str]) -> None:
        """Write down accounts whose fees are ours."""
        self._db.executemany("INSERT OR IGNORE INTO settlers VALUES (?)", ((address,) for address in addresses))

    def without_fee(self, network: str, count: int) -> list[tuple[str, int, bool]]:
        """Transactions whose fee was not read, those of the newest payments first: each with the time of a payment in Unix
        milliseconds, and whether that payment is lost."""
        return self._db.execute(
            "SELECT tx, settled, lost FROM entries WHERE network = ? AND has_fee = 0 AND tx != '' GROUP BY tx"
            " ORDER BY settled DESC LIMIT ?",
            (network, count),
        ).fetchall()

    def grown(self, name: str, count: int) -> int:
        """By how much a count has grown since it was read last."""
        found = self._db.execute("SELECT count FROM counted WHERE name = ?", (name,)).fetchone()
        known = int(found[0]) if found else 0
        if count > known:
            self._db.execute("INSERT OR REPLACE INTO counted VALUES (?, ?)", (name, count))
        return max(0, count - known)

    def charge(
        self, day: int, channel: str, endpoint: str, network: str, asset: str, payer: str, calls: int, amount: int
    ) -> None:
        """Write calls that a channel paid."""
        self._db.execute(
            "INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " calls = calls + excluded.calls, amount = amount + excluded.amount",
            (day, channel, endpoint, network, asset, payer if self._keeps_payers else "", calls, amount),
        )

    def challenge(self, day: int, endpoint: str, count: int) -> None:
        """Write 402s of requests without a payment."""
        self._db.execute(
            "INSERT INTO challenges VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            (day, endpoint, count),
        )

    def entries_of(self, network: str, transaction: str) -> list[Fact]:
        """The entries of a transaction."""
        found = self._db.execute("SELECT * FROM entries WHERE network = ? AND tx = ?", (network, transaction))
        return [Fact(*row[:-1]) for row in found]

    def rows(self, question: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The answer to a question."""
        return iter(self._db.execute(question, values))

    def _check(self, *, is_reader: bool) -> None:
        if not is_reader:
            self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.execute("PRAGMA synchronous = FULL")
            with self.transaction():
                if not self._db.execute("PRAGMA user_version").fetchone()[0]:
                    for statement in filter(str.strip, _TABLES.split(";")):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version = {SCHEMA}")
        if (found := self._db.execute("PRAGMA user_version").fetchone()[0]) != SCHEMA:
            raise Unusable(f"the books have schema {found}, and this version reads {SCHEMA}")


def open_books(settings: Settings, *, is_reader: bool = False) -> Books:
    """The books of an installation. Raises Unusable."""
    if not settings.books_dir:
        raise Unusable("no books are kept: set COINSLOT_BOOKS_DIR to a folder for them")
    folder = Path(settings.books_dir)
    if not is_reader:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unusable(f"{folder} cannot be made: {error.strerror}") from None
    return Books(folder, keeps_payers=settings.books_payers, is_reader=is_reader)
