"""Shared by the methods of the sandbox's XRP Ledger: the ledger and account of a call, pages, and errors."""

from typing import Any

from compose.sandbox.xrpl_ledger import Closed, Ledger
from compose.sandbox.xrpl_state import Account, State
from shared.x402.xrpl_keys import is_address

_CODES = {
    "actMalformed": 35,
    "actNotFound": 19,
    "excessiveLgrRange": 85,
    "invalidLgrRange": 84,
    "invalidParams": 31,
    "invalidTransaction": 78,
    "lgrIdxMalformed": 58,
    "lgrIdxsInvalid": 57,
    "lgrNotFound": 21,
    "notImpl": 74,
    "txnNotFound": 29,
    "unknownCmd": 32,
}

Json = dict[str, Any]


class MethodError(Exception):
    """What rippled answers instead of a result.

    Args:
        code: its `error`.
        more: further members of the answer.
    """

    def __init__(self, code: str, message: str = "", **more: Any) -> None:
        super().__init__(code)
        self.result: Json = {
            "error": code,
            "error_code": _CODES[code],
            "error_message": message or code,
            "status": "error",
            **more,
        }


def state_at(ledger: Ledger, parameters: Json) -> tuple[State, Json]:
    """Accounts and lines of the ledger that is asked for, and how the answer names it."""
    wanted = parameters.get("ledger_index", "current")
    if wanted == "current":
        return ledger.open, {"ledger_current_index": ledger.open_index, "validated": False}
    closed = closed_at(ledger, wanted)
    if closed.index not in ledger.states:
        raise MethodError("lgrNotFound", "ledgerNotFound")
    return ledger.states[closed.index], {"ledger_hash": closed.hash, "ledger_index": closed.index, "validated": True}


def closed_at(ledger: Ledger, wanted: object) -> Closed:
    """A validated ledger."""
    if wanted in ("validated", "closed"):
        return ledger.validated
    first = ledger.chain[0].index
    if isinstance(wanted, int) and first <= wanted <= ledger.validated.index and wanted not in ledger.missing:
        return ledger.chain[wanted - first]
    raise MethodError("lgrNotFound", "ledgerNotFound")


def name_in(parameters: Json) -> str:
    """The account that is asked for."""
    name = parameters.get("account")
    if not isinstance(name, str) or not is_address(name):
        raise MethodError("actMalformed", "Account malformed.")
    return name


def account_in(state: State, parameters: Json) -> tuple[str, Account]:
    """The same, with what is known of it."""
    name = name_in(parameters)
    if name not in state.accounts:
        raise MethodError("actNotFound", "Account not found.", account=name)
    return name, state.accounts[name]


def limit_in(parameters: Json) -> int:
    """Entries of a page, within the bounds that a server has."""
    return min(max(int(parameters.get("limit") or 200), 10), 400)


def page(name: str, entries: list[Json], parameters: Json) -> Json:
    """A part of a list, and the marker of the next one."""
    start, limit = int(parameters.get("marker") or 0), limit_in(parameters)
    cut: Json = {name: entries[start : start + limit], "limit": limit}
    return cut | ({"marker": str(start + limit)} if start + limit < len(entries) else {})
