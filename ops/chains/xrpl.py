"""Transfers of the XRP Ledger. Its payers pay the fees."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from ops.chains import TIMEOUT_S, NotKept, Transfer
from shared.nodes.xrpl_rpc import XrplError, XrplRpc
from shared.settings.rails import RailSettings, XrplRailSettings
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC, Token, XrplToken

COIN = ("XRP", 6)
PAYERS_PAY = True
RIPPLE_EPOCH = 946_684_800
"""The ledger's time 0, in Unix seconds."""
PAGE = 200
_FIRST_OF_ALL = 32_570
"""The first ledger that the main network kept."""


def transfers(url: str, own: RailSettings, token: Token, since: int) -> Iterator[Transfer]:
    """The payments of the token that arrived, the newest first."""
    node = XrplRpc(url, timeout_s=TIMEOUT_S)
    wanted = (token.currency, token.issuer)  # type: ignore[union-attr]
    place: dict[str, Any] = {}
    while True:
        page = node("account_tx", account=own.pay_to, limit=PAGE, **place)
        for entry in page["transactions"]:
            body, meta = entry["tx_json"], entry["meta"]
            if (at := int(body.get("date") or entry["date"]) + RIPPLE_EPOCH) < since:
                return
            delivered = meta.get("delivered_amount")
            is_payment = (body["TransactionType"], meta["TransactionResult"]) == ("Payment", "tesSUCCESS")
            if not is_payment or body["Destination"] != own.pay_to or not isinstance(delivered, dict):
                continue
            if (delivered["currency"], delivered["issuer"]) == wanted:
                yield Transfer(entry["hash"], 0, body["Account"], plain(delivered["value"]), at)
        if page.get("marker") is None:
            break
        place = {"marker": page["marker"]}
    oldest = int(page["ledger_index_min"])
    if oldest > _FIRST_OF_ALL:
        header = node("ledger", ledger_index=oldest)["ledger"]
        if (kept_since := int(header["close_time"]) + RIPPLE_EPOCH) > since:
            raise NotKept(f"it has ledgers since {datetime.fromtimestamp(kept_since, UTC):%Y-%m-%d %H:%M} UTC only")


def holds(url: str, token: XrplToken, holder: str) -> Decimal:
    """What the trust line of an account has; 0 where there is none."""
    asked = {"account": holder, "peer": token.issuer, "ledger_index": "validated"}
    lines = XrplRpc(url, timeout_s=TIMEOUT_S)("account_lines", **asked)["lines"]
    return sum((Decimal(line["balance"]) for line in lines if line["currency"] == token.currency), Decimal(0))


def is_final(url: str, own: RailSettings, transaction: str) -> bool:
    """Whether a validated ledger has it."""
    found = XrplRpc(url, timeout_s=TIMEOUT_S)("tx", transaction=transaction)
    return found.get("validated") is True and found["meta"]["TransactionResult"] == "tesSUCCESS"


def finality(own: RailSettings) -> str:
    """Of every settlement on it."""
    return "a validated ledger"


def plain(text: str) -> str:
    """A number in the one form that offers have: without exponent and trailing zeros."""
    return format(Decimal(text).normalize(), "f")


def lacks(own: XrplRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    with closing(XrplRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        try:
            lines = node("account_lines", account=own.pay_to, ledger_index="validated")["lines"]
        except XrplError as error:
            return [f"{own.pay_to} does not exist"] if error.code == "actNotFound" else None
    has = {(line["currency"], line["account"]) for line in lines}
    tokens = (XRPL_USDC.get(own.network), XRPL_RLUSD.get(own.network))
    return [
        f"{own.pay_to} has no trust line for {token.symbol} of {token.issuer}"
        for token in tokens
        if token is not None and (token.currency, token.issuer) not in has
    ]
