"""Finds the arguments in a whole tool call, as APIs of LLMs return it.

| format | place of the arguments |
|---|---|
| OpenAI, Chat Completions | `function.arguments`, also in the only item of `tool_calls` |
| OpenAI, the older `function_call` | `function_call.arguments` |
| OpenAI, Responses (`"type": "function_call"`) | `arguments` |
| Anthropic (`"type": "tool_use"`) | `input`, also in the only such item of `content` |
| MCP (`"method": "tools/call"`) | `params.arguments` |
| OpenAI and MCP, the inner object | `arguments` beside `name` alone |
| Gemini | `functionCall.args`, also in the only such item of `parts`, or `args` beside `name` alone |
| Vercel's AI SDK (`"type": "tool-call"`, or `toolCallId`) | `input` or `args`, also in the only such item of `content` |

The call may be in a whole response: the only one of OpenAI's `choices` or `output`, or of Gemini's `candidates`.

OpenAI sends the arguments as JSON text, which is read; a tool without parameters may get an empty text.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from jobs.fields import doc
from jobs.llm_tool_validate.places import NOTHING
from jobs.llm_tool_validate.solve import MAX_LEVELS
from jobs.llm_tool_validate.texts import container

Format = Literal["openai", "anthropic", "mcp", "gemini", "vercel"]


class Unwrapped(msgspec.Struct, frozen=True, rename="camel"):
    """The call in which the arguments were found."""

    format: Annotated[Format, doc("Whose format the tool call has.")]
    name: Annotated[str | None, doc("The tool's name. Null when the call has none.")]
    path: Annotated[str, doc("JSON Pointer to the arguments in the tool call.")]


_MARKS = (b'"tool_calls"', b'"tool_use"', b'"tool-call"', b'"function_call"', b'"functionCall"')
"""What a response with calls has. It costs less to look for these than to decode every request."""
_CALL = frozenset(("name", "arguments", "id", "_meta"))
"""The names in an object that is a call without more around it."""


def arguments_in(data: Any, schema: Any) -> tuple[Any, Unwrapped | None]:
    """The arguments, and what was around them; the data itself when it is no tool call, or the schema describes such an object.

    Args:
        schema: the schema of the arguments. An object whose properties it names is not unwrapped.
    """
    found = _call(data) if isinstance(data, dict) else None
    if found is None:
        return data, None
    call, form, name, path = found
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict) and path.split("/")[1] in properties:
        return data, None
    return _read(call), Unwrapped(form, name if isinstance(name, str) else None, path)


def name_in(data: Any) -> str | None:
    """The name of the tool that a whole tool call is for."""
    found = _call(data) if isinstance(data, dict) else None
    return found[2] if found and isinstance(found[2], str) else None


def has_several(raw: bytes, data: Callable[[], Any], schema: Any) -> bool:
    """Whether this is a response with several calls.

    Args:
        raw: the data as JSON; `data` decodes it, where that is needed.
        schema: the schema of the arguments. A list that it names as a property is no list of calls.
    """
    if not any(mark in raw for mark in _MARKS):
        return False
    found = data()
    properties = schema.get("properties") if isinstance(schema, dict) else None
    is_named = isinstance(properties, dict) and isinstance(found, dict) and not found.keys().isdisjoint(properties)
    return not is_named and _count(found) > 1


def _count(data: Any) -> int:
    match data:
        case {"choices": [{"message": inner}]} | {"candidates": [{"content": inner}]}:
            return _count(inner)
        case {"tool_calls": [*calls]}:
            return len(calls)
        case {"content": [*parts], "role": "assistant"}:
            return len(_of_type(parts, "tool_use")) + len(_of_type(parts, "tool-call"))
        case {"output": [*parts]}:
            return len(_of_type(parts, "function_call"))
        case {"parts": [*parts]}:
            return len(_gemini(parts))
    return 0


def _gemini(parts: list[Any]) -> list[int]:
    return [index for index, part in enumerate(parts) if isinstance(part, dict) and "functionCall" in part]


def _call(data: dict[str, Any]) -> tuple[Any, Format, Any, str] | None:
    match data:
        case {"type": "tool_use", "name": name, "input": arguments}:
            return arguments, "anthropic", name, "/input"
        case {"content": [*parts], "role": "assistant"} if uses := _of_type(parts, "tool_use"):
            if len(uses) == 1 and "input" in (use := parts[uses[0]]):
                return use["input"], "anthropic", use.get("name"), f"/content/{uses[0]}/input"
        case {"content": [*parts], "role": "assistant"} if uses := _of_type(parts, "tool-call"):
            return _part_of(parts, uses, "/content")
        case {"type": "tool-call", "toolName": name, "input": arguments} | {
            "toolCallId": str(),
            "toolName": name,
            "input": arguments,
        }:
            return arguments, "vercel", name, "/input"
        case {"type": "tool-call", "toolName": name, "args": arguments} | {
            "toolCallId": str(),
            "toolName": name,
            "args": arguments,
        }:
            return arguments, "vercel", name, "/args"
        case {"toolInvocation": dict() as inner}:
            return _inside(inner, "/toolInvocation")
        case {"choices": [{"message": dict() as inner}]}:
            return _inside(inner, "/choices/0/message")
        case {"candidates": [{"content": dict() as inner}]}:
            return _inside(inner, "/candidates/0/content")
        case {"output": [*parts]} if uses := _of_type(parts, "function_call"):
            return _part_of(parts, uses, "/output")
        case {"functionCall": {"name": name, **call}}:
            return call.get("args", {}), "gemini", name, "/functionCall/args"
        case {"function_call": {"name": name, "args": arguments}}:
            return arguments, "gemini", name, "/function_call/args"
        case {"parts": [*parts]} | {"content": {"parts": [*parts]}}:
            return _part_of(parts, _gemini(parts), "/parts" if "parts" in data else "/content/parts")
        case {"name": str() as name, "args": dict() as arguments} if data.keys() <= {"name", "args", "id"}:
            return arguments, "gemini", name, "/args"
        case {"name": str() as name, "arguments": str() | dict() as arguments} if data.keys() <= _CALL:
            return arguments, "openai" if isinstance(arguments, str) else "mcp", name, "/arguments"
        case {"type": "function_call", "name": name, "arguments": str() as arguments}:
            return arguments, "openai", name, "/arguments"
        case {"function": {"name": name, "arguments": arguments}}:
            return arguments, "openai", name, "/function/arguments"
        case {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}:
            return arguments, "openai", name, "/tool_calls/0/function/arguments"
        case {"function_call": {"name": name, "arguments": arguments}}:
            return arguments, "openai", name, "/function_call/arguments"
        case {"method": "tools/call", "params": {"name": name, "arguments": arguments}}:
            return arguments, "mcp", name, "/params/arguments"
    return None


def _inside(inner: dict[str, Any], place: str) -> tuple[Any, Format, Any, str] | None:
    """The call in the only message of a response."""
    found = _call(inner)
    return None if found is None else (*found[:3], f"{place}{found[3]}")


def _part_of(parts: list[Any], uses: list[int], place: str) -> tuple[Any, Format, Any, str] | None:
    """The call in the only part that is one."""
    found = _call(parts[uses[0]]) if len(uses) == 1 else None
    return None if found is None else (*found[:3], f"{place}/{uses[0]}{found[3]}")


def _of_type(parts: list[Any], kind: str) -> list[int]:
    return [index for index, part in enumerate(parts) if isinstance(part, dict) and part.get("type") == kind]


def _read(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    if not arguments.strip():
        return {}
    read = container(arguments, max_levels=MAX_LEVELS)
    return arguments if read is NOTHING else read
