"""llm-tool-validate: checks the arguments of an LLM's tool call against the tool's JSON Schema, and corrects their types.

solve.py has the rules of coercion, and tool_schema.py the ways in which the definition of a tool may be wrapped. Besides:

- Data that fits is returned unchanged. Of duplicate keys the last one counts, as everywhere in a body.
- Data that cannot be made to fit is returned as far as it could be coerced, with its remaining errors.
- Integers are exact. Other numbers are doubles: `1e5` comes back as `100000.0`. A number in a text is coerced only when
  nothing is lost, so `"1e400"` and `"3.14159265358979323846"` are not.
- A `format` that the data breaks makes it invalid in every draft, unless `assertFormat` is false.
- A whole tool call as data, of OpenAI, Anthropic, MCP, Gemini or Vercel, stands for the arguments in it (tool_call.py). It also
  says which of several tools is meant.
- Gemini's schemas are in OpenAPI's dialect (openapi_schema.py).
- With `coerce`, arguments that came as a text and were cut off, or have a small slip of syntax, are repaired by
  json-repair's engine. Each repair counts like a coercion.
- When a schema takes too long (`allOf` of two references to the same, thirty levels deep, or a pattern), `ok` is
  false, `valid` is null and `error` is `too_complex`.

The confidence is 1 for data that fits unchanged; 0.6 + 0.35 * 0.9^(k-1), which is 0.95 down to 0.6, for data that fits after k
coercions; 0.5 / (1 + e), at most 0.25, for data with e errors; 0 when nothing is known. More coercions or more errors never
raise it. It is rounded to four digits.
"""

from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from jobs.engines.json_schema.backtracking_patterns import TooComplex, limited
from jobs.engines.json_schema.check import MAX_BYTES, Schema, compile_schema, pointer
from jobs.fields import doc
from jobs.json_repair import Repair
from jobs.llm_tool_validate import MAX_LEVELS, Change, Document, Solution, type_of
from jobs.llm_tool_validate.cut_text import coerced
from jobs.llm_tool_validate.openapi_schema import as_json_schema
from jobs.llm_tool_validate.places import NOTHING
from jobs.llm_tool_validate.tool_call import Unwrapped, arguments_in, has_several, name_in
from jobs.llm_tool_validate.tool_errors import MAX_POINTERS, ToolError, described
from jobs.llm_tool_validate.tool_schema import Tool, is_foreign, schema_in, tools_in
from jobs.ports import Context
from shared.endpoint import MOST_BYTES, Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price
from shared.raw_json import levels, lone_surrogate, may_overflow

MAX_DATA_BYTES = 256 * 1024
"""Size as JSON without spaces, in UTF-8."""
MAX_COERCIONS = 1000


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """A tool's schema, and the arguments that an LLM made for it."""

    schema: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description=(
                "JSON Schema of the tool's arguments, or the whole definition of the tool as OpenAI, Anthropic, MCP, Gemini "
                "and Vercel have it, or a list `tools`; at most 64 KB and 64 levels, without references to other documents."
            ),
            extra={MOST_BYTES: 2 * MAX_BYTES},  # twice the schema, because a definition also has a description
        ),
    ]
    data: Annotated[
        msgspec.Raw,
        msgspec.Meta(
            description=(
                "The arguments to validate, or a whole tool call with them; with `coerce` also as a JSON string. At most "
                "256 KB and 128 levels."
            )
        ),
    ]
    coerce: Annotated[bool, msgspec.Meta(description="Change types where nothing is lost: '12' to 12.")] = False
    assert_format: Annotated[
        bool, msgspec.Meta(description="Whether data that breaks a `format` of the schema is invalid.")
    ] = True

    def __post_init__(self) -> None:
        # The API judges the request and rarely decodes it: a thousand lists of 127 levels would take 11 ms.
        data = bytes(self.data)
        if len(data) > MAX_DATA_BYTES:
            data = msgspec.json.format(data, indent=-1)  # without spaces
        # Counted as if every escaped character became one byte.
        if len(data) - 5 * data.count(rb"\u") > MAX_DATA_BYTES:
            raise _too_large()
        if levels(data) > MAX_LEVELS:
            raise InvalidField(f"The data has more than {MAX_LEVELS} levels.", field="data")
        data.decode()
        if escape := lone_surrogate(data):
            raise InvalidField(f"The data has {escape}, a lone surrogate: it is half of a character.", field="data")
        is_unclear = len(data) > MAX_DATA_BYTES or may_overflow(data)
        if is_unclear and len(msgspec.json.encode(_decoded(self))) > MAX_DATA_BYTES:
            raise _too_large()
        _compiled(self)


