"""Encodes accounts, trust lines, ledgers and transactions as rippled's JSON, in the two versions of its API.

Source: xrpl.org, "Public API Methods" and "Ledger Entry Types".
"""

import time
from typing import Any

from compose.sandbox.xrpl_ledger import RIPPLE_EPOCH, Applied, Closed, Ledger
from compose.sandbox.xrpl_state import DISABLE_MASTER, PARTIAL_PAYMENT, Account, Line, LineKey, State
from shared.x402.xrpl_keys import account_id, sha512_half

NO_ACCOUNT = "rrrrrrrrrrrrrrrrrrrrBZbvji"
"""The issuer in the balance of a trust line."""
_LOW_RESERVE, _HIGH_RESERVE = 0x00010000, 0x00020000
_LOW_FREEZE, _HIGH_FREEZE = 0x00400000, 0x00800000
_LOW_NO_RIPPLE, _HIGH_NO_RIPPLE = 0x00100000, 0x00200000

Json = dict[str, Any]


def account_json(name: str, account: Account) -> Json:
    """An AccountRoot."""
    written: Json = {
        "Account": name,
        "Balance": str(account.balance),
        "Flags": account.flags,
        "LedgerEntryType": "AccountRoot",
        "OwnerCount": account.owned,
        "Sequence": account.sequence,
        "index": _entry(b"a" + account_id(name)),
    }
    if account.regular_key:
        written["RegularKey"] = account.regular_key
    if account.tickets:
        written["TicketCount"] = len(account.tickets)
    if account.transfer_rate != 1:
        written["TransferRate"] = int(account.transfer_rate * 10**9)
    return written


def flags_json(account: Account) -> Json:
    """`account_flags`, those that this ledger knows."""
    return {"disableMasterKey": bool(account.flags & DISABLE_MASTER)}


def line_json(key: LineKey, line: Line, seen_by: str) -> Json:
    """A trust line as `account_lines` shows it to one of its two sides."""
    holder, issuer, currency = key
    is_holder = seen_by == holder
    limit, balance = plain(line.limit), plain(line.balance)
    written: Json = {
        "account": issuer if is_holder else holder,
        "balance": balance if is_holder or line.balance == 0 else "-" + balance,
        "currency": currency,
        "limit": limit if is_holder else "0",
        "limit_peer": "0" if is_holder else limit,
        "no_ripple": line.no_ripple and is_holder,
        "no_ripple_peer": line.no_ripple and not is_holder,
        "quality_in": 0,
        "quality_out": 0,
    }
    if line.frozen:
        written["freeze_peer" if is_holder else "freeze"] = True
    return written


def ripple_state_json(key: LineKey, line: Line) -> Json:
    """A trust line as in the ledger: between a low and a high account, seen from the low one."""
    holder, issuer, currency = key
    is_low = account_id(holder) < account_id(issuer)
    balance = plain(line.balance if is_low else -line.balance)
    theirs, ours = {"currency": currency, "issuer": issuer, "value": "0"}, {"currency": currency, "issuer": holder}
    ours["value"] = plain(line.limit)
    frozen = (_HIGH_FREEZE if is_low else _LOW_FREEZE) if line.frozen else 0
    no_ripple = (_LOW_NO_RIPPLE if is_low else _HIGH_NO_RIPPLE) if line.no_ripple else 0
    return {
        "Balance": {"currency": currency, "issuer": NO_ACCOUNT, "value": balance},
        "Flags": (_LOW_RESERVE if is_low else _HIGH_RESERVE) | frozen | no_ripple,
        "HighLimit": theirs if is_low else ours,
        "LedgerEntryType": "RippleState",
        "LowLimit": ours if is_low else theirs,
        "index": _entry(b"r" + account_id(holder) + account_id(issuer) + currency.encode()),
    }


def ticket_json(name: str, ticket: int) -> Json:
    """A Ticket."""
    return {
        "Account": name,
        "Flags": 0,
        "LedgerEntryType": "Ticket",
        "TicketSequence": ticket,
        "index": _entry(b"T" + account_id(name) + ticket.to_bytes(4, "big")),
    }


