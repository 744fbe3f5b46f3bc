"""The methods of rippled's API that payments need, over the sandbox's ledger, in its words and in both its versions.

Source: xrpl.org, "Public API Methods" and "Error Formatting". History is complete from the first ledger that
`complete_ledgers` names; balances are those of the
newest few ledgers: an older one is `lgrNotFound`.
"""

import time
from collections.abc import Callable
from typing import Any

from compose.sandbox.xrpl_ledger import Applied, Ledger, NotATransaction
from compose.sandbox.xrpl_lookup import MethodError, account_in, closed_at, limit_in, name_in, page, state_at
from compose.sandbox.xrpl_state import BASE_FEE, RESERVE_BASE, RESERVE_INCREMENT, Account
from compose.sandbox.xrpl_wire import (
    account_json,
    flags_json,
    history_json,
    ledger_json,
    line_json,
    ripple_state_json,
    ticket_json,
    transaction_json,
)

BUILD = "2.6.0"
WIDEST_SEARCH = 1000
_DROPS = 10**6
Json = dict[str, Any]


def account_tx(ledger: Ledger, parameters: Json, version: int) -> Json:
    """One page. Raises MethodError."""
    name = name_in(parameters)
    first, last = _range(ledger, parameters, version)
    found = [applied for applied in ledger.transactions_of(name, first=first) if applied.index <= last]
    is_forward = parameters.get("forward") is True
    if is_forward:
        found.reverse()
    if "marker" in parameters:
        found = _from_marker(found, parameters["marker"], is_forward=is_forward)
    limit = limit_in(parameters)
    answer = {
        "account": name,
        "ledger_index_min": first,
        "ledger_index_max": last,
        "limit": limit,
        "transactions": [history_json(applied, ledger, version) for applied in found[:limit]],
        "validated": True,
    }
    if len(found) > limit:
        answer["marker"] = {"ledger": found[limit].index, "seq": found[limit].position}
    return answer


def _range(ledger: Ledger, parameters: Json, version: int) -> tuple[int, int]:
    least, most = ledger.ranges[-1]
    first, last = parameters.get("ledger_index_min", -1), parameters.get("ledger_index_max", -1)
    if "ledger_index" in parameters:
        if version > 1 and ("ledger_index_min" in parameters or "ledger_index_max" in parameters):
            raise MethodError("invalidParams", "invalidParams")
        first = last = closed_at(ledger, parameters["ledger_index"]).index
    if not isinstance(first, int) or not isinstance(last, int):
        raise MethodError("invalidParams", "Invalid field 'ledger_index_min'.")
    if version > 1 and (last > most or 0 < first < least):
        raise MethodError("lgrIdxMalformed", "Ledger index malformed.")
    first, last = max(first, least), most if last < 0 else min(last, most)
    if first > last:
        raise MethodError("lgrIdxsInvalid" if version < 2 else "invalidLgrRange", "Ledger indexes invalid.")
    return first, last


def _from_marker(found: list[Applied], marker: Any, *, is_forward: bool) -> list[Applied]:
    if not isinstance(marker, dict) or not all(isinstance(marker.get(part), int) for part in ("ledger", "seq")):
        raise MethodError("invalidParams", "invalid marker. Provide ledger and seq.")
    place = marker["ledger"], marker["seq"]
    if is_forward:
        return [applied for applied in found if (applied.index, applied.position) >= place]
    return [applied for applied in found if (applied.index, applied.position) <= place]


def answer(ledger: Ledger, method: str, parameters: Json) -> Json:
    """The `result` of a call. Raises MethodError."""
    called = _METHODS.get(method)
    if called is None:
        raise MethodError("unknownCmd", "Unknown method.")
    version = parameters.get("api_version", 1)
    if version not in (1, 2):
        raise MethodError("invalidParams", "api_version")
    return called(ledger, parameters, version) | {"status": "success"}


def _server_info(ledger: Ledger, parameters: Json, version: int) -> Json:
    newest = ledger.validated
    validated = {
        "age": max(0, int(time.time()) - newest.close_time),
        "base_fee_xrp": BASE_FEE / _DROPS,
        "hash": newest.hash,
        "reserve_base_xrp": RESERVE_BASE / _DROPS,
        "reserve_inc_xrp": RESERVE_INCREMENT / _DROPS,
        "seq": newest.index,
    }
    return {"info": _server(ledger) | {"load_factor": 1, "validated_ledger": validated}}


def _server_state(ledger: Ledger, parameters: Json, version: int) -> Json:
    newest = ledger.validated
    validated = {
        "base_fee": BASE_FEE,
        "close_time": ledger_json(newest, version)["close_time"],
        "hash": newest.hash,
        "reserve_base": RESERVE_BASE,
        "reserve_inc": RESERVE_INCREMENT,
        "seq": newest.index,
    }
    return {"state": _server(ledger) | {"load_base": 256, "load_factor": 256, "validated_ledger": validated}}


def _server(ledger: Ledger) -> Json:
    return {
        "build_version": BUILD,
        "complete_ledgers": ",".join(f"{first}-{last}" if first < last else str(last) for first, last in ledger.ranges),
        "network_id": ledger.network_id,
        "peers": 0,
        "server_state": "full",
        "time": time.strftime("%Y-%b-%d %H:%M:%S.000000 UTC", time.gmtime()),
    }


