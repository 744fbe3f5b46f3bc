"""Checks whether the sandbox's XRP Ledger accepts a transaction, in rippled's order and with its result codes.

Source: xrpl.org, "Transaction Results", "Transaction Common Fields", "Payment", "AccountDelete", "Cryptographic Keys", "Use
Tickets".
"""

from decimal import Decimal
from typing import Any

from compose.sandbox.xrpl_state import (
    BASE_FEE,
    CLEAR_FREEZE,
    CLEAR_NO_RIPPLE,
    DISABLE_MASTER,
    MOST_TICKETS,
    PARTIAL_PAYMENT,
    RESERVE_INCREMENT,
    SET_FREEZE,
    SET_NO_RIPPLE,
    State,
)
from shared.x402.xrpl_keys import address_of, is_signed

LAST_STANDARD_NETWORK = 1024
SUPPORTED = ("Payment", "TrustSet", "TicketCreate", "AccountDelete")
_CANONICAL_SIGNATURE = 0x80000000
_AUTHORIZE = 0x00010000  # of no effect here
_TRUST_FLAGS = SET_NO_RIPPLE | CLEAR_NO_RIPPLE | SET_FREEZE | CLEAR_FREEZE | _AUTHORIZE
_OPPOSITES = (SET_NO_RIPPLE | CLEAR_NO_RIPPLE, SET_FREEZE | CLEAR_FREEZE)

Json = dict[str, Any]


def is_well_signed(transaction: Json, signed: bytes) -> bool:
    """Whether the transaction's key made the signature. This ledger does not support multi-signing."""
    key, signature = transaction.get("SigningPubKey", ""), transaction.get("TxnSignature", "")
    return "Signers" not in transaction and is_signed(bytes.fromhex(key), signed, bytes.fromhex(signature))


def malformed(transaction: Json, network_id: int) -> str | None:
    """The code for a transaction that no ledger can apply, or None."""
    kind = transaction.get("TransactionType")
    named = transaction.get("NetworkID")
    if network_id <= LAST_STANDARD_NETWORK:
        if named is not None:
            return "telNETWORK_ID_MAKES_TX_NON_CANONICAL"
    elif named is None:
        return "telREQUIRES_NETWORK_ID"
    elif named != network_id:
        return "telWRONG_NETWORK"
    if kind not in SUPPORTED:
        return "temUNKNOWN"
    if not str(transaction.get("Fee", "")).isdigit():
        return "temBAD_FEE"
    if transaction.get("Sequence", 0) != 0 and "TicketSequence" in transaction:
        return "temSEQ_AND_TICKET"
    flags = transaction.get("Flags", 0) & ~_CANONICAL_SIGNATURE
    if kind == "Payment":
        return _malformed_payment(transaction, flags)
    if kind == "TrustSet":
        return _malformed_line(transaction, flags)
    if flags:
        return "temINVALID_FLAG"
    if kind == "AccountDelete":
        if "Destination" not in transaction:
            return "temMALFORMED"
        return "temDST_IS_SRC" if transaction["Destination"] == transaction["Account"] else None
    return None if 1 <= transaction.get("TicketCount", 0) <= MOST_TICKETS else "temINVALID_COUNT"


def untimely(transaction: Json, state: State, index: int) -> str | None:
    """The code for a transaction that the open ledger `index` cannot apply, or None."""
    account = state.accounts.get(transaction["Account"])
    if account is None:
        return "terNO_ACCOUNT"
    ticket = transaction.get("TicketSequence")
    if ticket is not None:
        if ticket not in account.tickets:
            return "terPRE_TICKET" if ticket >= account.sequence else "tefNO_TICKET"
    elif transaction["Sequence"] != account.sequence:
        return "terPRE_SEQ" if transaction["Sequence"] > account.sequence else "tefPAST_SEQ"
    if transaction.get("LastLedgerSequence", index) < index:
        return "tefMAX_LEDGER"
    fee = int(transaction["Fee"])
    if fee < (RESERVE_INCREMENT if transaction["TransactionType"] == "AccountDelete" else BASE_FEE):
        return "telINSUF_FEE_P"
    if account.balance < fee:
        return "terINSUF_FEE_B"
    signer = address_of(bytes.fromhex(transaction["SigningPubKey"]))
    if signer == account.regular_key:
        return None
    if signer != transaction["Account"]:
        return "tefBAD_AUTH"
    return "tefMASTER_DISABLED" if account.flags & DISABLE_MASTER else None


def _malformed_payment(transaction: Json, flags: int) -> str | None:
    if flags & ~PARTIAL_PAYMENT:
        return "temINVALID_FLAG"
    if "Paths" in transaction:
        return "temBAD_PATH"  # this ledger has none
    amount, most = transaction.get("Amount"), transaction.get("SendMax")
    if amount is None or "Destination" not in transaction:
        return "temMALFORMED"
    if isinstance(amount, str):
        if not 0 < int(amount) <= 10**17:
            return "temBAD_AMOUNT"
        if most is not None:
            return "temBAD_SEND_XRP_MAX"
        if flags:
            return "temBAD_SEND_XRP_PARTIAL"
        return "temREDUNDANT" if transaction["Account"] == transaction["Destination"] else None
    if not _is_positive(amount) or (most is not None and not _is_positive(most)):
        return "temBAD_AMOUNT"
    if most is not None and (not isinstance(most, dict) or _token(most) != _token(amount)):
        return "temBAD_PATH"  # another currency needs one
    least = transaction.get("DeliverMin")
    if least is not None and (not flags or not _is_at_most(least, amount)):
        return "temBAD_AMOUNT"
    return "temREDUNDANT" if transaction["Account"] == transaction["Destination"] else None


def _malformed_line(transaction: Json, flags: int) -> str | None:
    limit = transaction.get("LimitAmount")
    if flags & ~_TRUST_FLAGS:
        return "temINVALID_FLAG"
    if any(flags & both == both for both in _OPPOSITES):
        return "temINVALID_FLAG"
    if not isinstance(limit, dict) or str(limit["value"]).startswith("-"):
        return "temBAD_LIMIT"
    return "temDST_IS_SRC" if limit["issuer"] == transaction["Account"] else None


def _is_positive(amount: Any) -> bool:
    value = amount["value"] if isinstance(amount, dict) else amount
    return not value.startswith("-") and value.strip("0.") != ""


def _is_at_most(least: Any, amount: Json) -> bool:
    if not isinstance(least, dict) or _token(least) != _token(amount) or not _is_positive(least):
        return False
    return Decimal(least["value"]) <= Decimal(amount["value"])


def _token(amount: Json) -> tuple[str, str]:
    return amount["currency"], amount["issuer"]
