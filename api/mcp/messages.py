"""Messages of the Model Context Protocol as one HTTP request brings them and one response answers them.

The server has no sessions and no streams: each POST is one JSON-RPC message, and its response is JSON. So it serves both the
versions that begin with `initialize` and those that state everything in each request.
Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from api.http import Answer

NEWEST_HANDSHAKE = "2025-11-25"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", NEWEST_HANDSHAKE)
STATELESS = "2026-07-28"
VERSIONS = (*HANDSHAKES, STATELESS)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_JSON = ((b"content-type", b"application/json"),)
# In the versions of the handshake, 404 means that a session has ended, and an error of a method is a response.
_STATUS_IN_HANDSHAKE = {METHOD_NOT_FOUND: 200, INVALID_PARAMS: 200}

Headers = Mapping[bytes, bytes]


class Message(msgspec.Struct, frozen=True):
    """A request, or without an id a notification."""

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Params(msgspec.Struct, frozen=True):
    """What is read of the parameters, of whichever method. Arguments and metadata stay as they came."""

    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    meta: dict[str, msgspec.Raw] = msgspec.field(name="_meta", default_factory=dict)
    protocol_version: str = msgspec.field(name="protocolVersion", default="")


class RpcError(Exception):
    """A JSON-RPC error on its way to the caller."""

    def __init__(self, code: int, message: str, data: Any = msgspec.UNSET) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding a part of a message raises."""
_message = msgspec.json.Decoder(Message)
_params = msgspec.json.Decoder(Params)


def parse(body: bytes) -> Message:
    """The message of a request. Raises RpcError."""
    try:
        return _message.decode(body)
    except (msgspec.ValidationError, RecursionError):
        raise RpcError(INVALID_REQUEST, "Send one JSON-RPC 2.0 message with a method; batches are not taken.") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RpcError(PARSE_ERROR, "The body is not JSON.") from None


def parse_params(message: Message) -> Params:
    """The parameters of a message. Raises RpcError."""
    try:
        return _params.decode(message.params)
    except UNREADABLE as error:
        raise RpcError(INVALID_PARAMS, f"The parameters are not valid: {error}.") from None


def check_version(headers: Headers) -> bool:
    """Whether the request is of a version without a handshake. Raises RpcError: there is no such version here."""
    version = headers.get(b"mcp-protocol-version", NEWEST_HANDSHAKE.encode()).decode("latin-1")
    if version not in VERSIONS:
        data = {"supported": VERSIONS, "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "This protocol version is not served.", data)
    return version == STATELESS


def check_envelope(headers: Headers, message: Message, params: Params) -> None:
    """Hold a request without a handshake against its headers, which proxies may have acted on. Raises RpcError."""
    if missing := [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in params.meta]:
        raise RpcError(INVALID_PARAMS, f"params._meta has no {' and no '.join(missing)}.")
    stated = {b"mcp-protocol-version": params.meta[_VERSION_KEY], b"mcp-method": msgspec.json.encode(message.method)}
    if message.method == "tools/call":
        stated[b"mcp-name"] = msgspec.json.encode(params.name)
    for name, value in stated.items():
        if msgspec.json.encode(headers.get(name, b"").decode("latin-1")) != bytes(value):
            raise RpcError(HEADER_MISMATCH, f"The header {name.decode()} is not what the message says.")


def negotiated(wanted: str) -> str:
    """The version that `initialize` agrees on."""
    return wanted if wanted in HANDSHAKES else NEWEST_HANDSHAKE


def result(message: Message, content: msgspec.Raw | dict[str, Any]) -> Answer:
    """The response with a result."""
    return Answer(200, _JSON, msgspec.json.encode({"jsonrpc": "2.0", "id": message.id, "result": content}))


def error(message: Message | None, failed: RpcError, *, is_stateless: bool, status: int | None = None) -> Answer:
    """The response with an error.

    Args:
        message: None when it could not be read.
        status: of HTTP, where it is not that of the error's code.
    """
    if status is None:
        status = 404 if failed.code == METHOD_NOT_FOUND else 400
        status = status if is_stateless else _STATUS_IN_HANDSHAKE.get(failed.code, status)
    said = {"code": failed.code, "message": str(failed)} | (
        {} if failed.data is msgspec.UNSET else {"data": failed.data}
    )
    body = {"jsonrpc": "2.0", "id": None if message is None else message.id, "error": said}
    return Answer(status, _JSON, msgspec.json.encode(body))


ACCEPTED = Answer(202, (), b"")
"""The response to a notification."""
