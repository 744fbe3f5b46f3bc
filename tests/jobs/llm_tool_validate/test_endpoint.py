"""The endpoint: what a request may be, and what comes back."""

import json
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engines.json_schema.check import MAX_BYTES, MAX_DEPTH
from jobs.llm_tool_validate import MAX_LEVELS
from jobs.llm_tool_validate.endpoint import (
    ENDPOINT,
    MAX_COERCIONS,
    MAX_DATA_BYTES,
    confidence,
    exhausted,
)
from tests.each import each
from tests.jobs.calls import CONTEXT, answer_to, refusal_of, request_of

_request = partial(request_of, ENDPOINT)
_refusal = partial(refusal_of, ENDPOINT)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_INTEGER = {"type": "integer"}
_CITY = {"type": "object", "properties": {"city": {"type": "string"}, "days": _INTEGER}, "required": ["city"]}
_WRAPPINGS = [
    lambda schema: schema,
    lambda schema: {"type": "function", "function": {"name": "f", "parameters": schema}},
    lambda schema: {"type": "function", "name": "f", "parameters": schema},
    lambda schema: {"name": "f", "description": "d", "input_schema": schema},
    lambda schema: {"name": "f", "inputSchema": schema},
]


def _answer(schema: Any, data: Any, coerce: bool = True) -> dict[str, Any]:
    return answer_to(ENDPOINT, {"schema": schema, "data": data, "coerce": coerce})


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer."""
    assert answer_to(ENDPOINT, ENDPOINT.example.request) == ENDPOINT.example.response


def test_valid_as_sent() -> None:
    """Data that fits comes back unchanged, without coercions and errors."""
    data = {"city": "Rome", "days": 3, "x": [1.5]}
    answer = _answer(_CITY, data, coerce=False)
    assert (answer["valid"], answer["data"], answer["confidence"], answer["coercionCount"]) == (True, data, 1.0, 0)
    assert _answer(_CITY, data, coerce=True) == answer


def test_coerced() -> None:
    """A change is reported with its place, and the value before and after."""
    answer = _answer(_CITY, {"city": 8, "days": "3"})
    assert (answer["valid"], answer["data"], answer["confidence"]) == (True, {"city": "8", "days": 3}, 0.915)
    assert sorted(answer["coercions"], key=lambda coercion: coercion["path"]) == [
        {"path": "/city", "from": 8, "to": "8", "fromType": "integer", "toType": "string"},
        {"path": "/days", "from": "3", "to": 3, "fromType": "string", "toType": "integer"},
    ]


def test_arguments_as_openai_sends_them() -> None:
    """Data may be a JSON string. The change to what it was parsed to is reported first."""
    answer = _answer(_CITY, '{"city": "Rome", "days": "3"}')
    assert answer["data"] == {"city": "Rome", "days": 3}
    assert [(coercion["path"], coercion["to"]) for coercion in answer["coercions"]] == [
        ("", {"city": "Rome", "days": "3"}),
        ("/days", 3),
    ]


_ARGUMENTS = {"city": "Rome", "days": 3}
_CALLS = [
    (
        "openai",
        "/function/arguments",
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "%s"}},
    ),
    ("openai", "/arguments", {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "%s"}),
    ("openai", "/function_call/arguments", {"function_call": {"name": "f", "arguments": "%s"}}),
    (
        "openai",
        "/tool_calls/0/function/arguments",
        {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "%s"}}]},
    ),
    ("anthropic", "/input", {"type": "tool_use", "id": "toolu_1", "name": "f", "input": _ARGUMENTS}),
    (
        "anthropic",
        "/content/1/input",
        {"role": "assistant", "content": [{"type": "text"}, {"type": "tool_use", "name": "f", "input": _ARGUMENTS}]},
    ),
    ("mcp", "/params/arguments", {"method": "tools/call", "params": {"name": "f", "arguments": _ARGUMENTS}}),
]


@each(("form", "path", "call"), _CALLS)
def test_a_whole_tool_call_is_unwrapped(form: str, path: str, call: Any) -> None:
    """Its arguments are judged, coerced or not, and the answer says where they were."""
    sent = json.loads(json.dumps(call).replace('"%s"', json.dumps(json.dumps(_ARGUMENTS))))
    for coerce in (False, True):
        answer = _answer(_CITY, sent, coerce)
        assert (answer["valid"], answer["data"], answer["coercions"]) == (True, _ARGUMENTS, [])
        assert answer["unwrapped"] == {"format": form, "name": "f", "path": path}


_GEMINI = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING", "minLength": "1"}, "days": {"type": "INTEGER", "nullable": True}},
    "required": ["city"],
}
_LISTS = [
    {"tools": [{"functionDeclarations": [{"name": "g"}, {"name": "f", "parameters": _GEMINI}]}]},
    {"functionDeclarations": [{"name": "f", "parametersJsonSchema": _CITY}, {"name": "g"}]},
    {"tools": {"g": {"inputSchema": _INTEGER}, "f": {"description": "d", "inputSchema": {"jsonSchema": _CITY}}}},
    {"tools": {"f": {"parameters": _CITY}}},
    {"tools": [{"name": "g", "input_schema": _INTEGER}, {"name": "f", "input_schema": _CITY}]},
    {"tools": [{"type": "function", "function": {"name": name, "parameters": _CITY}} for name in "gf"]},
    {"functions": [{"name": "f", "parameters": _CITY}]},
]


@each("tools", _LISTS)
@each(
    ("form", "path", "call"),
    [
        ("gemini", "/functionCall/args", {"functionCall": {"name": "f", "args": _ARGUMENTS}}),
        (
            "gemini",
            "/parts/1/functionCall/args",
            {"parts": [{"text": ""}, {"functionCall": {"name": "f", "args": _ARGUMENTS}}]},
        ),
        ("gemini", "/args", {"name": "f", "args": _ARGUMENTS}),
        ("vercel", "/input", {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": _ARGUMENTS}),
        (
            "vercel",
            "/content/0/args",
            {"role": "assistant", "content": [{"type": "tool-call", "toolName": "f", "args": json.dumps(_ARGUMENTS)}]},
        ),
        ("vercel", "/args", {"toolCallId": "1", "toolName": "f", "args": _ARGUMENTS}),
        ("vercel", "/input", {"toolCallId": "1", "toolName": "f", "input": _ARGUMENTS}),
        (
            "vercel",
            "/toolInvocation/args",
            {"type": "tool-invocation", "toolInvocation": {"toolCallId": "1", "toolName": "f", "args": _ARGUMENTS}},
        ),
        ("openai", "/arguments", {"name": "f", "arguments": json.dumps(_ARGUMENTS)}),
        ("mcp", "/arguments", {"name": "f", "arguments": _ARGUMENTS}),
        (
            "openai",
            "/choices/0/message/tool_calls/0/function/arguments",
            {"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": _ARGUMENTS}}]}}]},
        ),
        (
            "openai",
            "/output/1/arguments",
            {
                "output": [
                    {"type": "reasoning"},
                    {"type": "function_call", "name": "f", "arguments": json.dumps(_ARGUMENTS)},
                ]
            },
        ),
        (
            "gemini",
            "/candidates/0/content/parts/0/functionCall/args",
            {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": _ARGUMENTS}}]}}]},
        ),
        _CALLS[4],
    ],
)
def test_the_call_names_one_of_the_tools(tools: Any, form: str, path: str, call: Any) -> None:
    """Definitions and calls of Gemini, Vercel and the others, in any pair."""
    answer = _answer(tools, call, coerce=False)
    assert (answer["valid"], answer["data"]) == (True, _ARGUMENTS)
    assert answer["unwrapped"] == {"format": form, "name": "f", "path": path}
    wrong = json.loads(json.dumps(call).replace("city", "town"))
    assert _answer(tools, wrong, coerce=False)["valid"] is False


def test_several_tools_need_a_call_that_names_one() -> None:
    """A tool that is not in the list, and arguments alone, are refused before the payment."""
    tools = {"tools": [{"name": name, "input_schema": _CITY} for name in "fg"]}
    for data in (_ARGUMENTS, {"type": "tool_use", "name": "h", "input": _ARGUMENTS}):
        assert _refusal({"schema": tools, "data": data}).field == "data"
    assert _answer({"tools": [{"name": "f", "input_schema": _CITY}]}, _ARGUMENTS)["valid"] is True


@each(
    "data",
    [
        {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}] * 2},
        {"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}] * 2}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": _ARGUMENTS}] * 2},
        {"role": "assistant", "content": [{"type": "tool-call", "toolName": "f", "input": _ARGUMENTS}] * 2},
        {"output": [{"type": "function_call", "name": "f", "arguments": "{}"}] * 2},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": _ARGUMENTS}}] * 2}}]},
    ],
)
def test_several_calls_are_refused(data: Any) -> None:
    """A response with parallel calls is not taken for the arguments of one."""
    tool = {"name": "f", "input_schema": _CITY}
    for schema in (tool, {"tools": [tool, tool | {"name": "g"}]}):
        refusal = _refusal({"schema": schema, "data": data})
        assert refusal.field == "data"
        assert "several tool calls" in refusal.detail


def test_arguments_may_have_the_names_of_a_response() -> None:
    """Where the schema names them."""
    schema = {"type": "object", "properties": {"tool_calls": {"type": "array"}}}
    assert _answer(schema, {"tool_calls": [1, 2]})["valid"] is True


@each(
    ("schema", "data", "valid"),
    [
        (_GEMINI, {"city": "Rome", "days": None}, True),
        (_GEMINI, {"city": None}, False),
        (_GEMINI, {"city": ""}, False),
        ({"type": "STRING", "enum": ["a"], "nullable": True}, None, True),
        ({"anyOf": [{"type": "STRING"}], "nullable": True}, None, True),
        ({"$ref": "#/$defs/a", "nullable": True, "$defs": {"a": {"type": "INTEGER"}}}, None, True),
        (
            {"type": "object", "properties": {"type": {"type": "STRING"}, "nullable": {"enum": ["STRING"]}}},
            {"nullable": "string"},
            False,
        ),
        ({"type": "OBJECT", "properties": {"enum": {"type": "STRING"}}}, {"enum": 1}, False),
    ],
)
def test_schemas_of_openapi(schema: Any, data: Any, valid: bool) -> None:
    """Gemini's types are upper-case, `nullable` allows null, and counts are texts. Names of properties and data are left."""
    assert _answer(schema, data, coerce=False)["valid"] is valid


