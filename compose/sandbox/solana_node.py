"""The sandbox's Solana node as a process: JSON-RPC over HTTP on 127.0.0.1.

    python -m compose.sandbox.solana_node --port 8899 --fee-payer <address> --payer <address> --pay-to <address>

USDC is at its address from the first block. The fee payer has 10 SOL, the payer has 1,000 USDC, and the recipient has a token
account for USDC.
"""

import argparse
import base64
from collections.abc import Callable, Sequence
from typing import Any

from solders.hash import Hash
from solders.message import from_bytes_versioned
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import SanitizeError, VersionedTransaction

from compose.sandbox.node_server import JsonRpcServer
from compose.sandbox.solana_ledger import Ledger
from compose.sandbox.solana_tokens import MINT, USDC, address_of, read_holding
from compose.sandbox.solana_wire import (
    INVALID_PARAMS,
    account_json,
    amount_json,
    commitment,
    in_context,
    simulated_json,
    status_json,
    transaction_json,
)
from shared.nodes.json_rpc import RpcError
from shared.x402.solana_message import MAX_TRANSACTION_BYTES

FEE_PAYER_LAMPORTS = 10 * 10**9
PAYER_FUNDS = 1_000 * 10**USDC.decimals

GENESIS_HASH = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
"""The genesis hash of mainnet, by which clients identify the network."""
LAMPORTS_PER_SIGNATURE = 5_000

METHOD_NOT_FOUND = -32601
PREFLIGHT_FAILURE, SIGNATURE_FAILURE = -32002, -32003
UNSUPPORTED_VERSION, BEHIND = -32015, -32016


def answer(ledger: Ledger, method: str, params: Sequence[Any]) -> Any:
    """The result of one call.

    Raises:
        RpcError: the call failed, the method is unknown, or its parameters are wrong.
    """
    serve = _METHODS.get(method)
    if serve is None:
        raise RpcError(METHOD_NOT_FOUND, "Method not found")
    # Clients send null for options that they do not set.
    params = [{k: v for k, v in one.items() if v is not None} if isinstance(one, dict) else one for one in params]
    try:
        config = next((one for one in params if isinstance(one, dict)), {})
        if config.get("minContextSlot", 0) > ledger.slot:
            raise RpcError(BEHIND, "Minimum context slot has not been reached", {"contextSlot": ledger.slot})
        return serve(ledger, *params)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from error


# Methods about accounts.


def _get_account_info(ledger: Ledger, address: str, config: dict[str, Any] | None = None) -> Any:
    return in_context(ledger, account_json(ledger.account(Pubkey.from_string(address)), config or {}))


def _get_multiple_accounts(ledger: Ledger, addresses: list[str], config: dict[str, Any] | None = None) -> Any:
    if len(addresses) > 100:
        raise ValueError("too many inputs provided; max 100")
    config = {"encoding": "base64", **(config or {})}
    return in_context(ledger, [account_json(ledger.account(Pubkey.from_string(one)), config) for one in addresses])


def _get_balance(ledger: Ledger, address: str, config: Any = None) -> Any:
    account = ledger.account(Pubkey.from_string(address))
    return in_context(ledger, account.lamports if account else 0)


def _get_token_account_balance(ledger: Ledger, address: str, config: Any = None) -> Any:
    held = read_holding(ledger.account(Pubkey.from_string(address)))
    if held is None:
        raise ValueError("could not find account")
    return in_context(ledger, amount_json(held.amount))


def _get_token_accounts_by_owner(ledger: Ledger, owner: str, which: Any, config: dict[str, Any] | None = None) -> Any:
    """The only token accounts are the associated ones of USDC."""
    address = address_of(Pubkey.from_string(owner))
    account = ledger.account(address) if which.get("mint", str(MINT)) == str(MINT) else None
    shown = account_json(account, {"encoding": "base64", **(config or {})})
    return in_context(ledger, [{"pubkey": str(address), "account": shown}] if shown else [])


# Methods about the chain.


def _get_latest_blockhash(ledger: Ledger, config: dict[str, Any] | None = None) -> Any:
    blockhash, last = ledger.blockhash(final=(config or {}).get("commitment", "finalized") == "finalized")
    return in_context(ledger, {"blockhash": str(blockhash), "lastValidBlockHeight": last})


def _get_fee_for_message(ledger: Ledger, message: str, config: Any = None) -> Any:
    read = from_bytes_versioned(base64.b64decode(message, validate=True))
    fee = read.header.num_required_signatures * LAMPORTS_PER_SIGNATURE
    return in_context(ledger, fee if ledger.is_alive(read.recent_blockhash) else None)


# Methods about transactions.


def _transaction(text: str, config: dict[str, Any]) -> VersionedTransaction:
    if config.get("encoding", "base58") != "base64":
        raise ValueError("this node reads transactions in base64 only")
    try:
        raw = base64.b64decode(text, validate=True)
        if len(raw) > MAX_TRANSACTION_BYTES:
            raise ValueError(f"too large: {len(raw)} bytes (max: {MAX_TRANSACTION_BYTES})")
        transaction = VersionedTransaction.from_bytes(raw)
        transaction.sanitize()
    except (ValueError, SanitizeError) as error:
        raise RpcError(INVALID_PARAMS, f"failed to deserialize the transaction: {error}") from error
    return transaction


