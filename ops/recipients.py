"""Whether recipients can receive payments: a trust line on Stellar and the XRP Ledger, a token account on Solana, and on EVM
networks no entry in the token's blacklist."""

from __future__ import annotations

import base64
import struct

from shared.json_rpc import JsonRpc, RpcError
from shared.node_connections import NodeFailed
from shared.rail_settings import (
    EvmRailSettings,
    RailSettings,
    SolanaRailSettings,
    StellarRailSettings,
    XrplRailSettings,
)
from shared.settings import PREFIX
from shared.x402 import stellar_address
from shared.x402.networks import SOLANA_USDC, STELLAR_USDC, XRPL_RLUSD, XRPL_USDC
from shared.x402.solana_address import decode_base58, encode_base58, token_account
from shared.xrpl_rpc import XrplError, XrplRpc

TIMEOUT_S = 5.0

# Of Stellar-ledger-entries.x.
_ACCOUNT_ENTRY, _TRUST_LINE_ENTRY, _ED25519, _ALPHANUM4 = 0, 1, 0, 1


class NotChecked(Exception):
    """Whether the recipient can receive is not known. The text says why."""


def missing(name: str, rail: RailSettings) -> list[str] | None:
    """What the recipient lacks, as sentences; None on a network that we do not know.

    Args:
        name: of the rail in the settings.

    Raises:
        NotChecked: no node can be asked, or it does not tell.
    """
    if not isinstance(rail, EvmRailSettings | SolanaRailSettings | StellarRailSettings | XrplRailSettings):
        return None
    variable = f"{PREFIX}{name.upper()}_RPC_URL"
    if not rail.rpc_url:
        raise NotChecked(f"{variable} names no node to ask")
    match rail:
        case EvmRailSettings():
            from ops import token_contract  # web3 takes a second to load

            lacks = token_contract.lacks(rail, timeout_s=TIMEOUT_S)
        case XrplRailSettings():
            lacks = _trust_lines(rail)
        case SolanaRailSettings():
            lacks = _token_account(rail)
        case StellarRailSettings():
            lacks = _stellar_trust_line(rail)
    if lacks is None:
        raise NotChecked(f"the node of {variable} does not tell")
    return lacks


def _stellar_trust_line(rail: StellarRailSettings) -> list[str] | None:
    token, address = STELLAR_USDC.get(rail.network), stellar_address.parse(rail.pay_to)
    if token is None:
        return None
    if address is None:
        return [f"{rail.pay_to} is no address"]
    if address.kind == stellar_address.CONTRACT:
        return []  # its balance is in the asset's contract
    issuer = stellar_address.parse(token.issuer)
    assert issuer is not None
    account = struct.pack(">I32s", _ED25519, address.key)
    asset = struct.pack(">I4sI32s", _ALPHANUM4, b"USDC", _ED25519, issuer.key)
    of_account = _base64(struct.pack(">I", _ACCOUNT_ENTRY) + account)
    of_line = _base64(struct.pack(">I", _TRUST_LINE_ENTRY) + account + asset)
    node = JsonRpc(rail.rpc_url, timeout_s=TIMEOUT_S)
    try:
        entries = node.named("getLedgerEntries", keys=[of_account, of_line])["entries"] or []
        found = {entry["key"] for entry in entries}
    except (NodeFailed, RpcError, KeyError, TypeError):
        return None
    finally:
        node.close()
    if of_account not in found:
        return [f"{address.account.text} does not exist"]
    return [] if of_line in found else [f"{address.account.text} has no trust line for USDC of {token.issuer}"]


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


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
