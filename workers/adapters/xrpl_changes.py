"""The balance changes of a transaction, which xrpl-py reads from its metadata."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from shared.x402.networks import XrplToken
from workers.adapters.xrpl_entries import decimal

Json = dict[str, Any]


def balance_changes(meta: Json, address: str, token: XrplToken) -> tuple[Decimal, Decimal]:
    """How much more XRP (in XRP), and of the token, an account has after a transaction: xrpl-py's own reading of its metadata.

    Raises what is in READ_ERRORS.
    """
    # Only here: it takes most of a second to import, and 25 MB.
    from xrpl.constants import XRPLException
    from xrpl.utils import get_balance_changes

    for node in meta["AffectedNodes"]:
        (entry,) = node.values()
        for fields in entry.values():
            _require_bounded(fields)
    xrp, held = Decimal(0), Decimal(0)
    try:
        found = get_balance_changes(meta)  # type: ignore[arg-type]  # a TypedDict: it is read entry by entry
    except (XRPLException, RecursionError):
        raise ValueError("not metadata") from None
    for account in found:
        for change in account["balances"] if account["account"] == address else ():
            if change["currency"] == "XRP" and "issuer" not in change:
                xrp += Decimal(change["value"])
            elif (change["currency"], change.get("issuer")) == (token.currency, token.issuer):
                held += Decimal(change["value"])
    return xrp, held


def _require_bounded(fields: object) -> None:
    """Of a number with a large exponent, xrpl-py would write out all digits."""
    if isinstance(fields, dict) and "Balance" in fields:
        balance = fields["Balance"]
        decimal(balance["value"] if isinstance(balance, dict) else balance)
