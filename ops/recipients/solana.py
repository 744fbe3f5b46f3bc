"""Whether a recipient on Solana has a token account for USDC."""

from __future__ import annotations

from contextlib import closing

from shared.nodes.json_rpc import JsonRpc
from shared.settings.rails import SolanaRailSettings
from shared.x402.networks import SOLANA_USDC
from shared.x402.solana_address import decode_base58, encode_base58, token_account


def lacks(own: SolanaRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    token = SOLANA_USDC.get(own.network)
    if token is None:
        return None
    account = encode_base58(token_account(decode_base58(own.pay_to, 32), decode_base58(token.mint, 32)))
    with closing(JsonRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        found = node("getAccountInfo", account, {"encoding": "base64"})["value"]
    return [] if found else [f"{own.pay_to} has no token account for USDC: {account} does not exist"]
