"""What each sandbox ledger says by its network's own public methods: what payTo holds, and whether a transaction is final."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import httpx
from solders.pubkey import Pubkey
from spl.token.instructions import get_associated_token_address
from stellar_sdk import Asset, Keypair, xdr

from shared.x402.evm import keccak256
from shared.x402.networks import STELLAR_USDC

_STELLAR_ISSUER = "GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN"
"""Circle's, whose asset's contract is the one that the offers name."""


class Ledger(NamedTuple):
    """One kind of ledger. `sandbox` is its member of var/sandbox.json.

    Attributes:
        held: (sandbox, asset) to what payTo holds, in the unit of the offers.
        is_final: (sandbox, transaction) to whether it has succeeded, for good.
    """

    held: Callable[[dict[str, Any], str], Decimal]
    is_final: Callable[[dict[str, Any], str], bool]


def _rpc(sandbox: dict[str, Any], method: str, params: Any) -> Any:
    """The result of one JSON-RPC call."""
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = httpx.post(sandbox["rpcUrl"], json=call, trust_env=False).json()
    assert "result" in answer, answer
    return answer["result"]


def _evm_held(sandbox: dict[str, Any], asset: str) -> Decimal:
    data = keccak256(b"balanceOf(address)")[:4] + bytes(12) + bytes.fromhex(sandbox["payTo"].removeprefix("0x"))
    return Decimal(int(_rpc(sandbox, "eth_call", [{"to": asset, "data": "0x" + data.hex()}, "latest"]), 16))


def _evm_is_final(sandbox: dict[str, Any], transaction: str) -> bool:
    return bool(_rpc(sandbox, "eth_getTransactionReceipt", [transaction])["status"] == "0x1")


def _solana_held(sandbox: dict[str, Any], asset: str) -> Decimal:
    account = get_associated_token_address(Pubkey.from_string(sandbox["payTo"]), Pubkey.from_string(asset))
    balance = _rpc(sandbox, "getTokenAccountBalance", [str(account), {"commitment": "confirmed"}])
    return Decimal(balance["value"]["amount"])


def _solana_is_final(sandbox: dict[str, Any], transaction: str) -> bool:
    [status] = _rpc(sandbox, "getSignatureStatuses", [[transaction], {"searchTransactionHistory": True}])["value"]
    return status["err"] is None and status["confirmationStatus"] in ("confirmed", "finalized")


def _xrpl_held(sandbox: dict[str, Any], asset: str) -> Decimal:
    question = {"account": sandbox["payTo"], "ledger_index": "validated", "api_version": 2}
    [balance] = [
        line["balance"] for line in _rpc(sandbox, "account_lines", [question])["lines"] if line["currency"] == asset
    ]
    return Decimal(balance)


def _xrpl_is_final(sandbox: dict[str, Any], transaction: str) -> bool:
    found = _rpc(sandbox, "tx", [{"transaction": transaction, "binary": False, "api_version": 2}])
    return found["validated"] is True and found["meta"]["TransactionResult"] == "tesSUCCESS"


def _stellar_held(sandbox: dict[str, Any], asset: str) -> Decimal:
    usdc = Asset("USDC", _STELLAR_ISSUER)
    assert usdc.contract_id(STELLAR_USDC[sandbox["network"]].passphrase) == asset
    line = xdr.LedgerKeyTrustLine(
        Keypair.from_public_key(sandbox["payTo"]).xdr_account_id(), usdc.to_trust_line_asset_xdr_object()
    )
    key = xdr.LedgerKey(xdr.LedgerEntryType.TRUSTLINE, trust_line=line).to_xdr()
    [entry] = _rpc(sandbox, "getLedgerEntries", {"keys": [key]})["entries"]
    found = xdr.LedgerEntryData.from_xdr(entry["xdr"])
    assert found.trust_line is not None
    return Decimal(found.trust_line.balance.int64)


def _stellar_is_final(sandbox: dict[str, Any], transaction: str) -> bool:
    return bool(_rpc(sandbox, "getTransaction", {"hash": transaction})["status"] == "SUCCESS")


LEDGERS = {
    "evm": Ledger(_evm_held, _evm_is_final),
    "solana": Ledger(_solana_held, _solana_is_final),
    "stellar": Ledger(_stellar_held, _stellar_is_final),
    "xrpl": Ledger(_xrpl_held, _xrpl_is_final),
}
