"""JSON-RPC as nodes speak it: the error, and a client of a few lines for setting up and looking at a chain."""

from __future__ import annotations

import http.client
import itertools
from typing import Any
from urllib.parse import urlsplit

import msgspec

REVERTED = 3
"""The error code of a call that the contract reverted; `data` then holds the revert data."""


class RpcError(Exception):
    """What a node answers instead of a result.

    Attributes:
        code: 3 for a revert, -32601 for a method it does not know, -32602 for wrong parameters, -32000 for the rest.
        data: more about it, or None; on an EVM chain 0x hex of the revert data.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Rpc:
    """A client of one node. A connection per call: slow, and safe from any number of threads."""

    def __init__(self, url: str, timeout_s: float = 30.0) -> None:
        self._address = urlsplit(url)
        self._timeout_s = timeout_s
        self._ids = itertools.count(1)

    def __call__(self, method: str, *params: Any) -> Any:
        """Call a method and return its result.

        Raises:
            RpcError: the node answered with an error.
            OSError: there is no node.
        """
        return self._call(method, params)

    def named(self, method: str, **params: Any) -> Any:
        """The same, of a node that wants its parameters by name."""
        return self._call(method, params)

    def _call(self, method: str, params: Any) -> Any:
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        connection = http.client.HTTPConnection(
            self._address.hostname or "127.0.0.1", self._address.port, timeout=self._timeout_s
        )
        try:
            connection.request("POST", "/", msgspec.json.encode(request), {"Content-Type": "application/json"})
            answer = msgspec.json.decode(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in answer:
            error = answer["error"]
            raise RpcError(error["code"], error["message"], error.get("data"))
        return answer["result"]
