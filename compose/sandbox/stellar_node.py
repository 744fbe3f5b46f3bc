"""The sandbox's Stellar network as a process: Stellar RPC over HTTP on 127.0.0.1, with a new ledger every second.

    python -m compose.sandbox.stellar_node --port 8000 --lumens G... --usdc G...=10000000 --usdc G...=0

No package manager has a Stellar node. This is a test double, written against the public documentation. It checks everything
that concerns money: signatures, sequence numbers, fees, time, nonces, balances and trust lines. Its methods are
those of Stellar RPC 27 (developers.stellar.org). Those that begin with `sandbox_` are for tests.
"""

import argparse
import binascii
import threading
import time
from collections.abc import Callable
from typing import Any

from stellar_sdk import Asset, InvokeHostFunction, xdr

from compose.sandbox import stellar_wire as wire
from compose.sandbox.node_server import JsonRpcServer
from compose.sandbox.stellar_contract import Allowed, Trapped
from compose.sandbox.stellar_ledger import HISTORY_LEDGERS, Ledger
from compose.sandbox.stellar_transaction import BASE_FEE, Unreadable, read, resource_fee
from shared.nodes.json_rpc import RpcError
from shared.x402.networks import STELLAR_USDC

NETWORK = "stellar:pubnet"
TOKEN = STELLAR_USDC[NETWORK]
"""Circle's account. The contract's address is derived from it, the asset's code and the network."""
LUMENS = 10_000

PROTOCOL = 27
MOST_KEYS = 200
MOST_EVENTS = 10_000
EVENTS_AT_ONCE = 100
SCANNED_LEDGERS = 10_000
"""At most, for one call of getEvents."""
_INVALID_PARAMS, _METHOD_NOT_FOUND = -32602, -32601
_ANY, _ANY_REST = "*", "**"

Params = dict[str, Any]


def answer(ledger: Ledger, method: str, params: Any) -> Any:
    """The result of a call. Raises RpcError."""
    known = _METHODS.get(method)
    if known is None:
        raise RpcError(_METHOD_NOT_FOUND, f"method not found: {method}")
    if not isinstance(params, dict):
        raise RpcError(_INVALID_PARAMS, "parameters must be named")
    try:
        return known(ledger, params)
    except (KeyError, TypeError, ValueError, EOFError) as error:  # the SDK's decoders raise all of these
        raise RpcError(_INVALID_PARAMS, f"invalid parameters: {type(error).__name__}: {error}") from error


def _health(ledger: Ledger, params: Params) -> Any:
    return {"status": "healthy", **wire.known_ledgers(ledger), "ledgerRetentionWindow": HISTORY_LEDGERS}


def _version(ledger: Ledger, params: Params) -> Any:
    return {
        "version": "27.1.0-sandbox",
        "commitHash": "0" * 40,
        "buildTimestamp": "2026-01-01T00:00:00",
        "captiveCoreVersion": "none: a double written against the documentation",
        "protocolVersion": PROTOCOL,
    }


def _latest(ledger: Ledger, params: Params) -> Any:
    return {
        "id": f"{ledger.sequence:064x}",
        "protocolVersion": PROTOCOL,
        "sequence": ledger.sequence,
        "closeTime": str(ledger.close_time),
        "headerXdr": "",
        "metadataXdr": "",
    }


def _fee_stats(ledger: Ledger, params: Params) -> Any:
    steps = ("max", "min", "mode", *(f"p{each}" for each in (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)))
    fees = dict.fromkeys(steps, str(BASE_FEE)) | {"transactionCount": "0", "ledgerCount": 10}
    return {"sorobanInclusionFee": fees, "inclusionFee": fees, "latestLedger": ledger.sequence}


