"""Reads the transactions and trust lines in a node's answers strictly, in both versions of the API. No free text passes.

Sources: xrpl.org, "account_tx", "account_lines", "Transaction Metadata", "Partial Payments". Functions raise one of
READ_ERRORS for what is malformed.
"""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from jobs.ports.xrpl import Amount, Transaction, TrustLine
from shared.x402.networks import XrplToken
from shared.x402.xrpl_keys import is_address

RIPPLE_EPOCH = 946_684_800
"""Unix seconds at which the ledger's clock starts."""
READ_ERRORS = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, IndexError)
DROPS = 10**6

_PARTIAL_PAYMENT = 0x00020000
_PROMISES = {
    "CheckCreate": "SendMax",
    "EscrowCreate": "Amount",
    "PaymentChannelCreate": "Amount",
    "PaymentChannelFund": "Amount",
}
"""The transactions that put an amount aside for somebody, and the field that has it."""
_MAX_DIGITS = 100
_MAX_DROPS = 10**17
_HASH = re.compile(r"[0-9A-F]{64}", re.ASCII)
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}", re.ASCII)
_RESULT = re.compile(r"te[cs][A-Za-z0-9_]{1,60}", re.ASCII)
_CURRENCY = re.compile(r"[A-Za-z0-9?!@#$%^&*<>(){}\[\]|]{3}|[0-9A-F]{40}", re.ASCII)
_LEDGERS = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", re.ASCII)
_MPT = re.compile(r"[0-9A-F]{48}", re.ASCII)

Json = dict[str, Any]


def transaction(entry: Json, address: str, token: XrplToken) -> Transaction:
    """One entry of `account_tx`, as it concerns an account."""
    body, meta = entry["tx_json"] if "tx_json" in entry else entry["tx"], entry["meta"]
    if entry["validated"] is not True:
        raise ValueError("not validated")
    xrp, held = balance_changes(meta, address, token)
    result = _matching(_RESULT, meta["TransactionResult"])
    delivered, is_partial = _delivered(body, meta, token) if result == "tesSUCCESS" else (None, False)
    promise = _PROMISES.get(body["TransactionType"]) if result == "tesSUCCESS" else None
    return Transaction(
        hash=_matching(_HASH, entry.get("hash") or body["hash"]),
        type=_matching(_TYPE, body["TransactionType"]),
        result=result,
        ledger=whole(entry.get("ledger_index", body.get("ledger_index"))),
        position=whole(meta["TransactionIndex"]),
        closed_at=whole(body["date"], 1 << 32) + RIPPLE_EPOCH,
        sender=_address(body["Account"]),
        destination=_address(body["Destination"]) if "Destination" in body else None,
        tag=whole(body["DestinationTag"], (1 << 32) - 1) if "DestinationTag" in body else None,
        peer=_peer(body),
        fee=drops(body["Fee"]),
        delivered=delivered,
        promised=_amount(body[promise], token) if promise else None,
        is_partial=is_partial,
        xrp=_bounded(xrp),
        rlusd=_bounded(held),
    )


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


def trust_line(line: Json, *, is_globally_frozen: bool, needs_authorization: bool, allows_clawback: bool) -> TrustLine:
    """One entry of `account_lines`, seen from its holder. Settings that are off may be left out."""
    frozen = ("freeze", "freeze_peer", "deep_freeze", "deep_freeze_peer")
    return TrustLine(
        balance=decimal(line["balance"]),
        limit=decimal(line["limit"]),
        is_frozen=is_globally_frozen or any(line.get(name) is True for name in frozen),
        no_ripple=line.get("no_ripple") is True,
        is_authorized=not needs_authorization or line.get("peer_authorized") is True,
        allows_clawback=allows_clawback,
    )


def held(line: Json) -> Amount | None:
    """What an account holds by an entry of `account_lines`; None when it holds nothing and lets nothing come."""
    value = decimal(line["balance"])
    if value < 0 or (not value and not decimal(line["limit"])):
        return None
    return Amount(value, _matching(_CURRENCY, line["currency"]), _address(line["account"]))


