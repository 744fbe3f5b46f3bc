"""The HTTP server of the sandbox's nodes, on 127.0.0.1: a POST of JSON is answered with JSON."""

import sys
import threading
import traceback
from abc import abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from shared.nodes.json_rpc import RpcError

MAX_BODY_BYTES = 2_000_000
_PIECE_BYTES = 64 * 1024
_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603


class NodeServer(ThreadingHTTPServer):
    """Has a thread for each connection and answers one call at a time, because the ledgers are not thread-safe.

    Attributes:
        lock: held while a call is answered.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.lock = threading.Lock()

    @abstractmethod
    def answer(self, body: bytes) -> bytes | None:
        """The answer to a request; None closes the connection instead."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing for a client that closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class JsonRpcServer(NodeServer):
    """Answers JSON-RPC 2.0: one request or a batch."""

    @abstractmethod
    def call(self, method: str, params: Any) -> Any:
        """The result of one call, with the lock held. Raises RpcError.

        Args:
            params: as sent; None without any.
        """

    def answer(self, body: bytes) -> bytes:
        """The answer to a request."""
        try:
            request = msgspec.json.decode(body)
        except msgspec.DecodeError as error:
            return msgspec.json.encode(_error(None, RpcError(_PARSE_ERROR, str(error))))
        if isinstance(request, list):
            return msgspec.json.encode([self._one(one) for one in request])
        return msgspec.json.encode(self._one(request))

    def _one(self, request: Any) -> dict[str, Any]:
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, RpcError(_INVALID_REQUEST, "not a JSON-RPC request"))
        identity = request.get("id")
        try:
            with self.lock:
                result = self.call(request["method"], request.get("params"))
        except RpcError as error:
            return _error(identity, error)
        except Exception as error:
            traceback.print_exc()
            return _error(identity, RpcError(_INTERNAL_ERROR, f"{type(error).__name__}: {error}"))
        return {"jsonrpc": "2.0", "id": identity, "result": result}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is sent as one packet. Unbuffered, or with Nagle's algorithm, it would wait 40 ms for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: NodeServer

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY_BYTES:
            self._discard(length)
            self.send_error(413)
            return
        body = self.server.answer(self.rfile.read(length))
        if body is None:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _discard(self, length: int) -> None:
        """Read the body and drop it. A client whose upload is cut off would not see the answer."""
        while length > 0 and (piece := self.rfile.read(min(length, _PIECE_BYTES))):
            length -= len(piece)

    def log_message(self, format: str, *args: Any) -> None:
        """Log no requests. A failure in a method prints its traceback to the log."""


def _error(identity: Any, error: RpcError) -> dict[str, Any]:
    content = {"code": error.code, "message": error.message} | ({"data": error.data} if error.data is not None else {})
    return {"jsonrpc": "2.0", "id": identity, "error": content}