def _entries(ledger: Ledger, params: Params) -> Any:
    texts = params["keys"]
    if not isinstance(texts, list) or len(texts) > MOST_KEYS:
        raise RpcError(_INVALID_PARAMS, f"key count exceeds maximum supported ({MOST_KEYS})")
    found = []
    for text in texts:
        entry = wire.entry_of(ledger, xdr.LedgerKey.from_xdr(text))
        if entry is not None:
            data, since, until = entry
            lives = {} if until is None else {"liveUntilLedgerSeq": until}
            found.append({"key": text, "xdr": data.to_xdr(), "lastModifiedLedgerSeq": since, **lives})
    return {"entries": found, "latestLedger": ledger.sequence}


def _simulate(ledger: Ledger, params: Params) -> Any:
    latest = {"latestLedger": ledger.sequence}
    try:
        sent = read(params["transaction"], ledger.passphrase)
        [operation] = sent.operations
        if not isinstance(operation, InvokeHostFunction):
            raise Unreadable("there is nothing to simulate")
        call = operation.host_function.invoke_contract
        assert call is not None
        mode = params.get("authMode") or ("enforce" if operation.auth else "record")
        if mode == "record" and operation.auth:
            raise Unreadable("authorization entries are recorded only where there are none")
        entries = operation.auth if mode == "enforce" else None
        source = operation.source.account_id if operation.source else sent.source
        upgraded = bool(params.get("useUpgradedAuth"))
        effect, resources = ledger.simulate(sent, Allowed(entries, source, upgraded))
    except (Unreadable, Trapped, ValueError) as why:
        return {"error": str(why), **latest}
    fee = resource_fee(resources)
    data = xdr.SorobanTransactionData(xdr.SorobanTransactionDataExt(0), resources, xdr.Int64(fee))
    auth = [each.to_xdr() for each in (effect.recorded if entries is None else entries)]
    return {
        "transactionData": data.to_xdr(),
        "minResourceFee": str(fee),
        "events": wire.diagnostics(effect.events, call.function_name.sc_symbol),
        "results": [{"auth": auth, "xdr": effect.value.to_xdr()}],
        **latest,
    }


def _send(ledger: Ledger, params: Params) -> Any:
    try:
        done = ledger.send(params["transaction"])
    except Unreadable as why:
        raise RpcError(_INVALID_PARAMS, f"invalid_xdr: {why}") from why
    result = {
        "status": done.status,
        "hash": done.hash,
        "latestLedger": ledger.sequence,
        "latestLedgerCloseTime": str(ledger.close_time),
    }
    if done.code is not None:
        sent = read(params["transaction"], ledger.passphrase)
        result["errorResultXdr"] = wire.error_result(sent, done.code, inner=done.inner).to_xdr()
    return result


def _transaction(ledger: Ledger, params: Params) -> Any:
    transaction_hash = params["hash"]
    if len(binascii.unhexlify(transaction_hash)) != 32:
        raise RpcError(_INVALID_PARAMS, "unexpected hash length")
    return wire.transaction_json(ledger, transaction_hash)


def _events(ledger: Ledger, params: Params) -> Any:
    page = params.get("pagination") or {}
    cursor, limit = page.get("cursor"), page.get("limit") or EVENTS_AT_ONCE
    if limit > MOST_EVENTS:
        raise RpcError(_INVALID_PARAMS, f"limit must not exceed {MOST_EVENTS}")
    start = int(cursor.split("-")[0]) >> 32 if cursor else params["startLedger"]
    if not ledger.oldest <= start <= ledger.sequence:
        raise RpcError(
            _INVALID_PARAMS, f"startLedger must be within the ledger range: {ledger.oldest} - {ledger.sequence}"
        )
    end = min(params.get("endLedger") or ledger.sequence + 1, ledger.sequence + 1, start + SCANNED_LEDGERS)
    found: list[dict[str, Any]] = []
    filters = params.get("filters") or []
    for applied in ledger.between(start, end):
        for index in range(len(applied.effect.events) if applied.effect else 0):
            event = wire.event_json(applied, index)
            if (not cursor or event["id"] > cursor) and (not filters or any(_passes(event, each) for each in filters)):
                found.append(event)
    found = found[:limit]
    last = found[-1]["id"] if len(found) == limit else f"{end << 32:019d}-{0:010d}"
    return {"events": found, "cursor": last, **wire.known_ledgers(ledger)}


