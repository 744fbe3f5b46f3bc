"""Follows the ledger's journal into the books.

Every line of the journal names a payment, and what is written down is what its record says then. So lines may be read twice,
and in any order. A journal has a bounded length: when lines were dropped before they were read, the bucket's records are read,
which are there for 30 days.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import cast

import redis

from ops.books import channels
from ops.books.facts import read_facts
from ops.books.store import Books
from shared.ledger.channels import CHANNELS, CLAIMABLE
from shared.ledger.keys import BUCKETS, JOURNAL, RECORDS, bucket_in, in_every_bucket
from shared.servers.ledger_servers import ask_each_bucket

log = logging.getLogger(__name__)

PAGE = 500
"""Lines of one bucket that are read at once."""
SCANNED = 1_000
"""Keys that a server looks at for one answer."""
START = "0-0"
"""The position before the first line."""
_EVENTS = frozenset({b"SETTLED", b"DONE", b"FAILED", b"LOST", b"REFUNDED", b"CLAIMING"})


class Journal:
    """Reads the journals of all buckets. Methods raise RedisError."""

    def __init__(self, ledger: redis.Redis, books: Books) -> None:
        self._ledger = ledger
        self._books = books

    def follow(self) -> int:
        """Read the next lines of every bucket. Returns how many there were."""
        with self._books.transaction():
            positions = [self._books.position(f"journal {bucket}") for bucket in range(BUCKETS)]
            # From the last line that was read: when it is no longer there, lines after it may be gone, too.
            pages = ask_each_bucket(
                self._ledger,
                lambda asked, bucket: asked.xrange(JOURNAL[bucket], min=positions[bucket] or START, count=PAGE),
            )
            torn, count = set(), 0
            for bucket, page in enumerate(pages):
                position = positions[bucket]
                lines = page[1:] if page and page[0][0].decode() == position else page
                if not position or (len(lines) == len(page) and self._is_torn(bucket, position)):
                    torn.add(bucket)
                elif lines:
                    count += len(lines)
                    self._read(bucket, lines)
                    self._books.move(f"journal {bucket}", lines[-1][0].decode())
        if torn:
            self.read_records(torn, is_repair=any(positions))
        return count

    def _read(self, bucket: int, lines: Sequence[tuple[bytes, dict[bytes, bytes]]]) -> None:
        ids = dict.fromkeys(line[b"payment"].decode() for _, line in lines if line[b"event"] in _EVENTS)
        payments = [name for name in ids if ":" in name]
        self._books.add(read_facts(self._ledger, payments))
        channels.read_charges(self._ledger, bucket, [name for name in ids if ":" not in name], self._books)

    def read_owing(self) -> None:
        """Read the channels that owe something. A claim, which ends that, has a line in the journal before it is made."""
        for bucket, key in enumerate(CLAIMABLE):
            self._read_listed(bucket, key)

    def _read_listed(self, bucket: int, key: str) -> None:
        for page in channels.listed(self._ledger, key):
            with self._books.transaction():
                channels.read_charges(self._ledger, bucket, page, self._books)

    def read_records(self, buckets: Collection[int], *, is_repair: bool = False) -> int:
        """Read all records of buckets, then follow their journals from where they are now. Returns how many payments there are.

        Args:
            is_repair: lines of their journals were lost, which is noted.
        """
        ends = ask_each_bucket(self._ledger, lambda asked, bucket: asked.xrevrange(JOURNAL[bucket], count=1))
        count = 0
        keys = cast(Iterator[bytes], self._ledger.scan_iter(in_every_bucket("payment:*"), SCANNED))
        names = (key.decode() for key in keys)
        ids = (name[len(RECORDS[0]) :] for name in names if bucket_in(name) in buckets)
        while page := list(islice(ids, PAGE)):
            with self._books.transaction():
                facts = list(read_facts(self._ledger, page))
                self._books.add(facts)
                count += len(facts)
        for bucket in buckets:
            self._read_listed(bucket, CHANNELS[bucket])
        with self._books.transaction():
            for bucket in buckets:
                self._books.move(f"journal {bucket}", ends[bucket][0][0].decode() if ends[bucket] else START)
            if is_repair:
                text = (
                    f"the journals of {len(buckets)} buckets had lost lines: their records were read, {count} payments"
                )
                self._books.note(int(time.time() * 1000), text)
                log.warning("%s", text)
        return count

    def _is_torn(self, bucket: int, position: str) -> bool:
        """Whether lines were dropped after a position that is not there any more."""
        if position != START:
            return True
        if not self._ledger.exists(JOURNAL[bucket]):
            return False
        stream = self._ledger.xinfo_stream(JOURNAL[bucket])
        return int(stream["entries-added"]) > int(stream["length"])
