"""`coinslot-ops payments`: the payments that need a person. Exit code 1 when there are any, 3 when the ledger is unreadable.
With `--id`, what the ledger knows of one payment: exit code 1 when it knows nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

import redis

from ops import channels
from shared.ledger.keys import JOURNAL, LOST, OPEN, REFUNDABLE, RERUN_MS, bucket_of
from shared.servers.ledger_servers import connect_ledger, read_record
from shared.settings.service import Settings

PAGE = 500
JOURNAL_PAGE = 5_000
_SEALED = frozenset({"payment", "failure"})

UNKNOWN, REFUND, GONE = "unknown", "refundable", "lost"
_REASONS = {
    UNKNOWN: "Nobody knows whether it was settled. The service examines it for as long as the facilitator can say.",
    REFUND: "It was charged and not answered within a day.",
    GONE: "It was settled, and the chain does not show it any more. Nothing is owed to the payer.",
    "leaving": "Its payer withdraws, and owes something: it has to be claimed before the delay is over. Does the claimer run?",
    "frozen": "It owes more than it holds: a deposit is no longer on the chain. Nothing more is sold to it.",
    "waiting": "It was charged and is not answered yet. The same request runs it again.",
}


def report(settings: Settings, *, as_json: bool) -> int:
    """Print them. Returns the exit code. Raises RedisError."""
    with connect_ledger(settings) as ledger:
        found = list(attention(ledger, now_ms=int(time.time() * 1000)))
        sum_of_channels = channels.summary(ledger, settings.evm)
        urgent = [one for one in channels.channels(ledger) if one.is_urgent or one.is_frozen]
        is_late = sum_of_channels is not None and channels.is_unwatched(sum_of_channels, settings.evm)
    for payment in found:
        print(json.dumps(payment) if as_json else _line(payment))
    for channel in urgent:
        kind = "frozen" if channel.is_frozen else "leaving"
        row = {"kind": kind, "reason": _REASONS[kind], **channel._asdict(), "unclaimed": channel.unclaimed}
        print(json.dumps(row) if as_json else _channel_line(row))
    if as_json and sum_of_channels:
        print(json.dumps({"kind": "channels", **sum_of_channels._asdict()}))
    if not as_json:
        if sum_of_channels:
            print(channels.sentence(sum_of_channels))
        if is_late:
            print(
                "Channels owe money, and the claimer does not watch the chain: does it run, and does its node answer?"
            )
        print(f"{len(found)} payments need you." if found else "No payment needs you.")
    return 1 if found or urgent or is_late else 0


def show(settings: Settings, payment_id: str) -> int:
    """Print the record and the journal of one payment, one JSON object a line. Returns the exit code.

    Raises RedisError.
    """
    bucket = bucket_of(payment_id)
    with connect_ledger(settings) as ledger:
        record = read_record(ledger, payment_id)
        journal = list(_entries(ledger, JOURNAL[bucket], payment_id))
    fields = {name.decode(): value for name, value in record.items()}
    shown = {
        name: f"{len(value)} bytes, sealed" if name in _SEALED else value.decode("utf-8", "replace")
        for name, value in fields.items()
    }
    for line in (*((shown,) if shown else ()), *journal):
        print(json.dumps(line))
    if shown or journal:
        return 0
    print("coinslot-ops: the ledger has no payment with this id", file=sys.stderr)
    return 1


def _entries(server: redis.Redis, key: str, payment_id: str) -> Iterator[dict[str, str]]:
    after = "-"
    while page := cast(list[tuple[bytes, dict[bytes, bytes]]], server.xrange(key, min=after, count=JOURNAL_PAGE)):
        after = f"({page[-1][0].decode()}"
        for name, fields in page:
            if fields[b"payment"].decode() == payment_id:
                at = _time(int(name.partition(b"-")[0]))
                rest = {field.decode(): value.decode() for field, value in fields.items() if field != b"payment"}
                yield {"at": at, **rest}


def attention(ledger: redis.Redis, *, now_ms: int) -> Iterator[dict[str, Any]]:
    """Payments that are charged and unanswered, of which nobody knows whether they are charged, or that were lost.

    A payment whose call is being answered right now is not among them.
    """
    for index in (LOST, REFUNDABLE, OPEN):
        for key in index:
            for payment_id in _listed(ledger, key):
                fields = read_record(ledger, payment_id)
                # A payment itself is sealed, and an answer may be any bytes.
                record = {name.decode(): value.decode("utf-8", "replace") for name, value in fields.items()}
                if record and (kind := GONE if index is LOST else _kind(record, now_ms)):
                    yield _described(payment_id, kind, record)


def _listed(server: redis.Redis, key: str) -> Iterator[str]:
    start = 0
    while page := cast(list[bytes], server.zrange(key, start, start + PAGE - 1)):
        start += PAGE
        yield from (named.decode() for named in page)


def _kind(record: Mapping[str, str], now_ms: int) -> str | None:
    state = record.get("state", "")
    owed = None if "lost" in record else REFUND
    if state == "FAILED":
        return owed
    if int(record.get("lease", 0)) > now_ms:
        return None
    if state in ("SETTLING", "UNKNOWN"):
        return UNKNOWN
    if state == "SETTLED":
        return owed if now_ms - int(record.get("settled", 0)) > RERUN_MS else "waiting"
    return None


def _described(payment_id: str, kind: str, record: Mapping[str, str]) -> dict[str, Any]:
    offer = json.loads(record["offer"])
    receipt = json.loads(record.get("receipt", "{}"))
    return {
        "payment": payment_id,
        "kind": kind,
        "state": record["state"],
        "reason": _REASONS[kind],
        "since": _time(int(record.get("settled") or record["created"])),
        "endpoint": record["endpoint"],
        "payer": record["payer"],
        "amount": offer.get("amount"),
        "asset": offer.get("asset"),
        "network": offer.get("network"),
        "payTo": offer.get("payTo"),
        "transaction": receipt.get("transaction"),
        "settleAttempts": int(record["attempts"]),
        "failures": int(record.get("failures", 0)),
        "validBefore": _time(int(record.get("valid_before", 0)) * 1000),
    }


def _line(payment: dict[str, Any]) -> str:
    return (
        f"{payment['kind']:10} {payment['since']}  {payment['endpoint']}  {payment['amount']} of {payment['asset']} on"
        f" {payment['network']}\n"
        f"           payer {payment['payer']}  transaction {payment['transaction'] or '-'}\n"
        f"           {payment['payment']}\n"
        f"           {payment['reason']} Settle calls: {payment['settleAttempts']}, failed jobs: {payment['failures']}."
    )


def _channel_line(row: dict[str, Any]) -> str:
    return (
        f"{row['kind']:10} channel {row['id']} on {row['network']}\n"
        f"           payer {row['payer']}  owes {row['unclaimed']} of {row['balance']}\n"
        f"           {row['reason']}"
    )


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
