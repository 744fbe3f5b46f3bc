"""llm-tool-validate: arguments as models write them fit after coercion, and what has another meaning is left."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from jobs.llm_tool_validate.endpoint import ENDPOINT, Request, run
from jobs.ports import Context
from tests.jobs.calls import answer_to
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
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
_OTHER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
_GEMINI = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER", "nullable": True}},
    "required": ["city"],
}
_ROME = {"type": "tool_use", "id": "1", "name": "f", "input": {"city": "Rome", "days": 3}}
_NONE = {"type": "tool_use", "id": "1", "name": "f", "input": {"days": 3}}
# A schema as others write it, a call that fits, and one that does not.
_SCHEMAS: list[tuple[Any, Any, Any]] = [
    (_GEMINI, {"city": "Rome", "days": None}, {"city": 3}),
    ({"type": "STRING", "enum": ["a"], "nullable": True}, None, "b"),
    ({"name": "f", "parameters": _GEMINI}, {"city": "Rome"}, {"days": 1}),
    ({"tools": [{"name": "g", "input_schema": _OTHER}, {"name": "f", "input_schema": _CITY}]}, _ROME, _NONE),
    ({"tools": {"g": {"inputSchema": _OTHER}, "f": {"inputSchema": {"jsonSchema": _CITY}}}}, _ROME, _NONE),
    ({"tools": [{"functionDeclarations": [{"name": "g"}, {"name": "f", "parameters": _GEMINI}]}]}, _ROME, _NONE),
    (
        {"tools": [{"type": "function", "function": {"name": name, "parameters": _CITY}} for name in "gf"]},
        _ROME,
        _NONE,
    ),
]
_SCHEMAS_SET_ASIDE: list[tuple[Any, Any, Any]] = [
    ({"type": "ARRAY", "items": {"type": "NUMBER"}}, [1.5], ["x"]),
    ({"type": "OBJECT", "properties": {"a": {"type": "BOOLEAN", "nullable": True}}}, {"a": None}, {"a": 1}),
    ({"functions": [{"name": "f", "parameters": _CITY}]}, _ROME, _NONE),
    ({"tools": {"f": {"parameters": _CITY}}}, _ROME, _NONE),
    ({"tools": [{"name": "f", "inputSchema": _CITY}]}, _ROME, _NONE),
    ({"functionDeclarations": [{"name": "g"}, {"name": "f", "parametersJsonSchema": _CITY}]}, _ROME, _NONE),
]
# A schema, arguments with null, and what becomes of them.
_NULLS: list[tuple[Any, Any, Any]] = [
    (_CITY, {"city": "Rome", "days": None}, {"city": "Rome"}),
    ({"type": "object", "properties": {"a": {"enum": ["x"]}}}, {"a": None}, {}),
    ({"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}, {"a": None}, {"a": None}),
]
_ONE_OF = {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "number"}]}

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

    schemas = _SCHEMAS_SET_ASIDE if held_out else _SCHEMAS
    judged = [(_valid(schema, good), _valid(schema, bad)) == (True, False) for schema, good, bad in schemas]
    yield Measure("schemas as others write them", len(judged), sum(judged))
    if not held_out:
        left = [_said(schema, data).get("data") == becomes for schema, data, becomes in _NULLS]
        yield Measure("null for an optional property", len(left), sum(left))
        expected = [_said(_ONE_OF, data)["errors"][0]["expected"] for data in (1, None)]
        yield Measure("oneOf says which schemas fit", len(expected), sum(map(list.__eq__, expected, ([0, 2], []))))


def _valid(schema: Any, data: Any) -> bool | None:
    said = _said(schema, data, coerce=False)
    return said.get("valid")


def _said(schema: Any, data: Any, *, coerce: bool = True) -> dict[str, Any]:
    """The answer; nothing when the request is refused."""
    try:
        return answer_to(ENDPOINT, {"schema": schema, "data": data, "coerce": coerce})
    except msgspec.ValidationError:
        return {}


def _answer(data: Any) -> tuple[bool | None, Any]:
    body = json.dumps({"schema": _SCHEMA, "data": data, "coerce": True}).encode()
    answer = run(msgspec.json.decode(body, type=Request), Context(payer="0x0"))
    return answer.valid, answer.data