def contiguous_from(complete_ledgers: object, last: int) -> int | None:
    """The first of the ledgers that a node has without a gap up to `last`; None when it does not have that one.

    Args:
        complete_ledgers: of `server_info`: ``32570-6595042,6595050-6595062``, or ``empty``.
    """
    if not isinstance(complete_ledgers, str) or len(complete_ledgers) > 10_000:
        return None
    for part in complete_ledgers.split(","):
        found = _LEDGERS.fullmatch(part.strip())
        if found and int(found[1]) <= last <= int(found[2] or found[1]):
            return int(found[1])
    return None


def xrp_to_drops(value: object) -> int:
    """A number of XRP, as `server_info` writes reserves: 1, 0.2 or 1e-05."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError("not an amount of XRP")
    scaled = decimal(str(value)) * DROPS
    if scaled != int(scaled) or not 0 <= scaled <= _MAX_DROPS:
        raise ValueError("not an amount of XRP")
    return int(scaled)


def drops(text: object) -> int:
    """A number of drops, as the ledger writes it."""
    if not isinstance(text, str) or not text.isdecimal() or not text.isascii() or len(text) > 18:
        raise ValueError("not an amount of drops")
    return int(text)


def decimal(text: object) -> Decimal:
    """A value as nodes write it, now and then with an exponent."""
    if not isinstance(text, str):
        raise TypeError("not a decimal")
    try:
        return _bounded(Decimal(text))
    except InvalidOperation:
        raise ValueError("not a decimal") from None


def whole(value: object, most: int = (1 << 63) - 1) -> int:
    """A number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError("not a whole number")
    return value


def _require_bounded(fields: object) -> None:
    """Of a number with a large exponent, xrpl-py would write out all digits."""
    if isinstance(fields, dict) and "Balance" in fields:
        balance = fields["Balance"]
        decimal(balance["value"] if isinstance(balance, dict) else balance)


def _delivered(body: Json, meta: Json, token: XrplToken) -> tuple[Amount | None, bool]:
    """What arrived, and whether that is less than the transaction says.

    `Amount` is what a sender says. Only `delivered_amount`, which the server adds to the metadata, is what arrived; of partial
    payments before 2014 it is ``unavailable``.
    """
    said = body.get("Amount", body.get("DeliverMax"))
    arrived = meta.get("delivered_amount", meta.get("DeliveredAmount"))
    is_payment = body["TransactionType"] == "Payment"
    is_partial = is_payment and bool(whole(body.get("Flags", 0)) & _PARTIAL_PAYMENT)
    if arrived is None and is_payment and not is_partial:
        arrived = said
    if arrived is None or arrived == "unavailable":
        return None, is_partial
    amount = _amount(arrived, token)
    return amount, is_partial and said is not None and _amount(said, token).value > amount.value


def _amount(written: object, token: XrplToken) -> Amount:
    if isinstance(written, str):
        return Amount(Decimal(drops(written)) / DROPS, "XRP", None)
    if not isinstance(written, dict):
        raise TypeError("not an amount")
    value = decimal(written["value"])
    if "mpt_issuance_id" in written:
        return Amount(value, _matching(_MPT, written["mpt_issuance_id"]), None)
    currency, issuer = _matching(_CURRENCY, written["currency"]), _address(written["issuer"])
    is_token = (currency, issuer) == (token.currency, token.issuer)
    return Amount(value, token.symbol if is_token else currency, issuer)


def _peer(body: Json) -> str | None:
    limit = body.get("LimitAmount")
    return _address(limit["issuer"]) if isinstance(limit, dict) else None


def _matching(pattern: re.Pattern[str], text: object) -> str:
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise ValueError("not what the ledger has there")
    return text


def _address(text: object) -> str:
    if not isinstance(text, str) or not is_address(text):
        raise ValueError("not an address")
    return text


def _bounded(value: Decimal) -> Decimal:
    if not value.is_finite() or abs(value.adjusted()) > _MAX_DIGITS or len(value.as_tuple().digits) > _MAX_DIGITS:
        raise ValueError("not a number that the ledger has")
    return value
