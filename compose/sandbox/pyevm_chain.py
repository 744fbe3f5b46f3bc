"""The py-evm chain as a process: JSON-RPC over HTTP on 127.0.0.1.

    python -m compose.sandbox.pyevm_chain --port 8545 --fund 0x...

The chain for machines without anvil: about ten times slower and without its anvil_ and evm_ methods, otherwise answering the
same questions in the same words. USDC stands at its address from the first block; the funded accounts have 10,000 ETH.
"""

from __future__ import annotations

import argparse
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from eth_typing import Address

from compose.sandbox import artefact
from compose.sandbox.pyevm_methods import answer
from compose.sandbox.pyevm_node import CHAIN_ID, Node
from compose.sandbox.rpc import RpcError
from shared.x402.networks import EVM_USDC

FUNDS_WEI = 10_000 * 10**18
_MAX_BODY_BYTES = 2_000_000
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_INTERNAL_ERROR = -32603


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, node: Node) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.node = node
        # One call at a time: py-evm knows no threads.
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer leaves as one packet. Unbuffered, or with Nagle's algorithm, it waits 40 ms for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

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
            return _error(None, _INVALID_REQUEST, "not a JSON-RPC request")
        identity = request.get("id")
        try:
            with self.server.lock:
                result = answer(self.server.node, request["method"], request.get("params") or [])
        except RpcError as error:
            return _error(identity, error.code, error.message, error.data)
        except Exception as error:
            traceback.print_exc()
            return _error(identity, _INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        return {"jsonrpc": "2.0", "id": identity, "result": result}


def _error(identity: Any, code: int, message: str, data: str | None = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({"data": data} if data is not None else {})
    return {"jsonrpc": "2.0", "id": identity, "error": error}


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--fund", action="append", default=[], metavar="ADDRESS")
    options = parser.parse_args()
    usdc = EVM_USDC[f"eip155:{CHAIN_ID}"].address
    node = Node(
        code={_address(usdc): artefact.load("UsdcSandbox").deployed_bytecode},
        balances={_address(account): FUNDS_WEI for account in options.fund},
    )
    with _Server(options.port, node) as server:
        server.serve_forever()


def _address(value: str) -> Address:
    return Address(bytes.fromhex(value.removeprefix("0x")))


if __name__ == "__main__":
    main()
