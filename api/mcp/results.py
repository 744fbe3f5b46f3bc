"""Results of tools: what a paid call answers over HTTP, in x402's form for MCP.

Sources: specs/transports-v2/mcp.md of x402-foundation/x402, the binding by tool results; and agents/x402 of npm's agents 0.32,
Cloudflare's client, which reads a challenge in `_meta` alone.
"""

from typing import Any

import msgspec
import pybase64

from api.discovery import bazaar
from api.discovery.listing import Listing, tool_resource
from api.http import Answer
from shared.raw_json import is_deeper

PAYMENT, RECEIPT, CHALLENGE = "x402/payment", "x402/payment-response", "x402/error"
"""Members of `_meta`, of a request and of its result."""
MAX_DEPTH = 100
"""Levels of structured content. The JSON parsers of clients take some 128 (Rust's serde_json) or 200 (pydantic's)."""

Result = dict[str, Any]


class _Challenge(msgspec.Struct, frozen=True):
    """A challenge whose parts stay as they are."""

    x402Version: int  # noqa: N815
    error: str
    resource: msgspec.Raw
    accepts: msgspec.Raw
    extensions: dict[str, msgspec.Raw]


_challenge = msgspec.json.Decoder(_Challenge)


class ToolChallenge:
    """The challenges of one call, rewritten to describe its tool, by which indexers list it."""

    def __init__(self, listing: Listing) -> None:
        self._resource = _raw(tool_resource(listing))
        self._extension = _raw(bazaar.tool_extension(listing.endpoint)) if listing.endpoint.listed else None

    def __call__(self, body: bytes) -> bytes:
        """The challenge of a 402 as the tool's."""
        challenge = _challenge.decode(body)
        extensions = challenge.extensions
        if self._extension is not None and bazaar.KEY in extensions:
            extensions = {**extensions, bazaar.KEY: self._extension}
        return msgspec.json.encode(msgspec.structs.replace(challenge, resource=self._resource, extensions=extensions))


def paid(answer: Answer, challenge: ToolChallenge) -> Result:
    """The result of a paid tool: an answer, a challenge, or a problem; with the receipt, where there is one."""
    headers = dict(answer.headers)
    document = msgspec.Raw(challenge(answer.body) if answer.status == 402 else answer.body)
    result = content(document, is_error=answer.status != 200)
    if warnings := headers.get(b"warnings"):
        result["content"].append(_text(f"Warnings: {warnings.decode()}"))
    meta = {CHALLENGE: document} if answer.status == 402 else {}
    if receipt := headers.get(b"payment-response"):
        meta[RECEIPT] = msgspec.Raw(pybase64.b64decode(receipt))
    return result | {"_meta": meta} if meta else result


def content(document: msgspec.Raw, *, is_error: bool = False) -> Result:
    """The result that is a JSON document, as text and, unless clients could not read that, as structured content."""
    text = bytes(document)
    result: Result = {"resultType": "complete", "content": [_text(text.decode())], "isError": is_error}
    if not _is_deep(text):
        result["structuredContent"] = document
    return result


def failure(sentence: str) -> Result:
    """The result of a free tool that was called wrongly, for a model to correct its call."""
    return {"resultType": "complete", "content": [_text(sentence)], "isError": True}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _is_deep(body: bytes) -> bool:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:  # most answers: nothing has to be decoded
        return False
    try:
        return is_deeper(msgspec.json.decode(body), MAX_DEPTH)
    except (msgspec.DecodeError, RecursionError):  # the call is charged: whatever it answers is handed over
        return True


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
