"""The sandbox's Solana node as a process: JSON-RPC over HTTP on 127.0.0.1.

    python -m compose.sandbox.solana_node --port 8899 --fee-payer <address> --payer <address> --pay-to <address>

USDC stands at its address from the first block; the fee payer has 10 SOL, the payer 1,000 USDC, and the recipient an account
for it.
"""

from __future__ import annotations

import argparse
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from solders.pubkey import Pubkey

from compose.sandbox.solana_ledger import Ledger
from compose.sandbox.solana_methods import answer
from compose.sandbox.solana_tokens import USDC
from compose.sandbox.solana_wire import RpcError

FEE_PAYER_LAMPORTS = 10 * 10**9
PAYER_FUNDS = 1_000 * 10**USDC.decimals
_MAX_BODY_BYTES = 200_000
_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603


class Server(ThreadingHTTPServer):
    """A ledger, and a thread for each connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, ledger: Ledger) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.ledger = ledger
        self.lock = threading.Lock()  # one call at a time


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer leaves as one packet. Unbuffered, or with Nagle's algorithm, it waits 40 ms for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MAX_BODY_BYTES:
            self.send_error(413)
            return
        body = self._answer(self.rfile.read(length))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not news. What fails inside prints its traceback, which goes to the log."""

    def _answer(self, body: bytes) -> bytes:
        try:
            request = msgspec.json.decode(body)
        except msgspec.DecodeError as error:
            return msgspec.json.encode(_error(None, _PARSE_ERROR, str(error)))
        if isinstance(request, list):
            return msgspec.json.encode([self._one(one) for one in request])
        return msgspec.json.encode(self._one(request))

    def _one(self, request: Any) -> dict[str, Any]:
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, _INVALID_REQUEST, "Invalid request")
        identity, params = request.get("id"), request.get("params") or []
        try:
            with self.server.lock:
                result = answer(self.server.ledger, request["method"], params if isinstance(params, list) else [params])
        except RpcError as error:
            return _error(identity, error.code, error.message, error.data)
        except Exception as error:
            traceback.print_exc()
            return _error(identity, _INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        return {"jsonrpc": "2.0", "id": identity, "result": result}


def _error(identity: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({"data": data} if data is not None else {})
    return {"jsonrpc": "2.0", "id": identity, "error": error}


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