def _fee(ledger: Ledger, parameters: Json, version: int) -> Json:
    fee = str(BASE_FEE)
    return {
        "current_ledger_size": "0",
        "current_queue_size": "0",
        "drops": {"base_fee": fee, "median_fee": fee, "minimum_fee": fee, "open_ledger_fee": fee},
        "expected_ledger_size": "1000",
        "ledger_current_index": ledger.open_index,
        "levels": {"median_level": "256", "minimum_level": "256", "open_ledger_level": "256", "reference_level": "256"},
        "max_queue_size": "20000",
    }


def _account_info(ledger: Ledger, parameters: Json, version: int) -> Json:
    state, where = state_at(ledger, parameters)
    name, account = account_in(state, parameters)
    return {"account_data": account_json(name, account), "account_flags": flags_json(account), **where}


def _account_lines(ledger: Ledger, parameters: Json, version: int) -> Json:
    state, where = state_at(ledger, parameters)
    name, _ = account_in(state, parameters)
    peer = parameters.get("peer")
    lines = [
        line_json(key, line, name)
        for key, line in sorted(state.lines.items())
        if name in key[:2] and (peer is None or peer in key[:2])
    ]
    return {"account": name, **page("lines", lines, parameters), **where}


def _account_objects(ledger: Ledger, parameters: Json, version: int) -> Json:
    state, where = state_at(ledger, parameters)
    name, account = account_in(state, parameters)
    wanted = parameters.get("type")
    if wanted not in (None, "ticket", "state"):
        raise MethodError("notImpl", "this ledger has tickets and trust lines only")
    tickets = [ticket_json(name, ticket) for ticket in sorted(account.tickets)] if wanted != "state" else []
    lines = [ripple_state_json(key, line) for key, line in sorted(state.lines.items()) if name in key[:2]]
    objects = tickets + (lines if wanted != "ticket" else [])
    return {"account": name, **page("account_objects", objects, parameters), **where}


def _ledger(ledger: Ledger, parameters: Json, version: int) -> Json:
    wanted = parameters.get("ledger_index", "current")
    if wanted == "current":
        header = {"closed": False, "ledger_index": ledger.open_index, "parent_hash": ledger.validated.hash}
        return {"ledger": header, "ledger_current_index": ledger.open_index, "validated": False}
    closed = closed_at(ledger, wanted)
    header = ledger_json(closed, version)
    if parameters.get("transactions"):
        full = bool(parameters.get("expand"))
        header["transactions"] = [
            history_json(applied, ledger, version) if full else applied.hash for applied in closed.transactions
        ]
    return {"ledger": header, "ledger_hash": closed.hash, "ledger_index": closed.index, "validated": True}


def _submit(ledger: Ledger, parameters: Json, version: int) -> Json:
    blob = parameters.get("tx_blob")
    if not isinstance(blob, str):
        raise MethodError("invalidParams", "Missing field 'tx_blob'.")
    try:
        result, transaction, transaction_hash = ledger.submit(blob)
    except NotATransaction as error:
        raise MethodError("invalidTransaction", error_exception=str(error)) from None
    is_applied = result.startswith(("tes", "tec"))
    account = ledger.open.accounts.get(transaction["Account"], Account(0, 0))
    return {
        "accepted": is_applied or result.startswith("ter"),
        "account_sequence_available": account.sequence,
        "account_sequence_next": account.sequence,
        "applied": is_applied,
        "broadcast": is_applied,
        "engine_result": result,
        "engine_result_message": result,
        "kept": is_applied or result.startswith("ter"),
        "open_ledger_cost": str(BASE_FEE),
        "queued": False,
        "tx_blob": blob,
        "tx_json": transaction | {"hash": transaction_hash},
        "validated_ledger_index": ledger.validated.index,
    }


def _tx(ledger: Ledger, parameters: Json, version: int) -> Json:
    first, last = int(parameters.get("min_ledger", 0)), int(parameters.get("max_ledger", 0))
    has_range = "min_ledger" in parameters and "max_ledger" in parameters
    if first > last:
        raise MethodError("invalidLgrRange", "Ledger range is invalid.")
    if last - first > WIDEST_SEARCH:
        raise MethodError("excessiveLgrRange", "Ledger range exceeds 1000.")
    applied = ledger.find(str(parameters.get("transaction", "")).upper())
    if applied is None:
        is_complete = any(begins <= first and last <= ends for begins, ends in ledger.ranges)
        searched = {"searched_all": is_complete} if has_range else {}
        raise MethodError("txnNotFound", "Transaction not found.", **searched)
    return transaction_json(applied, ledger, version)


_METHODS: dict[str, Callable[[Ledger, Json, int], Json]] = {
    "account_info": _account_info,
    "account_lines": _account_lines,
    "account_objects": _account_objects,
    "account_tx": account_tx,
    "fee": _fee,
    "ledger": _ledger,
    "ledger_closed": lambda ledger, *_: {"ledger_hash": ledger.validated.hash, "ledger_index": ledger.validated.index},
    "ledger_current": lambda ledger, *_: {"ledger_current_index": ledger.open_index},
    "server_info": _server_info,
    "server_state": _server_state,
    "submit": _submit,
    "tx": _tx,
}
