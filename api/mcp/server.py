"""The MCP server at /mcp: each call is a tool, and is sold by the same pipeline as over HTTP (api/pipeline.py).

A tool's arguments are the body of the POST, and the payment in `_meta` is its payment header. So a payment that was sent both
ways is one purchase.
"""

import dataclasses
import logging
import re
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import parse_qs

import msgspec
from litestar.types import Receive, Scope, Send

from api.body import RequestBody
from api.causes import Cause
from api.discovery.catalogue import Catalogue
from api.discovery.listing import MCP_PATH, SERVICE_NAME
from api.discovery.tools import CACHED, CALL, DESCRIBE, SEARCH, Call, Describe, Search
from api.errors import Problem, problem_of
from api.http import ALLOW, PREFLIGHT, Answer, problem_answer, request_id, respond
from api.long_bodies import LongBodies
from api.mcp import messages, results
from api.mcp.messages import Message, Params, RpcError
from api.mcp.results import PAYMENT, ToolChallenge
from api.payment.gate import PaymentGate
from api.payment.headers import PAYMENT_SIGNATURE, encode_header
from api.pipeline import PaidCall
from shared.call_path import tool_name
from shared.version import VERSION

log = logging.getLogger(__name__)

ENVELOPE_BYTES = 64 * 1024
"""Of a request: all but the arguments. A payment has at most 12 KB."""
_INSTRUCTIONS = (
    "Each tool is a paid API call; search_tools and describe_tool are free. A call without a payment is an error whose "
    "structured content is an x402 challenge with the price. Pay one of its `accepts`, and repeat the same call with the "
    f'payment in _meta["{PAYMENT}"]. The receipt is in its result\'s _meta. A refused call is free. After a lost answer, '
    "or where an error says retryWithSamePayment, repeat the call with the same payment: it is never charged twice."
)
_SERVER = {"name": "coinslot", "title": SERVICE_NAME, "version": VERSION}
_ABOUT = {
    "capabilities": {"tools": {}},
    "instructions": _INSTRUCTIONS,
    "serverInfo": _SERVER,  # of `initialize`
    "_meta": {"io.modelcontextprotocol/serverInfo": _SERVER},
}
_NO_TOOL = "There is no such tool: see search_tools."
_ALLOWED_HEADERS = b"access-control-allow-headers"
_MCP_HEADERS = b", Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id"
_PREFLIGHT = tuple((name, value + _MCP_HEADERS if name == _ALLOWED_HEADERS else value) for name, value in PREFLIGHT)
_ORIGIN = re.compile(rb"null|[a-z][a-z0-9+.-]*://[^/?#@\s]+")