@each(
    ("schema", "data", "becomes"),
    [
        (_CITY, {"city": "Rome", "days": None}, {"city": "Rome"}),
        (_CITY, {"city": None}, {"city": None}),
        (_CITY | {"minProperties": 2}, {"city": "Rome", "days": None}, {"city": "Rome", "days": None}),
        ({"type": "object", "properties": {"a": {"enum": ["x"]}}}, {"a": None}, {}),
        ({"type": "object", "properties": {"a": {"anyOf": [_INTEGER, {"type": "string"}]}}}, {"a": None}, {}),
        (
            {"type": "object", "properties": {"a": {"anyOf": [_CITY, {"type": "null"}]}}},
            {"a": {"city": "x", "days": None}},
            {"a": {"city": "x"}},
        ),
        ({"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}, {"a": None}, {"a": None}),
        ({"type": "object", "additionalProperties": _INTEGER}, {"a": None}, {"a": None}),
        ({"type": "array", "items": _INTEGER}, [None], [None]),
    ],
)
def test_null_for_an_optional_property_is_left_out(schema: Any, data: Any, becomes: Any) -> None:
    """Only when coercing, and never where the property must be there, or null says something."""
    answer = _answer(schema, data)
    assert answer["data"] == becomes
    omitted = [one for one in answer["coercions"] if one["toType"] == "absent"]
    assert bool(omitted) is (becomes != data)
    assert all((one["from"], one["to"]) == (None, None) for one in omitted)
    assert _answer(schema, data, coerce=False)["data"] == data


@each(
    ("text", "becomes"),
    [
        ('{"city": "Rome", "days": "3"', {"city": "Rome", "days": 3}),
        ('{"city": "Rome", "days": 3, "x": "the re', {"city": "Rome", "days": 3, "x": "the re"}),
        ('{"city": "Ro\nme"}', {"city": "Ro\nme"}),
    ],
)
def test_arguments_that_were_cut_off_are_repaired(text: str, becomes: Any) -> None:
    """When coercing, alone or in a call; the answer says what was repaired, and is less certain."""
    for data in (text, {"function": {"name": "f", "arguments": text}}):
        answer = _answer(_CITY, data)
        assert (answer["valid"], answer["data"]) == (True, becomes)
        assert answer["repairs"]
        assert answer["coercions"][0]["from"] == text
        assert answer["confidence"] < 0.95
        assert _answer(_CITY, data, coerce=False)["valid"] is False
    assert _answer({"type": "string"}, text)["data"] == text


def test_of_one_of_the_indexes_that_fit_are_expected() -> None:
    """Schemas may be longer than the answer."""
    schema = {"oneOf": [_INTEGER, {"type": "string"}, {"type": "number"}]}
    for data, fitting in ((1, [0, 2]), (None, [])):
        (error,) = _answer(schema, data)["errors"]
        assert (error["keyword"], error["expected"]) == ("oneOf", fitting)


def test_an_object_that_the_schema_describes_is_no_tool_call() -> None:
    """A tool may have an argument named `input`."""
    schema = {"type": "object", "properties": {"type": {}, "name": {}, "input": {"type": "object"}}}
    data = {"type": "tool_use", "name": "f", "input": {}}
    answer = _answer(schema, data)
    assert (answer["data"], answer["unwrapped"]) == (data, None)


def test_a_tool_without_parameters_may_be_called_with_an_empty_text() -> None:
    """As OpenAI's models do."""
    answer = _answer({"type": "object", "properties": {}}, {"function": {"name": "f", "arguments": ""}})
    assert (answer["valid"], answer["data"]) == (True, {})


@each(
    ("schema", "data", "becomes"),
    [
        ({"type": "boolean"}, "True", True),
        ({"type": ["integer", "null"]}, "None", None),
        ({"type": "array"}, "['it\\'s', True, None, -1.5]", ["it's", True, None, -1.5]),
        ({"type": "object"}, "{'a': [\"b\"]}", {"a": ["b"]}),
        ({"type": "object"}, '```json\n{"a": 1}\n```', {"a": 1}),
        ({"type": "array"}, "```\n['a']\n```\n", ["a"]),
    ],
)
def test_what_python_and_code_blocks_make_of_a_value(schema: Any, data: str, becomes: Any) -> None:
    """It is the same value, and read when coercion is wanted."""
    assert (_answer(schema, data)["valid"], _answer(schema, data)["data"]) == (True, becomes)
    assert _answer(schema, data, coerce=False)["valid"] is False


@each("data", ["[(1, 2)]", "[1e400]", "{'a': 1, 'a': 2}", "[b'a']", "[__import__('os')]", "[" * 5000])
def test_python_text_that_json_cannot_write_is_left(data: str) -> None:
    """A tuple, infinity, a key that comes twice: something would be lost. Nothing is evaluated."""
    assert _answer({"type": ["array", "object"]}, data)["data"] == data


def test_coercing_is_off_unless_wanted() -> None:
    """Without `coerce` the data is judged as it is."""
    answer = ENDPOINT.run(_request({"schema": _CITY, "data": {"city": "Rome", "days": "3"}}), CONTEXT)
    assert (answer.valid, answer.data, answer.coercions) == (False, {"city": "Rome", "days": "3"}, [])
    assert [(error.path, error.keyword, error.expected) for error in answer.errors] == [("/days", "type", "integer")]


def test_invalid_after_all() -> None:
    """Coercions are reported, and the errors are those of the coerced data."""
    answer = _answer(_CITY, {"days": "3"})
    assert (answer["valid"], answer["data"], answer["coercionCount"]) == (False, {"days": 3}, 1)
    assert answer["errors"] == [
        {
            "path": "",
            "keyword": "required",
            "message": '"city" is a required property',
            "expected": "city",
            "schemaPath": "/required",
        }
    ]
    assert answer["confidence"] == 0.25


@each(
    ("schema", "data", "valid"),
    [
        (_INTEGER, 1.0, True),
        (_INTEGER, True, False),
        (_INTEGER, None, False),
        ({"type": "null"}, None, True),
        ({"type": ["string", "null"]}, "", True),
        ({}, None, True),
        ({"const": 10**30}, 10**30, True),
        ({"type": "number"}, 1e308, True),
        ({"format": "email"}, "x", False),
        ({"pattern": "^(?=.*[0-9])[a-z0-9]+$"}, "abc", False),
        ({"anyOf": [{"pattern": "^(?!a)"}, {"type": "null"}]}, "b", True),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "format": "email"}, "x", False),
    ],
)
def test_validation_alone(schema: Any, data: Any, valid: bool) -> None:
    """1.0 is an integer and true is not; null is a value; formats count."""
    answer = _answer(schema, data, coerce=False)
    assert (answer["valid"], answer["data"], answer["coercions"]) == (valid, data, [])


