"""Encodes a ledger's data in the form of Solana's JSON-RPC."""

import base64
from collections.abc import Sequence
from typing import Any

from solders.account import Account

from compose.sandbox.solana_ledger import BLOCKHASH_LIVES, FINAL_AFTER, Landed, Ledger, Simulated
from compose.sandbox.solana_tokens import TOKEN, USDC, Holding
from shared.nodes.json_rpc import RpcError
from shared.x402.solana_address import encode_base58

INVALID_PARAMS = -32602
_RECENT_SLOTS = BLOCKHASH_LIVES + FINAL_AFTER


def in_context(ledger: Ledger, value: Any) -> dict[str, Any]:
    """A value with the slot at which it was read."""
    return {"context": {"slot": ledger.slot, "apiVersion": "3.0.0"}, "value": value}


def account_json(account: Account | None, config: dict[str, Any]) -> dict[str, Any] | None:
    """An account, encoded as `config` asks for it; None when there is none."""
    if account is None:
        return None
    data = bytes(account.data)
    if part := config.get("dataSlice"):
        data = data[part["offset"] : part["offset"] + part["length"]]
    # A node without a parser answers jsonParsed with base64. This one has no parser.
    encoding = "base58" if config.get("encoding", "base58") == "base58" else "base64"
    if encoding == "base58" and len(data) > 128:
        raise RpcError(INVALID_PARAMS, "Encoded binary (base 58) data should be less than 128 bytes")
    return {
        "lamports": account.lamports,
        "owner": str(account.owner),
        "data": [encode_base58(data) if encoding == "base58" else base64.b64encode(data).decode(), encoding],
        "executable": account.executable,
        "rentEpoch": 2**64 - 1,
        "space": len(account.data),
    }


def amount_json(units: int) -> dict[str, Any]:
    """An amount of USDC."""
    text = f"{units // 10**USDC.decimals}.{units % 10**USDC.decimals:0{USDC.decimals}d}".rstrip("0").rstrip(".")
    return {"amount": str(units), "decimals": USDC.decimals, "uiAmount": float(text), "uiAmountString": text}


def simulated_json(done: Simulated) -> dict[str, Any]:
    """The result of a simulation."""
    shown = {"err": done.err, "logs": done.logs, "unitsConsumed": done.units}
    return {**shown, "accounts": None, "returnData": None}


def status_json(ledger: Ledger, landed: Landed | None, *, search: bool) -> dict[str, Any] | None:
    """The status of a transaction. Without `search` a node knows recent transactions only."""
    if landed is None or (not search and ledger.slot - landed.slot > _RECENT_SLOTS):
        return None
    age = ledger.slot - landed.slot
    return {
        "slot": landed.slot,
        "confirmations": age if age < FINAL_AFTER else None,
        "err": landed.err,
        "status": {"Ok": None} if landed.err is None else {"Err": landed.err},
        "confirmationStatus": commitment(age),
    }


def commitment(age: int) -> str:
    """The confirmation status of a block that is this many slots old."""
    return "confirmed" if age < FINAL_AFTER else "finalized"


def transaction_json(landed: Landed) -> dict[str, Any]:
    """A transaction in a block, in base64."""
    meta = {
        "err": landed.err,
        "status": {"Ok": None} if landed.err is None else {"Err": landed.err},
        "fee": landed.fee,
        "preBalances": landed.lamports[0],
        "postBalances": landed.lamports[1],
        "innerInstructions": [],
        "logMessages": landed.logs,
        "preTokenBalances": _token_balances(landed.holdings[0]),
        "postTokenBalances": _token_balances(landed.holdings[1]),
        "rewards": [],
        "loadedAddresses": {"writable": [], "readonly": []},
        "computeUnitsConsumed": landed.units,
    }
    return {
        "slot": landed.slot,
        "transaction": [base64.b64encode(bytes(landed.transaction)).decode(), "base64"],
        "meta": meta,
        "blockTime": landed.block_time,
        "version": "legacy" if landed.transaction.version() == "legacy" else 0,
    }


def _token_balances(holdings: Sequence[Holding | None]) -> list[dict[str, Any]]:
    return [
        {
            "accountIndex": index,
            "mint": str(held.mint),
            "owner": str(held.owner),
            "programId": str(TOKEN),
            "uiTokenAmount": amount_json(held.amount),
        }
        for index, held in enumerate(holdings)
        if held is not None
    ]
