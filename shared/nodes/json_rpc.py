"""JSON-RPC 2.0 with a node that the operator has chosen (https://www.jsonrpc.org/specification)."""

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from shared.nodes.connections import MAX_IDLE_CONNECTIONS, NodeConnections, NodeFailed

TIMEOUT_S = 30.0
MAX_ANSWER_BYTES = 8 * 1024 * 1024
REVERTED = 3
"""The error code of a call that an EVM contract reverted; `data` then holds the revert data."""


class RpcError(Exception):
    """What a node answers instead of a result. Only the code is in its text: a node's own words may hold a key or a URL.

    Attributes:
        code: 3 for a revert, -32601 for a method that the node does not know, -32602 for wrong parameters, -32000 for the rest.
        message: the node's own words. They are never shown to a caller.
        data: more about it, or None; on an EVM chain 0x hex of the revert data.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"JSON-RPC error {code}")
        self.code = code
        self.message = message
        self.data = data


class Call(NamedTuple):
    """A method and its parameters, by position or by name."""

    method: str
    params: Sequence[Any] | Mapping[str, Any] = ()


class _Error(msgspec.Struct):
    code: int
    message: str = ""
    data: Any = None


class _Reply(msgspec.Struct):
    id: int | str | None = None
    result: Any = msgspec.UNSET
    error: _Error | None = None

    def value(self) -> Any:
        """The result, or the error as a value. Raises ValueError for a reply with neither."""
        if self.error is not None:
            return RpcError(self.error.code, self.error.message, self.error.data)
        if self.result is msgspec.UNSET:
            raise ValueError("a reply without result and error")
        return self.result


_REPLY = msgspec.json.Decoder(_Reply)
_REPLIES = msgspec.json.Decoder(list[_Reply] | _Reply)


class JsonRpc:
    """A client of one node. Any number of threads may use it at the same time.

    Args:
        url: http or https. It is shown nowhere but for scheme, host and port.
        timeout_s: for one call, or one batch, from the connection to the last byte of the answer.
        max_answer_bytes: of one answer.
        max_idle: connections that are kept between calls.

    Raises:
        ValueError: the URL is none.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = TIMEOUT_S,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        max_idle: int = MAX_IDLE_CONNECTIONS,
    ) -> None:
        self._connections = NodeConnections(url, max_answer_bytes=max_answer_bytes, max_idle=max_idle)
        self._timeout_s = timeout_s
        self._ids = itertools.count(1)

    def __repr__(self) -> str:
        return f"JsonRpc({self.place})"

    @property
    def place(self) -> str:
        """Scheme, host and port of the node, for logs and errors."""
        return self._connections.place

    def __call__(self, method: str, *params: Any) -> Any:
        """The result of a method with positional parameters.

        Raises:
            RpcError: the node answered with an error.
            NodeFailed: there is no answer, or it is not one to this call.
        """
        return self.call(Call(method, params))

    def named(self, method: str, **params: Any) -> Any:
        """The result of a method with parameters by name. Raises what a call with positional parameters raises."""
        return self.call(Call(method, params))

    def call(self, call: Call, *, timeout_s: float | None = None) -> Any:
        """The result of one call. Raises what a call with positional parameters raises.

        Args:
            timeout_s: None: that of the client.
        """
        number = next(self._ids)
        content = self._post(msgspec.json.encode(request_of(number, call)), timeout_s)
        try:
            return result_of(content, number)
        except ValueError as error:
            raise self._bad_answer(error) from None

    def batch(self, calls: Sequence[Call], *, timeout_s: float | None = None) -> list[Any]:
        """The results of several calls, in their order, from one request. An error of one call is an RpcError in its place.

        Args:
            timeout_s: None: that of the client.

        Raises:
            RpcError: the node refused the batch as a whole.
            NodeFailed: there is no answer, or it does not have exactly one reply to each call.
        """
        if not calls:
            return []
        numbers = [next(self._ids) for _ in calls]
        body = msgspec.json.encode([request_of(number, call) for number, call in zip(numbers, calls, strict=True)])
        content = self._post(body, timeout_s)
        try:
            return results_of(content, numbers)
        except ValueError as error:
            raise self._bad_answer(error) from None

    def close(self) -> None:
        """Close the connections that are not in use. It can be used again."""
        self._connections.close()

    def _post(self, body: bytes, timeout_s: float | None) -> bytes:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        return self._connections.post(body, deadline=time.monotonic() + limit_s)

    def _bad_answer(self, error: ValueError) -> NodeFailed:
        self.close()  # whatever these connections carry next may be the answer to another call
        return NodeFailed(self.place, "bad_answer", str(error))


def result_of(content: bytes, number: int) -> Any:
    """The result in the answer to one call.

    Raises:
        RpcError: the answer is an error, of this call or (id null) of no call that the node could read.
        ValueError: it is no answer to this call. The text does not repeat any of it.
    """
    reply: _Reply = _decoded(_REPLY, content)
    value = reply.value()
    if reply.id != number and not (reply.id is None and isinstance(value, RpcError)):
        raise ValueError("a reply to another call")
    if isinstance(value, RpcError):
        raise value
    return value


def results_of(content: bytes, numbers: Sequence[int]) -> list[Any]:
    """The results in the answer to a batch, in the order of `numbers`, whatever the order of the replies.

    Raises:
        RpcError: the node refused the batch as a whole.
        ValueError: there is not exactly one reply to each call. The text does not repeat any of the answer.
    """
    replies = _decoded(_REPLIES, content)
    if isinstance(replies, _Reply):
        value = replies.value()
        if isinstance(value, RpcError) and replies.id is None:
            raise value
        raise ValueError("one reply to a batch")
    values = {reply.id: reply.value() for reply in replies}
    if len(replies) != len(numbers) or values.keys() != set(numbers):
        raise ValueError("not one reply to each call of the batch")
    return [values[number] for number in numbers]


def request_of(number: int, call: Call) -> dict[str, Any]:
    """The request object of one call."""
    return {"jsonrpc": "2.0", "id": number, "method": call.method, "params": call.params}


def _decoded(decoder: msgspec.json.Decoder[Any], content: bytes) -> Any:
    try:
        return decoder.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ValueError("not JSON-RPC") from None