@each(
    ("asked", "dialect"),
    [
        (None, _DRAFT),
        ("https://json-schema.org/draft/2020-12/schema", _DRAFT),
        ("https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2019-09/schema"),
        ("http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema#"),
        ("http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-07/schema#"),
        ("http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-06/schema#"),
        ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-04/schema#"),
    ],
)
@each("wrap", _WRAPPINGS)
def test_dialect(asked: str | None, dialect: str, wrap: Any) -> None:
    """The draft that `$schema` names, or 2020-12."""
    schema = _CITY if asked is None else {"$schema": asked, **_CITY}
    assert _answer(wrap(schema), {"city": "Rome"})["dialect"] == dialect
    assert exhausted(_request({"schema": wrap(schema), "data": 1})).dialect == dialect


@each("wrap", _WRAPPINGS)
@each("coerce", [False, True])
@each("data", [{"city": "Rome"}, {"city": 1, "days": "x"}, '{"days": "1"}', None, []])
def test_the_wrapping_makes_no_difference(wrap: Any, coerce: bool, data: Any) -> None:
    """To anything in the answer."""
    assert _answer(wrap(_CITY), data, coerce) == _answer(_CITY, data, coerce)


@each(
    ("definition", "field", "code"),
    [
        ({"type": "nope"}, "schema", "invalid_schema"),
        (
            {"type": "function", "function": {"parameters": {"type": "nope"}}},
            "schema.function.parameters",
            "invalid_schema",
        ),
        ({"type": "function", "name": "f", "parameters": "{}"}, "schema.parameters", "invalid_schema"),
        ({"name": "f", "input_schema": None}, "schema.input_schema", "invalid_schema"),
        ({"tools": [{"name": "f"}]}, "schema.tools.0", "invalid_schema"),
        (
            {"type": "function", "function": {"parameters": {"city": {"type": "string"}}}},
            "schema.function.parameters",
            "invalid_schema",
        ),
        ({"name": "f", "inputSchema": {"minimum": "1"}}, "schema.inputSchema", "invalid_schema"),
        ({"pattern": "(?=a"}, "schema", "invalid_schema"),
        ({"$ref": "#/$defs/missing"}, "schema", "invalid_schema"),
        ({"$ref": "http://127.0.0.1:9/"}, "schema", "remote_ref_not_allowed"),
        ({"$defs": {"unused": {"$ref": "file:///etc/passwd"}}}, "schema", "remote_ref_not_allowed"),
        ({"name": "f", "input_schema": {"$ref": "other.json"}}, "schema.input_schema", "remote_ref_not_allowed"),
        ({"$schema": "http://127.0.0.1:9/"}, "schema", "unknown_dialect"),
        ({"type": "object", "title": "x" * MAX_BYTES}, "schema", "invalid_schema"),
    ],
)
def test_bad_schemas_are_refused_with_the_request(definition: Any, field: str, code: str) -> None:
    """Before anything is paid, by the name of the place where the schema is."""
    refusal = _refusal({"schema": definition, "data": {}})
    assert (refusal.field, refusal.code) == (field, code)