class Coercion(msgspec.Struct, frozen=True, rename="camel"):
    """One value whose type was changed."""

    path: Annotated[str, doc("JSON Pointer to the value. Empty for the whole data.")]
    from_: Annotated[Any, doc("The value before the change.")] = msgspec.field(name="from")
    to: Annotated[Any, doc("The value after the change, before anything inside it was changed.")]
    from_type: Annotated[
        str, doc("JSON type before: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`.")
    ]
    to_type: Annotated[str, doc("JSON type after the change; `absent` for a null that was left out.")]


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """Whether the data fits, and what was changed to make it fit."""

    ok: Annotated[bool, doc("Whether there is a verdict. False only when `error` is set.")]
    valid: Annotated[bool | None, doc("Whether `data` fits the schema. Null when there is no verdict.")]
    data: Annotated[
        Any, doc("The arguments, with the coercions applied. Use these to call the tool when `valid` is true.")
    ]
    coercions: Annotated[list[Coercion], doc("The changes that were made, in their order. At most 1,000 are listed.")]
    errors: Annotated[list[ToolError], doc("The rules that `data` still breaks. At most 100 are listed.")]
    confidence: Annotated[
        float,
        doc("How likely `data` is what the tool wants: 1 when it fits unchanged, less with each coercion and error."),
    ]
    dialect: Annotated[str, doc("URI of the JSON Schema draft that was applied.")]
    coercion_count: Annotated[int | None, doc("The number of all coercions. Null when there is no verdict.")]
    error_count: Annotated[int | None, doc("The number of all errors. Null when there is no verdict.")]
    error: Annotated[Literal["too_complex"] | None, doc("`too_complex` when the check took too long. Else null.")]
    format_asserted: Annotated[bool, doc("Whether the schema's `format` keywords were enforced.")]
    unwrapped: Annotated[
        Unwrapped | None,
        doc("The tool call that had the arguments in it. Null when the request's `data` was the arguments alone."),
    ]
    repairs: Annotated[
        list[Repair],
        doc(
            "With `coerce`: what was repaired in arguments that came as a text and are no JSON, as json-repair does it."
        ),
    ]


def run(request: Request, context: Context) -> Response:
    """Coerce the data if requested, then report its errors."""
    schema = _compiled(request)
    data, unwrapped = arguments_in(_decoded(request), schema.content)
    document = Document(schema)
    root = document.root
    try:
        with limited():
            solution, repairs = (
                coerced(root, data) if request.coerce else (Solution(data, [], root.violations(data)), [])
            )
    except TooComplex:
        return exhausted(request)
    coercions, errors = len(solution.changes), len(solution.violations)
    return Response(
        ok=True,
        valid=not errors,
        data=solution.value,
        coercions=_listed(solution.changes),
        errors=described(document, solution.value, solution.violations),
        confidence=confidence(coercions + len(repairs), errors),
        dialect=schema.dialect,
        coercion_count=coercions,
        error_count=errors,
        error=None,
        format_asserted=request.assert_format,
        unwrapped=unwrapped,
        repairs=repairs,
    )


def exhausted(request: Request) -> Response:
    """The answer when the time ran out: nothing is known."""
    schema = _compiled(request)
    data, unwrapped = arguments_in(_decoded(request), schema.content)
    return Response(
        ok=False,
        valid=None,
        data=data,
        coercions=[],
        errors=[],
        confidence=0.0,
        dialect=schema.dialect,
        coercion_count=None,
        error_count=None,
        error="too_complex",
        format_asserted=request.assert_format,
        unwrapped=unwrapped,
        repairs=[],
    )


def confidence(coercions: int, errors: int) -> float:
    """How likely it is that the data is what the tool wants. The module's docstring has the formula."""
    if errors:
        return round(0.5 / (1 + errors), 4)
    return round(0.6 + 0.35 * 0.9 ** (coercions - 1), 4) if coercions else 1.0


