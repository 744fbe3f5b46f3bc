"""A node over real HTTP that replays the recording, well or badly."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.workers.chains.recording import HEAD, reply_of, with_id

SECRET = "hunter2-key"
LAG = 20
"""Blocks, of 12 s each, that a node lags behind."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # as many callers connect at once
    daemon_threads = True


class FakeNode:
    """One node.

    Attributes:
        mood: what it does to the next requests: "well", or a name in MOODS.
        requests: the methods of each batch so far.
    """

    def __init__(self, chain_id: int, head: int = HEAD) -> None:
        self.mood = "well"
        self.head = head
        self.requests: list[list[str]] = []
        self.connections = 0
        self.replies: dict[str, dict[str, Any]] = {}
        self._chain_id = chain_id
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v2/{SECRET}"

    @contextmanager
    def serving(self) -> "Iterator[FakeNode]":
        """Until the end."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def replies_to(self, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """In the mood."""
        self.requests.append([call["method"] for call in batch])
        lag = LAG if self.mood == "lags" else 0
        chain_id = 5 if self.mood == "is of another chain" else self._chain_id
        replies = []
        for call in batch:
            method, params = call["method"], call["params"]
            if method == "eth_chainId":
                reply: dict[str, Any] = {"result": hex(chain_id)}
            elif method in self.replies:
                reply = self.replies[method]
            else:
                reply = reply_of(method, params, int(time.time()) - lag * 12, self.head - lag)
            replies.append(with_id(reply, call["id"]))
        return replies


def _write(handler: Any, body: bytes, status: int = 200, length: int | None = None) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def _json(handler: Any, value: Any) -> None:
    _write(handler, json.dumps(value).encode())


def _too_large(handler: Any, replies: Any) -> None:
    # JSON to its last byte: twenty megabytes of a result that was asked for.
    replies[-1] = with_id({"result": "0x" + "ab" * 10_000_000}, replies[-1]["id"])
    _json(handler, replies)


def _cut_off(handler: Any, replies: Any) -> None:
    body = json.dumps(replies).encode()
    _write(handler, body[: len(body) // 2], length=len(body))
    handler.close_connection = True


def _truncated(handler: Any, replies: Any) -> None:
    body = json.dumps(replies).encode()
    _write(handler, body[: len(body) // 2])


def _without_ids(handler: Any, replies: Any) -> None:
    for reply in replies:
        del reply["id"]
    _json(handler, replies)


def _of_other_calls(handler: Any, replies: Any) -> None:
    _json(handler, [reply | {"id": reply["id"] - 1} for reply in replies])


def _nothing(handler: Any, replies: Any) -> None:
    handler.close_connection = True


def _refusing(code: int, message: str) -> Callable[[Any, Any], None]:
    error = {"error": {"code": code, "message": f"{message} {SECRET}"}}
    return lambda handler, replies: _json(handler, [with_id(error, reply["id"]) for reply in replies])


MOODS: dict[str, tuple[Callable[[Any, Any], None], str]] = {
    "well": (_json, ""),
    "reorders": (lambda handler, replies: _json(handler, replies[::-1]), ""),
    "lags": (_json, ""),
    "is of another chain": (_json, "wrong_chain"),
    "says 429": (lambda handler, replies: _write(handler, b"slow down", 429), "rate_limited"),
    "says 503": (lambda handler, replies: _write(handler, b"<html>", 503), "http_status"),
    "truncates": (_truncated, "bad_content"),
    "cuts off": (_cut_off, "connection_refused"),
    "hangs up": (_nothing, "connection_refused"),
    "says too much": (_too_large, "bad_content"),
    "leaves one out": (lambda handler, replies: _json(handler, replies[:-1]), "bad_content"),
    "says one twice": (lambda handler, replies: _json(handler, [*replies[:-1], replies[0]]), "bad_content"),
    "forgets the ids": (_without_ids, "bad_content"),
    "answers other calls": (_of_other_calls, "bad_content"),
    "answers once": (lambda handler, replies: _json(handler, replies[0]), "bad_content"),
    "refuses a batch": (
        lambda handler, replies: _json(handler, with_id({"error": {"code": -32600, "message": SECRET}}, None)),
        "bad_content",
    ),
    "limits": (_refusing(-32005, "limit exceeded"), "rate_limited"),
    "limits in words": (_refusing(-32000, "Too Many Requests"), "rate_limited"),
    "is broken": (_refusing(-32603, "internal error"), "bad_content"),
    "answers null": (
        lambda handler, replies: _json(handler, [with_id({"result": None}, reply["id"]) for reply in replies]),
        "bad_content",
    ),
}
"""What a node does, and the reason of the failure that comes of it; none where the answer is right all the same."""


def _handler(node: FakeNode) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            node.connections += 1

        def do_POST(self) -> None:
            batch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            write, _ = MOODS[node.mood]
            try:
                write(self, node.replies_to(batch))
            except OSError:  # the client has had enough
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Handler
