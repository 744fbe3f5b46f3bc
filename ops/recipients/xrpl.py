"""Whether a recipient on the XRP Ledger has trust lines for the tokens that are offered."""

from __future__ import annotations

from contextlib import closing

from shared.nodes.xrpl_rpc import XrplError, XrplRpc
from shared.settings.rails import XrplRailSettings
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC


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
