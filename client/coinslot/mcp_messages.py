"""What `coinslot mcp` says, in the types of the protocol: tools, results and failures."""

import dataclasses
from typing import Any

import msgspec
from mcp import types

from coinslot import documents, openapi_tools, page_delta
from coinslot.answer import Answer
from coinslot.errors import CoinslotError
from coinslot.openapi_tools import Tool
from shared.raw_json import is_deeper

RECEIPT = "x402/payment-response"
"""Member of a result's `_meta` (x402 specification, transport MCP)."""
ERROR = "coinslot/error"
"""Member of a failure's `_meta`: the object that `coinslot call --json` prints."""
MAX_DEPTH = 100
"""Levels of structured content. The JSON parsers of hosts take some 128 (Rust's serde_json) or 200 (pydantic's)."""
_AS_TEXT = (
    "The call was answered; do not call again for it. The answer follows as text: it is not what the tool's output schema "
    f"says, or has more than {MAX_DEPTH} levels."
)
_NAMED = {
    "type": "object",
    "properties": {
        "endpoint": {"type": "string", "description": "Name of a call or tool, as in catalogue.", "maxLength": 80},
        "arguments": {"type": "object", "description": "Its arguments; the price does not depend on them."},
    },
    "required": ["endpoint"],
    "additionalProperties": False,
}
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
FREE = {
    "catalogue": ("Lists the paid calls with their prices. Free.", _NOTHING),
    "quote": ("Asks the server what a call costs now, and whether the caps allow it. Pays nothing.", _NAMED),
    "spend_status": ("Says what was spent, what is left of the caps, and what is missing to pay. Free.", _NOTHING),
}


def free_tool(name: str, description: str, schema: dict[str, Any]) -> types.Tool:
    """One of FREE."""
    return types.Tool(
        name=name,
        description=description,
        input_schema=schema,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=name == "quote"),
    )


def paid_tool(tool: Tool) -> types.Tool:
    """A tool that costs money; its price is in its description."""
    price = "The price is in its quote." if tool.price is None else f"Costs {tool.price.text()} dollars a call."
    return types.Tool(
        name=tool.name,
        description=f"{tool.summary} {price}".strip(),
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True),
    )


def item(tool: Tool) -> dict[str, Any]:
    """A line of the catalogue."""
    price = None if tool.price is None else tool.price.text()
    return {"tool": tool.name, "endpoint": tool.endpoint, "listedPrice": price, "summary": tool.summary}


def result(content: dict[str, Any]) -> types.CallToolResult:
    """What a free tool says."""
    text = msgspec.json.format(msgspec.json.encode(content)).decode()
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=None if is_deeper(content, MAX_DEPTH) else content
    )


def answer(answer: Answer, *, tool: Tool) -> types.CallToolResult:
    """The answer of a paid call, with its receipt. It is an error if it is not as the tool's output schema says.

    Clients refuse a result without the structured content that they expect, and the paid answer would be lost with it.
    They take an error without any.
    """
    receipt = None if answer.receipt is None else {RECEIPT: msgspec.to_builtins(answer.receipt)}
    text, schema = types.TextContent(text=answer.raw.decode()), tool.output_schema
    fits = isinstance(answer.body, dict) and not is_deeper(answer.body, MAX_DEPTH)
    if schema is not None and not (fits and openapi_tools.refusal(schema, answer.body) == ""):
        return types.CallToolResult(content=[types.TextContent(text=_AS_TEXT), text], is_error=True, _meta=receipt)
    return types.CallToolResult(content=[text], structured_content=answer.body if fits else None, _meta=receipt)


def look(answer_: Answer, *, tool: Tool) -> types.CallToolResult:
    """The answer of page_delta, with its receipt; what has another form is handed over as it came."""
    found = page_delta.narrowed(answer_)
    if found is None:
        return answer(answer_, tool=tool)
    sentence, content = found
    result = answer(
        dataclasses.replace(answer_, body=content, raw=msgspec.json.format(msgspec.json.encode(content))), tool=tool
    )
    result.content.insert(0, types.TextContent(text=sentence))
    return result


def failure(error: CoinslotError) -> types.CallToolResult:
    """What went wrong, whether it was charged, and what to do."""
    hint = error.hint or error.next_step
    if error.saved is not None:
        hint = f"The answer may be fetched with `coinslot resume {error.saved}`; do not call again for it."
    charged = "It may have been charged."
    if error.charged != "unknown":
        charged = "It was charged." if error.charged else "Nothing was charged."
    said = documents.of_error(error, detail=error.detail, hint=hint, kept=error.saved)
    if is_deeper(said, MAX_DEPTH):
        said["problem"] = None
    return types.CallToolResult(
        content=[types.TextContent(text=" ".join(part for part in (f"{error.detail}.", charged, hint) if part))],
        # Not as structured content: some clients hold that of failures, too, against the tool's output schema.
        _meta={ERROR: said},
        is_error=True,
    )