@each("body", [{}, {"schema": {}}, {"data": 1}, {"schema": None, "data": 1}, {"schema": "{}", "data": 1}])
def test_schema_and_data_are_required(body: Any) -> None:
    """The schema as an object; the data as anything."""
    with pytest.raises(msgspec.ValidationError, match=r"schema|data"):
        _request(body)


def test_size_of_the_data() -> None:
    """256 KB of JSON, however it is written in the body, which the body limit allows."""
    most = "x" * (MAX_DATA_BYTES - 2)
    assert _answer({}, most)["valid"] is True
    refusal = _refusal({"schema": {}, "data": most + "x"})
    assert (refusal.field, refusal.code) == ("data", "invalid_body")
    escaped = json.dumps({"schema": {"type": "object", "title": "é" * 32_000}, "data": ["é" * 131_000]}).encode()
    assert 950_000 < len(escaped) < ENDPOINT.max_body_bytes
    assert json.loads(bytes(_request(escaped).data)) == ["é" * 131_000]
    for much in (
        b"[" + b" 1," * 140_000 + b"1]",
        b'["' + rb"\u00e9" * 131_100 + b'"]',
        b"[" + b"1e30," * 60_000 + b"1]",
    ):
        assert _refusal(b'{"schema":{},"data":%s}' % much).detail == "The data has more than 262144 bytes."
    assert _request(b'{"schema":{},"data":%s}' % (b"[" + b" 1," * 130_000 + b"1]")).data