def transaction_json(applied: Applied, ledger: Ledger, version: int) -> Json:
    """The answer of `tx`."""
    closed = _closed(applied, ledger)
    body = (
        {**applied.transaction, "DeliverMax": applied.transaction["Amount"]} if _pays(applied) else applied.transaction
    )
    if version < 2:
        written: Json = {**body, "hash": applied.hash, "validated": closed is not None}
    else:
        written = {
            "tx_json": {name: value for name, value in body.items() if name != "Amount" or not _pays(applied)},
            "hash": applied.hash,
            "validated": closed is not None,
        }
    if closed is not None:
        date = closed.close_time - RIPPLE_EPOCH
        (written["tx_json"] if version >= 2 else written).update({"date": date, "ledger_index": closed.index})
        written |= {"ledger_index": closed.index, "meta": meta_json(applied)}
        written |= {"inLedger": closed.index} if version < 2 else {"ledger_hash": closed.hash, **_iso(closed)}
    return written


def history_json(applied: Applied, ledger: Ledger, version: int) -> Json:
    """One entry of `account_tx`."""
    written = transaction_json(applied, ledger, version)
    meta = written.pop("meta")
    if version < 2:
        return {"meta": meta, "tx": {k: v for k, v in written.items() if k != "validated"}, "validated": True}
    return {"meta": meta, **written}


def meta_json(applied: Applied) -> Json:
    """The metadata of a transaction."""
    if applied.meta is not None:
        return applied.meta
    meta: Json = {
        "AffectedNodes": nodes_json(applied.before, applied.after),
        "TransactionIndex": applied.position,
        "TransactionResult": applied.result,
    }
    if applied.result == "tesSUCCESS" and (arrived := _delivered(applied)) is not None:
        meta["delivered_amount"] = arrived
        if arrived != applied.transaction.get("Amount"):
            meta["DeliveredAmount"] = arrived
    return meta


def nodes_json(before: State, after: State) -> list[Json]:
    """`AffectedNodes`: the entries of the ledger that differ, as they were and are."""
    nodes = [
        _node(account_json, name, before.accounts.get(name), after.accounts.get(name))
        for name in before.accounts | after.accounts
    ]
    lines = before.lines | after.lines
    return nodes + [_node(ripple_state_json, key, before.lines.get(key), after.lines.get(key)) for key in lines]


def ledger_json(closed: Closed, version: int) -> Json:
    """A validated ledger's header."""
    return {
        "close_time": closed.close_time - RIPPLE_EPOCH,
        **_iso(closed),
        "close_time_resolution": 1,
        "closed": True,
        "ledger_hash": closed.hash,
        "ledger_index": closed.index if version >= 2 else str(closed.index),
        "parent_hash": closed.parent,
        "total_coins": "99985000000000000",
    }


def plain(value: Any) -> str:
    """A decimal without exponent or trailing zeros."""
    return format(value.normalize(), "f") if value else "0"


def _node(write: Any, key: Any, old: Any, new: Any) -> Json:
    kind = "CreatedNode" if old is None else "DeletedNode" if new is None else "ModifiedNode"
    final = write(key, new if new is not None else old)
    node: Json = {"LedgerEntryType": final.pop("LedgerEntryType"), "LedgerIndex": final.pop("index")}
    node["NewFields" if old is None else "FinalFields"] = final
    if isinstance(old, Account) and new is None:  # what it had has left it
        final["Balance"], node["PreviousFields"] = "0", {"Balance": str(old.balance)}
    if old is not None and new is not None:
        previous = write(key, old)
        node["PreviousFields"] = {
            name: previous[name] for name in final if previous.get(name, final[name]) != final[name]
        }
    return {kind: node}


def _delivered(applied: Applied) -> Any:
    """What arrived at the destination; None when the transaction is of no such kind."""
    transaction, before, after = applied.transaction, applied.before, applied.after
    if transaction["TransactionType"] == "AccountDelete":
        heir = transaction["Destination"]
        return str(after.accounts[heir].balance - before.accounts[heir].balance)
    if not _pays(applied) or not transaction.get("Flags", 0) & PARTIAL_PAYMENT:
        return transaction.get("Amount") if _pays(applied) else None
    amount = transaction["Amount"]
    issuer, currency = amount["issuer"], amount["currency"]
    receiver = transaction["Destination"] if transaction["Destination"] != issuer else transaction["Account"]
    key = receiver, issuer, currency
    return {**amount, "value": plain(abs(after.lines[key].balance - before.lines[key].balance))}


def _pays(applied: Applied) -> bool:
    return bool(applied.transaction["TransactionType"] == "Payment")


def _closed(applied: Applied, ledger: Ledger) -> Closed | None:
    return ledger.chain[applied.index - ledger.chain[0].index] if applied.index else None


def _iso(closed: Closed) -> Json:
    return {"close_time_iso": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(closed.close_time))}


def _entry(content: bytes) -> str:
    return sha512_half(content).hex().upper()