def _simulate_transaction(ledger: Ledger, text: str, config: dict[str, Any] | None = None) -> Any:
    config = config or {}
    transaction = _transaction(text, config)
    if config.get("sigVerify") and not all(transaction.verify_with_results()):
        raise RpcError(SIGNATURE_FAILURE, "Transaction signature verification failure")
    done = ledger.simulate(transaction, any_blockhash=config.get("replaceRecentBlockhash", False))
    return in_context(ledger, simulated_json(done))


def _send_transaction(ledger: Ledger, text: str, config: dict[str, Any] | None = None) -> str:
    config = config or {}
    transaction = _transaction(text, config)
    if not config.get("skipPreflight"):
        if not all(transaction.verify_with_results()):
            raise RpcError(SIGNATURE_FAILURE, "Transaction signature verification failure")
        done = ledger.simulate(transaction)
        if done.err is not None:
            raise RpcError(PREFLIGHT_FAILURE, f"Transaction simulation failed: {done.err}", simulated_json(done))
    ledger.send(transaction)
    return str(transaction.signatures[0])


def _get_signature_statuses(ledger: Ledger, signatures: list[str], config: dict[str, Any] | None = None) -> Any:
    if len(signatures) > 256:
        raise ValueError("too many inputs provided; max 256")
    search = (config or {}).get("searchTransactionHistory", False)
    found = [ledger.landed(Signature.from_string(one)) for one in signatures]
    return in_context(ledger, [status_json(ledger, one, search=search) for one in found])


def _get_signatures_for_address(ledger: Ledger, address: str, config: dict[str, Any] | None = None) -> Any:
    config = config or {}
    limit = config.get("limit", 1000)
    if not 1 <= limit <= 1000:
        raise ValueError("invalid limit; max 1000")
    found: list[dict[str, Any]] = []
    begun = config.get("before") is None
    for landed in ledger.history(Pubkey.from_string(address)):
        signature = str(landed.signature)
        if signature == config.get("until") or len(found) == limit:
            break
        if begun:
            found.append(
                {
                    "signature": signature,
                    "slot": landed.slot,
                    "err": landed.err,
                    "memo": None,
                    "blockTime": landed.block_time,
                    "confirmationStatus": commitment(ledger.slot - landed.slot),
                }
            )
        begun = begun or signature == config["before"]
    return found


def _get_transaction(ledger: Ledger, signature: str, config: Any = None) -> Any:
    config = config if isinstance(config, dict) else {"encoding": config or "json"}
    if config.get("encoding", "json") != "base64":
        raise ValueError("this node shows transactions in base64 only")
    landed = ledger.landed(Signature.from_string(signature))
    if landed is None:
        return None
    version = landed.transaction.version()
    if version != "legacy" and config.get("maxSupportedTransactionVersion") is None:
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"Transaction version ({version}) is not supported by the requesting client. Please try the request again "
            'with the following configuration parameter: "maxSupportedTransactionVersion": 0',
        )
    return transaction_json(landed)


_METHODS: dict[str, Callable[..., Any]] = {
    "getAccountInfo": _get_account_info,
    "getMultipleAccounts": _get_multiple_accounts,
    "getBalance": _get_balance,
    "getTokenAccountBalance": _get_token_account_balance,
    "getTokenAccountsByOwner": _get_token_accounts_by_owner,
    "getLatestBlockhash": _get_latest_blockhash,
    "isBlockhashValid": lambda ledger, named, config=None: in_context(ledger, ledger.is_alive(Hash.from_string(named))),
    "getSlot": lambda ledger, config=None: ledger.slot,
    "getBlockHeight": lambda ledger, config=None: ledger.block_height,
    "getBlockTime": lambda ledger, slot: ledger.block_time(slot) if slot <= ledger.slot else None,
    "getFeeForMessage": _get_fee_for_message,
    "getGenesisHash": lambda ledger: GENESIS_HASH,
    "getHealth": lambda ledger: "ok",
    "getVersion": lambda ledger: {"solana-core": "3.0.0", "feature-set": 0},
    "getMinimumBalanceForRentExemption": lambda ledger, size, config=None: ledger.rent(size),
    "simulateTransaction": _simulate_transaction,
    "sendTransaction": _send_transaction,
    "getSignatureStatuses": _get_signature_statuses,
    "getSignaturesForAddress": _get_signatures_for_address,
    "getTransaction": _get_transaction,
    # For tests. No real node has these.
    "sandbox_fund": lambda ledger, owner, config: ledger.fund(Pubkey.from_string(owner), **config),
    "sandbox_hold": lambda ledger: ledger.hold(),
    "sandbox_release": lambda ledger: ledger.release(),
    "sandbox_drop": lambda ledger, count: ledger.drop(count),
    "sandbox_advance": lambda ledger, slots: ledger.advance(slots),
}


class Server(JsonRpcServer):
    """One ledger on one port."""

    def __init__(self, port: int, ledger: Ledger) -> None:
        super().__init__(port)
        self.ledger = ledger

    def call(self, method: str, params: Any) -> Any:
        """A method of Solana's RPC, or of the tests."""
        return answer(self.ledger, method, params if isinstance(params, list) else [params] if params else [])


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    for account in ("--fee-payer", "--payer", "--pay-to"):
        parser.add_argument(account, type=Pubkey.from_string, required=True, metavar="ADDRESS")
    options = parser.parse_args()
    ledger = Ledger()
    ledger.fund(options.fee_payer, lamports=FEE_PAYER_LAMPORTS)
    ledger.fund(options.payer, usdc=PAYER_FUNDS)
    ledger.fund(options.pay_to, usdc=0)
    with Server(options.port, ledger) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
