"""The sandbox's Stellar network as a process: Stellar RPC over HTTP on 127.0.0.1, and a ledger every second.

    python -m compose.sandbox.stellar_node --port 8000 --lumens G... --usdc G...=10000000 --usdc G...=0

No Stellar node can be installed with a package manager; this is a double, written against the public documentation. It is
strict where money is concerned: signatures, sequence numbers, fees, time, nonces, balances and trust lines are the real ones.
"""

from __future__ import annotations

import argparse
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from stellar_sdk import Asset

from compose.sandbox.rpc import RpcError
from compose.sandbox.stellar_ledger import Ledger
from compose.sandbox.stellar_methods import answer
from shared.x402.networks import STELLAR_USDC

NETWORK = "stellar:pubnet"
TOKEN = STELLAR_USDC[NETWORK]
ISSUER = "GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN"
"""Circle's account: the contract's address follows from it, the code and the network."""
LUMENS = 10_000
_MAX_BODY_BYTES = 200_000
_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603


class StellarServer(ThreadingHTTPServer):
    """Answers for one network. `close_every_s` is how long its ledgers take."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, ledger: Ledger, close_every_s: float) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.ledger = ledger
        # One call at a time: the ledger knows no threads.
        self.lock = threading.Lock()
        self._close_every_s = close_every_s
        self._over = threading.Event()

    def close_ledgers(self) -> None:
        """One after the other, until the server is closed."""
        due = time.monotonic() + self._close_every_s
        while not self._over.wait(max(0.0, due - time.monotonic())):
            with self.lock:
                self.ledger.tick()
            due = max(due + self._close_every_s, time.monotonic())

    def server_close(self) -> None:
        """Also ends the ledgers."""
        self._over.set()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer leaves as one packet. Unbuffered, or with Nagle's algorithm, it waits 40 ms for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: StellarServer

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MAX_BODY_BYTES:
            self.send_error(413)
            return
        body = msgspec.json.encode(self._answer(self.rfile.read(length)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not news. What fails inside prints its traceback, which goes to the log."""

    def _answer(self, body: bytes) -> dict[str, Any]:
        try:
            request = msgspec.json.decode(body)
        except msgspec.DecodeError as error:
            return _error(None, _PARSE_ERROR, str(error))
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, _INVALID_REQUEST, "not a JSON-RPC request")
        identity, params = request.get("id"), request.get("params")
        try:
            with self.server.lock:
                result = answer(self.server.ledger, request["method"], {} if params is None else params)
        except RpcError as error:
            return _error(identity, error.code, error.message)
        except Exception as error:
            traceback.print_exc()
            return _error(identity, _INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        return {"jsonrpc": "2.0", "id": identity, "result": result}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def new_ledger() -> Ledger:
    """The real network's name and USDC, and nobody on it but the issuer."""
    ledger = Ledger(TOKEN.passphrase, Asset("USDC", ISSUER))
    assert ledger.contract.address == TOKEN.contract
    ledger.fund(ISSUER, lumens=LUMENS)
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
