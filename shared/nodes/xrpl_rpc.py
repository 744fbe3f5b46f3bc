"""The JSON-RPC of XRP Ledger servers, which is not JSON-RPC 2.0: no ids, and an error is a result with the status `error`.

https://xrpl.org/docs/references/http-websocket-apis/api-conventions/request-formatting
"""

import re
import time
from typing import Any

import msgspec

from shared.nodes.connections import NodeConnections, NodeFailed

API_VERSION = 2
MAX_ANSWER_BYTES = 2 * 1024 * 1024

Json = dict[str, Any]

_CODE = re.compile(r"[A-Za-z0-9_]{1,60}", re.ASCII)


class XrplError(Exception):
    """The server answered with an error.

    Attributes:
        code: its `error`, for instance ``txnNotFound``; empty for what is no such name.
        result: everything that it answered.
    """

    def __init__(self, result: Json) -> None:
        code = str(result.get("error"))
        self.code = code if _CODE.fullmatch(code) else ""
        self.result = result
        super().__init__(self.code)


class _Answer(msgspec.Struct):
    result: dict[str, Any]


_ANSWER = msgspec.json.Decoder(_Answer)


class XrplRpc:
    """A client of one server. Any number of threads may use it at the same time.

    Args:
        url: http or https. It is shown nowhere but for scheme, host and port.
        timeout_s: for one call.

    Raises:
        ValueError: the URL is none.
    """

    def __init__(self, url: str, *, timeout_s: float, max_answer_bytes: int = MAX_ANSWER_BYTES) -> None:
        self._connections = NodeConnections(url, max_answer_bytes=max_answer_bytes)
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        return f"XrplRpc({self.place})"

    @property
    def place(self) -> str:
        """Scheme, host and port of the server, for logs and errors."""
        return self._connections.place

    def __call__(self, method: str, **parameters: Any) -> Json:
        """The `result` of a method.

        Raises:
            XrplError: the server answered with an error.
            NodeFailed: there is no answer, or it has another form.
        """
        body = msgspec.json.encode(request_of(method, parameters))
        content = self._connections.post(body, deadline=time.monotonic() + self._timeout_s)
        try:
            return result_of(content)
        except ValueError as error:
            self.close()
            raise NodeFailed(self.place, "bad_answer", str(error)) from None

    def close(self) -> None:
        """Close the connections that are not in use. It can be used again."""
        self._connections.close()


def request_of(method: str, parameters: Json) -> Json:
    """The request of a method."""
    return {"method": method, "params": [{"api_version": API_VERSION, **parameters}]}


def result_of(content: bytes) -> Json:
    """The `result` in an answer.

    Raises:
        XrplError: the server answered with an error.
        ValueError: it has another form. The text does not repeat any of it.
    """
    try:
        result = _ANSWER.decode(content).result
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ValueError("not an answer of an XRP Ledger server") from None
    if result.get("status") != "success":
        raise XrplError(result)
    return result
