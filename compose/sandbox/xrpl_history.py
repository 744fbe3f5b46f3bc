"""The history of an account, as rippled pages it in both versions of its API.

Source: xrpl.org, "account_tx"; rippled, AccountTx.cpp. A server searches only the ledgers that it has without a gap up to the
newest. Version 1 makes a wider range smaller and says so in the answer, version 2 refuses it.
"""

from __future__ import annotations

from typing import Any

from compose.sandbox.xrpl_ledger import Applied, Ledger
from compose.sandbox.xrpl_lookup import MethodError, closed_at, limit_in, name_in
from compose.sandbox.xrpl_wire import history_json

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