class McpServer:
    """The ASGI application of /mcp.

    Args:
        calls: all that can be sold.
        catalogue: what is shown of it now.
        base_url: public address of the API.
    """

    def __init__(self, calls: Sequence[tuple[PaymentGate, PaidCall]], catalogue: Catalogue, base_url: str) -> None:
        self._catalogue = catalogue
        self._base_url = base_url
        # Nobody has paid for these bodies: they do not take the turns of those that are paid for.
        self._long_bodies = LongBodies()
        self._most_bytes = ENVELOPE_BYTES + max((gate.endpoint.max_body_bytes for gate, _ in calls), default=0)
        self._calls = {
            name: (call, ToolChallenge(gate.listing))
            for gate, call in calls
            for name in (gate.endpoint.name, tool_name(gate.endpoint.name))
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. No exception leaves it."""
        call_id, body = request_id(scope), RequestBody(scope, receive, self._long_bodies)
        try:
            answer = await self._answer(scope, body, call_id)
        except Exception as error:
            problem = error if isinstance(error, Problem) else problem_of(Cause.UNEXPECTED, charged="unknown")
            if problem is not error:
                log.exception("request %s to %s failed", call_id, MCP_PATH)
            answer = problem_answer(problem, instance=MCP_PATH, request_id=call_id, base_url=self._base_url)
        await body.discard()
        await respond(send, answer, request_id=call_id, head=scope.get("method") == "HEAD")

    async def _answer(self, scope: Scope, body: RequestBody, call_id: str) -> Answer:
        method, headers = scope.get("method"), dict(scope["headers"])
        if method == "OPTIONS":
            return Answer(204, (ALLOW, *_PREFLIGHT), b"")
        if method != "POST":
            detail = "Use POST: there is no stream to read, and no session to end."
            raise Problem(code="method_not_allowed", detail=detail, headers=(ALLOW,))
        # Any page may call, as over HTTP: nothing here depends on where a caller is, and the payment is the only authority.
        if b"origin" in headers and not _ORIGIN.fullmatch(headers[b"origin"]):
            refused = RpcError(messages.INVALID_REQUEST, "The Origin header names no origin.")
            return messages.error(None, refused, is_stateless=False, status=403)
        is_every = _is_every(scope["query_string"])
        try:
            content = await body.read(limit=self._most_bytes, payer=MCP_PATH)
        except Problem as unread:  # it may hold a payment that was charged before
            raise dataclasses.replace(unread, charged="unknown") from None
        message, is_stateless = None, False
        try:
            is_stateless = messages.check_version(headers)
            message = messages.parse(content)
            if message.id is msgspec.UNSET:
                return messages.ACCEPTED
            params = messages.parse_params(message)
            if is_stateless:
                messages.check_envelope(headers, message, params)
            return messages.result(message, await self._result(scope, message, params, call_id, is_every=is_every))
        except RpcError as failed:
            return messages.error(message, failed, is_stateless=is_stateless)

    async def _result(
        self, scope: Scope, message: Message, params: Params, call_id: str, *, is_every: bool
    ) -> msgspec.Raw | dict[str, Any]:
        match message.method:
            case "initialize":
                return {"protocolVersion": messages.negotiated(params.protocol_version), **_ABOUT}
            case "server/discover":
                return {"supportedVersions": messages.VERSIONS, **CACHED, **_ABOUT}
            case "ping":
                return {"resultType": "complete"}
            case "tools/list":
                return self._catalogue.tools.every if is_every else self._catalogue.tools.few
            case "tools/call":
                return await self._called(scope, params, call_id)
        raise RpcError(messages.METHOD_NOT_FOUND, "There is no such method here.")

    async def _called(self, scope: Scope, params: Params, call_id: str) -> dict[str, Any]:
        name, arguments, tools = params.name, params.arguments, self._catalogue.tools
        try:
            if name == SEARCH:
                return results.content(tools.search(msgspec.json.decode(arguments, type=Search)))
            if name == DESCRIBE:
                described = tools.describe(msgspec.json.decode(arguments, type=Describe))
                return results.content(described) if described else results.failure(_NO_TOOL)
            if name == CALL:
                inner = msgspec.json.decode(arguments, type=Call)
                name, arguments = inner.name, inner.arguments
                if name not in self._calls:
                    return results.failure(_NO_TOOL)
        except messages.UNREADABLE as error:
            return results.failure(f"The arguments are not valid: {error}.")
        if name not in self._calls:
            raise RpcError(messages.INVALID_PARAMS, _NO_TOOL)
        call, challenge = self._calls[name]
        post = _as_post(scope, bytes(arguments), params.meta.get(PAYMENT))
        return results.paid(await call.answer(*post, call_id), challenge)


def _as_post(scope: Scope, body: bytes, payment: msgspec.Raw | None) -> tuple[Scope, Receive]:
    """The call as it comes over HTTP."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if payment is not None and bytes(payment) != b"null":
        headers.append((PAYMENT_SIGNATURE, _as_header(bytes(payment))))

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    return cast(Scope, {**scope, "headers": headers, "query_string": b""}), receive


def _as_header(payment: bytes) -> bytes:
    """The payment header of a payment in `_meta`: an object, or the header's own text, which Cloudflare's client sends."""
    # Base64 has one character that JSON may escape. What else is escaped is no base64.
    return payment[1:-1].replace(b"\\/", b"/") if payment.startswith(b'"') else encode_header(payment)


def _is_every(query: bytes) -> bool:
    """Whether tools/list is to name all tools. Raises Problem."""
    wanted = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("tools")
    if wanted not in (None, ["all"]):
        raise Problem(code="invalid_url", detail="tools is all, or left out.", field="tools")
    return wanted is not None