def _passes(event: dict[str, Any], wanted: dict[str, Any]) -> bool:
    contracts, topics = wanted.get("contractIds"), wanted.get("topics")
    if wanted.get("type") not in (None, "contract") or (contracts and event["contractId"] not in contracts):
        return False
    return not topics or any(_matches(event["topic"], each) for each in topics)


def _matches(topics: list[str], wanted: list[str]) -> bool:
    if wanted and wanted[-1] == _ANY_REST:
        topics, wanted = topics[: len(wanted) - 1], wanted[:-1]
    return len(topics) == len(wanted) and all(each in (_ANY, topic) for topic, each in zip(topics, wanted, strict=True))


def _fund(ledger: Ledger, params: Params) -> Any:
    ledger.fund(params["account"], lumens=params.get("lumens", 0), units=params.get("units"), limit=params.get("limit"))
    return None


def _balances(ledger: Ledger, params: Params) -> Any:
    account = params["account"]
    held, line = ledger.state.accounts.get(account), ledger.state.lines.get(account)
    units = line.balance if line else ledger.state.contracts.get(account)
    return {"stroops": held.balance if held else None, "units": units, "sequence": held.sequence if held else None}


_METHODS: dict[str, Callable[[Ledger, Params], Any]] = {
    "getHealth": _health,
    "getNetwork": lambda ledger, params: {"passphrase": ledger.passphrase, "protocolVersion": PROTOCOL},
    "getVersionInfo": _version,
    "getLatestLedger": _latest,
    "getFeeStats": _fee_stats,
    "getLedgerEntries": _entries,
    "simulateTransaction": _simulate,
    "sendTransaction": _send,
    "getTransaction": _transaction,
    "getEvents": _events,
    "sandbox_fund": _fund,
    "sandbox_balances": _balances,
}


class StellarServer(JsonRpcServer):
    """Answers for one network. `close_every_s` is how long its ledgers take."""

    def __init__(self, port: int, ledger: Ledger, close_every_s: float) -> None:
        super().__init__(port)
        self.ledger = ledger
        self._close_every_s = close_every_s
        self._over = threading.Event()

    def call(self, method: str, params: Any) -> Any:
        """A method of Stellar RPC, or of the tests."""
        return answer(self.ledger, method, {} if params is None else params)

    def close_ledgers(self) -> None:
        """Close ledgers until the server is closed."""
        due = time.monotonic() + self._close_every_s
        while not self._over.wait(max(0.0, due - time.monotonic())):
            with self.lock:
                self.ledger.tick()
            due = max(due + self._close_every_s, time.monotonic())

    def server_close(self) -> None:
        """Also ends the ledgers."""
        self._over.set()
        super().server_close()


def new_ledger() -> Ledger:
    """A network with the real name and USDC, and no account but the issuer."""
    ledger = Ledger(TOKEN.passphrase, Asset("USDC", TOKEN.issuer))
    assert ledger.contract.address == TOKEN.contract
    ledger.fund(TOKEN.issuer, lumens=LUMENS)
    return ledger


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--close-every", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--lumens", action="append", default=[], metavar="ACCOUNT")
    parser.add_argument("--usdc", action="append", default=[], metavar="ACCOUNT=UNITS")
    options = parser.parse_args()
    ledger = new_ledger()
    for account in options.lumens:
        ledger.fund(account, lumens=LUMENS)
    for given in options.usdc:
        account, _, units = given.partition("=")
        ledger.fund(account, units=int(units))
    with StellarServer(options.port, ledger, options.close_every) as server:
        threading.Thread(target=server.close_ledgers, daemon=True).start()
        server.serve_forever()


if __name__ == "__main__":
    main()