def _decoded(request: Request) -> Any:
    try:
        return msgspec.json.decode(request.data)
    except msgspec.ValidationError:
        raise InvalidField("A number is out of range.", field="data") from None


def _too_large() -> InvalidField:
    return InvalidField(f"The data has more than {MAX_DATA_BYTES} bytes.", field="data")


def _several_calls() -> InvalidField:
    return InvalidField("The data has several tool calls: send each in a request of its own.", field="data")


def _compiled(request: Request) -> Schema:
    tool = _tool(request)
    schema, place = schema_in(tool.definition)
    field = ".".join(name for name in ("schema", tool.place, place) if name)
    if is_foreign(schema):
        detail = (
            "It contains no rule of JSON Schema. Send the schema itself, the definition of a tool, or a list `tools`."
        )
        raise InvalidField(detail, field=field, code="invalid_schema")
    if has_several(bytes(request.data), partial(_decoded, request), schema):
        raise _several_calls()
    return compile_schema(as_json_schema(schema), field=field, assert_format=request.assert_format)


def _tool(request: Request) -> Tool:
    """The definition that the data is for."""
    tools = tools_in(request.schema)
    if not tools:
        return Tool(None, request.schema, "")
    if len(tools) == 1:
        return tools[0]
    name = name_in(_decoded(request))
    if name is None and has_several(bytes(request.data), partial(_decoded, request), None):
        raise _several_calls()
    if name is None:
        raise InvalidField("The schema has several tools: send the whole tool call, which names one.", field="data")
    for tool in tools:
        if tool.name == name:
            return tool
    raise InvalidField("The tool call is for none of the tools in the schema.", field="data")


def _listed(changes: list[Change]) -> list[Coercion]:
    """The first 1000 coercions; fewer if their paths are very long."""
    listed: list[Coercion] = []
    room = MAX_POINTERS
    for change in changes[:MAX_COERCIONS]:
        path = pointer(change.place)
        room -= len(path)
        if listed and room < 0:
            break
        is_omitted = change.after is NOTHING
        listed.append(
            Coercion(
                path=path,
                from_=change.before,
                to=None if is_omitted else change.after,
                from_type=type_of(change.before),
                to_type="absent" if is_omitted else type_of(change.after),
            )
        )
    return listed


ENDPOINT = Endpoint(
    name="llm-tool-validate",
    price=Price.of("0.008"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    deadline_s=10,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Validates the arguments of an LLM's tool call against the tool's JSON Schema (raw, OpenAI, Anthropic, MCP, Gemini or "
        "Vercel), "
        "optionally coerces types where that loses nothing, and returns a confidence score."
    ),
    example=Example(
        request={
            "schema": {
                "name": "book_table",
                "input_schema": {
                    "type": "object",
                    "properties": {
                        "guests": {"type": "integer", "minimum": 1},
                        "wishes": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["guests", "day"],
                },
            },
            "data": '{"guests": "4", "wishes": "by the window"}',
            "coerce": True,
        },
        response={
            "ok": True,
            "valid": False,
            "data": {"guests": 4, "wishes": ["by the window"]},
            "coercions": [
                {
                    "path": "",
                    "from": '{"guests": "4", "wishes": "by the window"}',
                    "to": {"guests": "4", "wishes": "by the window"},
                    "fromType": "string",
                    "toType": "object",
                },
                {"path": "/guests", "from": "4", "to": 4, "fromType": "string", "toType": "integer"},
                {
                    "path": "/wishes",
                    "from": "by the window",
                    "to": ["by the window"],
                    "fromType": "string",
                    "toType": "array",
                },
            ],
            "errors": [
                {
                    "path": "",
                    "keyword": "required",
                    "message": '"day" is a required property',
                    "expected": "day",
                    "schemaPath": "/required",
                }
            ],
            "confidence": 0.25,
            "dialect": "https://json-schema.org/draft/2020-12/schema",
            "coercionCount": 3,
            "errorCount": 1,
            "error": None,
            "formatAsserted": True,
            "unwrapped": None,
            "repairs": [],
        },
    ),
    run=run,
    max_body_bytes=1_100_000,
    exhausted=exhausted,
    child_limit_s=3,
)
