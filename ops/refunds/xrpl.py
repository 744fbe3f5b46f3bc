"""Refunds on the XRP Ledger: a Payment for each, as JSON that a wallet completes and signs."""

import re
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal

from ops.chains import TIMEOUT_S
from ops.chains.xrpl import RIPPLE_EPOCH
from ops.refunds.debts import Debt
from ops.refunds.transfers import Built, Found, NotPossible, Options, Transfer, listed
from shared.nodes.xrpl_rpc import Json, XrplError, XrplRpc
from shared.settings.rails import XrplRailSettings
from shared.x402.xrpl_payment import LAST_STANDARD_NETWORK

FORM = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)

_REQUIRES_TAG, _DEPOSIT_AUTH = 0x00020000, 0x01000000


def address(text: str) -> str:
    """The only spelling of an address."""
    return text


def lacks(own: XrplRailSettings, payer: str, debts: Sequence[Debt]) -> str:
    """Why a payer cannot be paid these debts of one token; empty when he can."""
    currency, _, issuer = debts[0].asset.partition(".")
    with closing(XrplRpc(own.rpc_url, timeout_s=TIMEOUT_S)) as node:
        try:
            account = node("account_info", account=payer, ledger_index="validated")["account_data"]
            lines = node("account_lines", account=payer, peer=issuer, ledger_index="validated")["lines"]
        except XrplError as error:
            if error.code != "actNotFound":
                raise
            return "it does not exist any more"
    if account["Flags"] & _REQUIRES_TAG:
        return "it requires a destination tag, and payments to us have none of their payer's"
    if account["Flags"] & _DEPOSIT_AUTH:
        return "it takes deposits only from senders that it has authorized (DepositAuth)"
    line = next((line for line in lines if line["currency"] == currency), None)
    if line is None:
        return "it has no trust line for the token any more"
    room = Decimal(line["limit"]) - Decimal(line["balance"])
    return "" if room >= sum(debt.value for debt in debts) else "the limit of its trust line is reached"


def built(own: XrplRailSettings, debts: Sequence[Debt], options: Options) -> Built:
    """The transfers of one sender."""
    network = int(own.network.partition(":")[2])
    transactions = []
    for debt, about in zip(debts, listed(debts), strict=True):
        currency, _, issuer = debt.asset.partition(".")
        amount = {"currency": currency, "issuer": issuer, "value": debt.amount}
        payment: Json = {
            "TransactionType": "Payment",
            "Account": debt.pay_to,
            "Destination": debt.payer,
            "Amount": amount,
            "SendMax": amount,
        }
        if network > LAST_STANDARD_NETWORK:
            payment["NetworkID"] = network
        transactions.append({"txjson": payment, "for": about})
    note = (
        "The wallet adds Sequence, Fee and LastLedgerSequence to the payments on the XRP Ledger, and signs one by one."
    )
    return Built({".json": {"transactions": transactions}}, [note])


def found(own: XrplRailSettings, transaction: str) -> Found | None:
    """What the ledger shows of a transaction; None when it does not know it. Raises NotPossible, and what nodes raise."""
    with closing(XrplRpc(own.rpc_url, timeout_s=TIMEOUT_S)) as node:
        try:
            shown = node("tx", transaction=transaction.upper())
        except XrplError as error:
            if error.code != "txnNotFound":
                raise
            return None
    if shown.get("validated") is not True:
        raise NotPossible("is in no validated ledger yet")
    body, meta = shown["tx_json"], shown["meta"]
    if meta["TransactionResult"] != "tesSUCCESS":
        raise NotPossible(f"failed: {meta['TransactionResult']}")
    at, delivered = int(body.get("date") or shown["date"]) + RIPPLE_EPOCH, meta.get("delivered_amount")
    transfers = []
    if body["TransactionType"] == "Payment" and isinstance(delivered, dict):
        asset = f"{delivered['currency']}.{delivered['issuer']}"
        value = Decimal(delivered["value"])
        transfers.append(Transfer("0", asset, body["Account"], body["Destination"], value))
    return Found(shown["hash"], at, transfers)
