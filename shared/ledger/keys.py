"""The ledger's keys: what the API (api/payment/ledger.py) and the workers (workers/answers.py) both write.

One payment has two keys: its record (a hash) and its answer, which the `done` script of workers/answers.py writes, and nothing
else. Beside them there are indexes and the journal.

Every key belongs to one of 64 buckets and begins with ``coinslot:{00}:`` to ``coinslot:{3f}:``: a hash tag of Redis Cluster.
Every script has the keys of one bucket only, also for a payer's limits and what calls observe. So buckets can lie on several
nodes of a cluster, and move from one to another. What goes over all payments is one index for each bucket: readers go over the
buckets.

The payer decides the bucket. But all payments on networks whose payments carry a token of ours are in bucket 0: a token pays
once, whoever pays with it on whichever of these networks, and only one script can ensure that. These networks settle less than
one server takes (docs/scaling.md).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from shared.lua_script import piece

BUCKETS = 64
"""It is part of every key: another number is another ledger."""


def of_each_bucket(name: str) -> tuple[str, ...]:
    return tuple(f"coinslot:{{{bucket:02x}}}:{name}" for bucket in range(BUCKETS))


OPEN = of_each_bucket("open")
"""By bucket: ZSET of the payments that are not at their end. Score: when to look at them next, in Unix milliseconds."""
REFUNDABLE = of_each_bucket("refundable")
"""By bucket: ZSET of the payments that were charged and never answered. Score: when that was given up, in Unix milliseconds."""
RECHECK = of_each_bucket("recheck")
"""By bucket: ZSET of the payments whose settlement is looked at once more. Score: when, in Unix milliseconds."""
LOST = of_each_bucket("lost")
"""By bucket: ZSET of the payments that the chain took back after they were settled. Score: when that was found, in Unix
milliseconds."""
JOURNAL = of_each_bucket("journal")
"""By bucket: stream, one entry per transition: `payment`, `event` (the new state, FORGOTTEN, LOST, PLANNED, REFUNDED, or
FAILURE of a job), `attempts`; of a job that failed also `cause` and `fault` (shared/endpoint.py). DONE with a cause: the
failure is the answer."""
PREFIXES = of_each_bucket("")
"""By bucket: what the keys begin with that belong to one payer."""
RECORDS = of_each_bucket("payment:")
"""By bucket: what the keys of records begin with, before the payment id."""
PRICE_LISTS = "coinslot:{00}:price-lists"
"""ZSET of the price lists at which API processes sold in the last day, as JSON: the price by name. Score: when one of them last
said so, in Unix milliseconds."""
SELLERS = "coinslot:{00}:sellers"
"""ZSET of the API processes, as ``<host>:<process id> <version of the price list>``. Score: as above."""
JOURNAL_LENGTH, SHARED_JOURNAL_LENGTH = 12_000, 250_000
"""Of one bucket, and of bucket 0. All of them take about 150 MB. Older entries are dropped."""
RERUN_WINDOW_MS = 10 * 60 * 1000
FREE_RERUNS = 3
"""A job that failed for a passing reason is run again, free, that often within RERUN_WINDOW_MS."""
RERUN_MS = 24 * 3600 * 1000
"""Until then after its settlement a payment without an answer can be run again. Then it is FAILED."""

_SHARED_BUCKET = 0
WITH_TOKENS = frozenset({"solana", "xrpl"})
"""Namespaces (CAIP-2) of networks whose payments carry a token (api/payment/binding.py)."""
_PARTS = 5
_BUCKET_AT = len("coinslot:{")

NOTE = piece(
    Path(__file__).with_name("lua") / "note.lua",
    SHARED_JOURNAL=JOURNAL[_SHARED_BUCKET],
    SHARED_JOURNAL_LENGTH=SHARED_JOURNAL_LENGTH,
    JOURNAL_LENGTH=JOURNAL_LENGTH,
)
"""Defines `note`, for every script that moves a payment."""


def bucket_of_payer(network: str, payer: str) -> int:
    """The bucket of all payments of a wallet. Who makes many wallets of one bucket loads one server, as with one server.

    Args:
        network: as in an offer (CAIP-2).
    """
    if network.partition(":")[0] in WITH_TOKENS:
        return _SHARED_BUCKET
    return 1 + zlib.crc32(payer.encode("utf-8", "surrogatepass")) % (BUCKETS - 1)


def bucket_of(payment_id: str) -> int:
    """The bucket of a payment, by its id: ``<network>:<asset>:<payer>:<nonce>``, where a network has two parts. On networks
    with tokens ids have other forms, too. Any other text is its own payer."""
    parts = payment_id.split(":")
    return bucket_of_payer(parts[0], parts[3] if len(parts) == _PARTS else payment_id)


def bucket_in(key: str) -> int:
    """The bucket that a key of the ledger names. Raises ValueError for any other key."""
    return int(key[_BUCKET_AT : _BUCKET_AT + 2], 16)


def bucket_of_command(command: Sequence[object]) -> int:
    """The bucket of a command with a key of the ledger: a script, or a command that has its key first. Raises ValueError."""
    return bucket_in(str(command[3] if command[0] in ("EVALSHA", "EVAL") else command[1]))


def in_every_bucket(name: str) -> str:
    """A pattern for SCAN: keys of this name, such as ``payment:*``, in all buckets."""
    return f"coinslot:{{*}}:{name}"


def record_key(payment_id: str) -> str:
    """Key of the payment's record."""
    return RECORDS[bucket_of(payment_id)] + payment_id


def answer_key(payment_id: str) -> str:
    """Key of the answer: a sealed Outcome."""
    return f"{PREFIXES[bucket_of(payment_id)]}answer:{payment_id}"


def payment_keys(payment_id: str) -> dict[str, str]:
    """The keys of one payment, by their names in scripts: its record, its answer, and OPEN and JOURNAL of its bucket."""
    bucket = bucket_of(payment_id)
    return {
        "record": RECORDS[bucket] + payment_id,
        "answer": f"{PREFIXES[bucket]}answer:{payment_id}",
        "open": OPEN[bucket],
        "journal": JOURNAL[bucket],
    }