@each("number", ["1e309", "-1E+0400", "1" + "0" * 309 + ".5", "7" * 4301])
def test_numbers_out_of_range(number: str) -> None:
    """Refused before they are charged, as everywhere in a body."""
    refusal = _refusal(f'{{"schema":{{}},"data":[{number}]}}'.encode())
    assert (refusal.field, refusal.code) == ("data", "invalid_body")


@settings(deadline=None)
@given(st.binary(max_size=12) | st.text(st.sampled_from('[]{}",:0123456789eE+-.\\u "tn'), max_size=16).map(str.encode))
def test_what_is_accepted_can_be_decoded(data: bytes) -> None:
    """A call is charged once its request was accepted."""
    try:
        request = _request(b'{"schema":{},"data":' + data + b"}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    assert ENDPOINT.run(request, CONTEXT).valid is True


def _nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value] if levels % 2 else {"a": value}
    return value


def test_levels_of_the_data() -> None:
    """128 can be checked to the bottom; more are refused, and 100 000 are no RecursionError."""
    schema = {"type": ["array", "object"], "items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}, "minItems": 1}
    for coerce in (False, True):
        (error,) = _answer(schema, _nested(MAX_LEVELS), coerce)["errors"]
        assert error["path"] == "/a" * (MAX_LEVELS - 1)
    refusal = _refusal({"schema": {}, "data": _nested(MAX_LEVELS + 1)})
    assert (refusal.field, refusal.code) == ("data", "invalid_body")
    with pytest.raises((msgspec.MsgspecError, RecursionError)):
        _request(b'{"schema": {}, "data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def test_levels_of_the_schema() -> None:
    """The bound of all schemas holds where they are wrapped, too."""
    schema: Any = {}
    for _ in range(MAX_DEPTH):
        schema = {"not": schema}
    assert _refusal({"schema": {"name": "f", "input_schema": schema}, "data": 1}).code == "invalid_schema"


@each(
    "body",
    [
        b'{"schema": {}, "data": NaN}',
        b'{"schema": {}, "data": 1e400}',
        b'{"schema": {}, "data": "\\ud800 alone"}',
        b'{"schema": {}, "data": {"\\udc00 alone": 1}}',
        b'{"schema": {"const": "\\ud800 alone"}, "data": 1}',
        b'{"schema": {}, "data": "\xed\xa0\x80"}',
        b'{"schema": {}, "data": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_could_not_be_answered_is_refused(body: bytes) -> None:
    """Numbers and texts that JSON, or a reader of the answer, does not know."""
    with pytest.raises((msgspec.MsgspecError, UnicodeError)):
        _request(body)


def test_numbers_are_kept() -> None:
    """Integers are exact, as sent or coerced; of duplicate keys the last one stays."""
    huge = "1234567890" * 40
    request = _request(b'{"schema": {}, "data": {"a": 1, "a": [%s, 1e5, -0.0]}}' % huge.encode())
    assert msgspec.json.encode(ENDPOINT.run(request, CONTEXT).data) == b'{"a":[%s,100000.0,-0.0]}' % huge.encode()
    assert _answer(_INTEGER, "9007199254740993")["data"] == 9007199254740993
    for text in ("1e400", "NaN", "Infinity", "9" * 400):
        answer = _answer({"type": "number"}, text)
        assert (answer["valid"], answer["data"]) == (False, text)


def test_at_most_a_thousand_coercions_and_a_hundred_errors_are_listed() -> None:
    """All of them are made, and counted."""
    answer = _answer({"items": _INTEGER}, ["1"] * 1500 + ["x"] * 150)
    assert answer["data"] == [1] * 1500 + ["x"] * 150
    assert (len(answer["coercions"]), answer["coercionCount"]) == (MAX_COERCIONS, 1500)
    assert (len(answer["errors"]), answer["errorCount"]) == (100, 150)


def test_long_paths_are_not_repeated_a_thousand_times() -> None:
    """The answer stays in proportion to the request."""
    answer = _answer({"additionalProperties": {"items": _INTEGER}}, {"k" * 10_000: ["1"] * 1000})
    assert answer["coercionCount"] == 1000
    assert len(answer["coercions"]) == 6
    assert answer["data"] == {"k" * 10_000: [1] * 1000}


def test_exhausted() -> None:
    """When the time runs out nothing is known, and that is what the answer says."""
    answer = msgspec.to_builtins(exhausted(_request({"schema": _INTEGER, "data": "1", "coerce": True})))
    assert answer == {
        "ok": False,
        "valid": None,
        "data": "1",
        "coercions": [],
        "errors": [],
        "confidence": 0.0,
        "dialect": _DRAFT,
        "coercionCount": None,
        "errorCount": None,
        "error": "too_complex",
        "formatAsserted": True,
        "unwrapped": None,
        "repairs": [],
    }


@each(
    ("coercions", "errors", "expected"),
    [
        (0, 0, 1.0),
        (1, 0, 0.95),
        (2, 0, 0.915),
        (1000, 0, 0.6),
        (0, 1, 0.25),
        (5, 1, 0.25),
        (0, 4, 0.1),
        (0, 60_000, 0.0),
    ],
)
def test_confidence(coercions: int, errors: int, expected: float) -> None:
    """The documented figures."""
    assert confidence(coercions, errors) == expected


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_confidence_falls(coercions: int, errors: int, more: int) -> None:
    """With every coercion or error it is not higher, and the three kinds of answers never overlap."""
    assert 0 <= confidence(coercions, errors + more) <= confidence(coercions, errors) <= 1
    assert confidence(coercions + more, errors) <= confidence(coercions, errors)
    assert confidence(0, 0) > confidence(coercions + 1, 0) > confidence(coercions, errors + 1)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(_ANY, st.sampled_from([_CITY, {}, {"items": _INTEGER}, {"enum": [1, "a", None]}]), st.booleans())
def test_any_data_gets_a_whole_answer(data: Any, schema: Any, coerce: bool) -> None:
    """Whatever is sent, the answer is UTF-8 JSON with every key, decodes with a strict reader, and agrees with itself."""
    request = _request({"schema": schema, "data": data, "coerce": coerce})
    answer = msgspec.json.decode(msgspec.json.encode(ENDPOINT.run(request, CONTEXT)))
    assert answer["valid"] is (answer["errorCount"] == 0) is (answer["errors"] == [])
    assert answer["confidence"] == confidence(answer["coercionCount"], answer["errorCount"])
    again = ENDPOINT.run(_request({"schema": schema, "data": answer["data"], "coerce": coerce}), CONTEXT)
    assert msgspec.json.encode(again.data) == msgspec.json.encode(answer["data"])
