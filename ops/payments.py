"""`coinslot-ops payments`: the payments that need a person. Exit code 1 when there are any, 3 when the ledger is unreadable.
So do channels that owe money while their payer withdraws, or more than they hold, or while nobody claims. With `--id`, what the
ledger knows of one payment: exit code 1 when it knows nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

import redis
from redis.exceptions import RedisError

from ops import channels
from ops.http_query import unreadable
from shared.ledger.keys import JOURNAL, LOST, OPEN, REFUNDABLE, RERUN_MS, bucket_of
from shared.servers.ledger_servers import connect_ledger, of_bucket, read_record
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings

PAGE = 500
JOURNAL_PAGE = 5_000
_SEALED = frozenset({"payment", "failure"})

UNKNOWN, REFUND, GONE = "unknown", "refundable", "lost"
LEAVING, FROZEN = "leaving", "frozen"
_REASONS = {
    UNKNOWN: "Nobody knows whether it was settled. The service examines it for as long as the facilitator can tell.",
    REFUND: "It was charged and not answered within a day.",
    GONE: "It was settled, and the chain does not show it any more. Nothing is owed to the payer.",
    LEAVING: "Its payer withdraws. What it owes has to be claimed before: is the claimer running, and does it claim?",
    FROZEN: "It owes more than it holds: what it holds less than that is lost, unless a deposit comes back.",
    "waiting": "It was charged and is not answered yet. The same request runs it again.",
}


def report(settings: Settings, *, as_json: bool) -> int:
    """Print them. Returns the exit code."""
    now_ms, state = int(time.time() * 1000), None
    try:
        with connect_ledger(settings) as ledger:
            found = list(attention(ledger, now_ms=now_ms))
            if channels.is_used(ledger, settings.evm):
                state = channels.read(ledger, settings.evm, now_ms=now_ms)
    except RedisError as error:
        return _unreadable(settings, error)
    for payment in found:
        print(json.dumps(payment) if as_json else _line(payment))
    if not as_json:
        print(f"{len(found)} payments need you." if found else "No payment needs you.")
    needs_person = bool(found)
    if state is not None:
        needs_person |= _show_channels(state, settings.evm, as_json=as_json)
    return int(needs_person)


def _show_channels(state: channels.State, own: EvmRailSettings, *, as_json: bool) -> bool:
    """Print what channels owe. Returns whether a person is needed."""
    is_late = state.watched_ms is None or state.watched_ms > own.channels_stale_s * 1000
    for kind, listed in ((LEAVING, state.leaving), (FROZEN, state.frozen)):
        for channel in listed:
            print(json.dumps(_described_channel(channel, kind)) if as_json else _channel_line(channel, kind, own))
    told = {
        "kind": "channels",
        "channels": state.count,
        "owing": len(state.owing),
        "unclaimed": str(state.owed),
        "oldestUnclaimedSeconds": state.oldest_ms // 1000,
        "withdrawing": len(state.leaving),
        "frozen": len(state.frozen),
        "notWorthClaiming": len(state.small),
        "watchAgeSeconds": None if state.watched_ms is None else state.watched_ms // 1000,
    }
    if as_json:
        print(json.dumps(told))
    else:
        small = sum(channel.owed for channel in state.small)
        print(
            f"{state.count} channels, of which {len(state.owing)} owe {_usdc(state.owed)} that is not claimed"
            f" (oldest: {state.oldest_ms // 1000} s). {len(state.leaving)} of them are being withdrawn from,"
            f" {len(state.frozen)} owe more than they hold, {len(state.small)} wait because their claim is not worth its gas"
            f" ({_usdc(small)})."
        )
        if is_late and (own.has_channels or state.owing):
            since = "ever" if state.watched_ms is None else f"for {state.watched_ms // 1000} s"
            print(
                f"The claimer has not looked at the chain {since}: start it, or see its log. No voucher is taken meanwhile."
            )
    return bool(state.leaving or state.frozen or (is_late and state.owing))


def _described_channel(channel: channels.Channel, kind: str) -> dict[str, Any]:
    return {
        "channel": channel.id,
        "kind": kind,
        "reason": _REASONS[kind],
        "payer": channel.payer,
        "network": channel.network,
        "balance": str(channel.balance),
        "charged": str(channel.charged),
        "claimed": str(channel.claimed),
        "leaving": str(channel.leaving),
        "withdrawalSince": _time(channel.withdraw_at) if channel.withdraw_at else None,
        "unclaimedSince": _time(channel.owed_since) if channel.owed_since else None,
    }


def _channel_line(channel: channels.Channel, kind: str, own: EvmRailSettings) -> str:
    until = f" It ends {_time(channel.withdraw_at + own.withdraw_delay_s * 1000)}." if kind == LEAVING else ""
    return (
        f"{kind:10} {_time(channel.withdraw_at or channel.owed_since)}  {_usdc(channel.owed)} not claimed, of"
        f" {_usdc(channel.balance)} on {channel.network}\n"
        f"           payer {channel.payer}\n"
        f"           channel {channel.id}\n"
        f"           {_REASONS[kind]}{until}"
    )


def _usdc(atomic: int) -> str:
    return f"{Decimal(atomic).scaleb(-channels.DECIMALS):f} USDC"


def show(settings: Settings, payment_id: str) -> int:
    """Print the record and the journal of one payment, one JSON object a line. Returns the exit code."""
    bucket = bucket_of(payment_id)
    try:
        with connect_ledger(settings) as ledger:
            record = read_record(ledger, payment_id)
            journal = list(_entries(of_bucket(ledger, bucket), JOURNAL[bucket], payment_id))
    except RedisError as error:
        return _unreadable(settings, error)
    fields = {name.decode(): value for name, value in record.items()}
    shown = {
        name: f"{len(value)} bytes, sealed" if name in _SEALED else value.decode("utf-8", "replace")
        for name, value in fields.items()
    }
    for line in (*((shown,) if shown else ()), *journal):
        print(json.dumps(line))
    return 0 if shown or journal else 1


def _entries(server: redis.Redis, key: str, payment_id: str) -> Iterator[dict[str, str]]:
    after = "-"
    while page := cast(list[tuple[bytes, dict[bytes, bytes]]], server.xrange(key, min=after, count=JOURNAL_PAGE)):
        after = f"({page[-1][0].decode()}"
        for name, fields in page:
            if fields[b"payment"].decode() == payment_id:
                at = _time(int(name.partition(b"-")[0]))
                told = {field.decode(): value.decode() for field, value in fields.items() if field != b"payment"}
                yield {"at": at, **told}


def _unreadable(settings: Settings, error: RedisError) -> int:
    print(f"coinslot-ops: {unreadable(error, ledger_url=settings.ledger_url)}", file=sys.stderr)
    return 3


def attention(ledger: Sequence[redis.Redis], *, now_ms: int) -> Iterator[dict[str, Any]]:
    """Payments that are charged and unanswered, of which nobody knows whether they are charged, or that were lost.

    A payment whose call is being answered right now is not among them.

    Args:
        ledger: its primaries (shared/servers/ledger_servers.py).
    """
    for index in (LOST, REFUNDABLE, OPEN):
        for bucket, key in enumerate(index):
            for payment_id in _listed(of_bucket(ledger, bucket), key):
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
    if state == "FAILED":
        return REFUND
    if int(record.get("lease", 0)) > now_ms:
        return None
    if state in ("SETTLING", "UNKNOWN"):
        return UNKNOWN
    if state == "SETTLED":
        return REFUND if now_ms - int(record.get("settled", 0)) > RERUN_MS else "waiting"
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


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
