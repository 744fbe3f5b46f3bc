"""Whether the recipients of payments can receive them: a trust line on the XRP Ledger, a token account on Solana.

On Stellar, only the issuer's name in the asset would tell, and our table has the asset's contract instead: it is not checked.
"""

from __future__ import annotations

from shared.json_rpc import JsonRpc, RpcError
from shared.node_connections import NodeFailed
from shared.rail_settings import SolanaRailSettings, XrplRailSettings
from shared.x402.networks import SOLANA_USDC, XRPL_RLUSD, XRPL_USDC
from shared.x402.solana_address import decode_base58, encode_base58, token_account
from shared.xrpl_rpc import XrplError, XrplRpc

TIMEOUT_S = 5.0


def missing(rail: object) -> list[str] | None:
    """What the recipient lacks, as sentences; None when it cannot be told."""
    match rail:
        case XrplRailSettings(rpc_url=url) if url:
            return _trust_lines(rail)
        case SolanaRailSettings(rpc_url=url) if url:
            return _token_account(rail)
        case _:
            return None


def _trust_lines(rail: XrplRailSettings) -> list[str] | None:
    node = XrplRpc(rail.rpc_url, timeout_s=TIMEOUT_S)
    try:
        lines = node("account_lines", account=rail.pay_to, ledger_index="validated")["lines"]
    except XrplError as error:
        return [f"{rail.pay_to} does not exist"] if error.code == "actNotFound" else None
    except (NodeFailed, KeyError):
        return None
    finally:
        node.close()
    has = {(line["currency"], line["account"]) for line in lines}
    tokens = (XRPL_USDC.get(rail.network), XRPL_RLUSD.get(rail.network))
    return [
        f"{rail.pay_to} has no trust line for {token.symbol} of {token.issuer}"
        for token in tokens
        if token is not None and (token.currency, token.issuer) not in has
    ]


def _token_account(rail: SolanaRailSettings) -> list[str] | None:
    token = SOLANA_USDC.get(rail.network)
    if token is None:
        return None
    account = encode_base58(token_account(decode_base58(rail.pay_to, 32), decode_base58(token.mint, 32)))
    node = JsonRpc(rail.rpc_url, timeout_s=TIMEOUT_S)
    try:
        found = node("getAccountInfo", account, {"encoding": "base64"})["value"]
    except (NodeFailed, RpcError, KeyError, TypeError):
        return None
    finally:
        node.close()
    return [] if found else [f"{rail.pay_to} has no token account for USDC: {account} does not exist"]
