"""llm-tool-validate: arguments as models write them fit after coercion, and what has another meaning is left."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from jobs.llm_tool_validate.endpoint import Request, run
from jobs.ports import Context
from tests.quality.scorer import Measure

_SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "price": {"type": "number"},
        "breakfast": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "from": {"type": "string", "format": "date"},
        "guest": {"type": ["object", "null"], "properties": {"age": {"type": "integer"}}},
    },
    "required": ["city"],
}
_RIGHT = {
    "city": "Rome",
    "days": 3,
    "price": 1.5,
    "breakfast": True,
    "tags": ["a", "b"],
    "from": "2026-11-22",
    "guest": {"age": 7},
}

_FITS: list[Any] = [
    json.dumps(_RIGHT),
    {**_RIGHT, "days": "3", "price": "1.5", "breakfast": "true"},
    {**_RIGHT, "tags": '["a", "b"]', "guest": '{"age": "7"}'},
    {"type": "function", "function": {"name": "book", "arguments": json.dumps(_RIGHT)}},
    {"functionCall": {"name": "book", "args": _RIGHT}},
    {"type": "tool-call", "toolName": "book", "input": _RIGHT},
    {"toolCallId": "1", "toolName": "book", "args": _RIGHT},
    {"name": "book", "arguments": json.dumps(_RIGHT)[:-1]},
    {"choices": [{"message": {"tool_calls": [{"function": {"name": "book", "arguments": json.dumps(_RIGHT)}}]}}]},
    json.dumps(_RIGHT)[:-1],
    json.dumps(_RIGHT)[:-2],
]
_FITS_SET_ASIDE: list[Any] = [
    repr(_RIGHT),
    f"```json\n{json.dumps(_RIGHT, indent=2)}\n```",
    {**_RIGHT, "breakfast": "True", "tags": "['a', 'b']"},
    {**_RIGHT, "breakfast": 1, "days": 3.0, "guest": "{'age': 7}"},
    {"type": "tool_use", "id": "1", "name": "book", "input": {**_RIGHT, "days": " 3 "}},
    {"name": "book", "type": "function_call", "call_id": "1", "arguments": json.dumps({**_RIGHT, "price": "1.50"})},
]
_BREAKS: list[Any] = [
    {"city": "Rome", "days": "three"},
    {"city": "Rome", "from": "tomorrow"},
    {"days": 3},
    {"city": None},
]
_BREAKS_SET_ASIDE: list[Any] = [
    *({"city": "Rome", "days": 1.5}, {"city": "Rome", "breakfast": "yes"}, {"city": "Rome", "from": "22/11/2026"}),
    *({"city": "Rome", "guest": {"age": "seven"}}, {"city": ["Rome"]}, "city: Rome", {"city": "Rome", "tags": [None]}),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """What becomes the right value, and what must not fit."""
    fits = _FITS_SET_ASIDE if held_out else _FITS
    breaks = _BREAKS_SET_ASIDE if held_out else _BREAKS
    yield Measure("becomes the right value", len(fits), sum(_answer(data) == (True, _RIGHT) for data in fits))
    yield Measure("is invalid still", len(breaks), sum(not _answer(data)[0] for data in breaks))


def _answer(data: Any) -> tuple[bool | None, Any]:
    body = json.dumps({"schema": _SCHEMA, "data": data, "coerce": True}).encode()
    answer = run(msgspec.json.decode(body, type=Request), Context(payer="0x0"))
    return answer.valid, answer.data
