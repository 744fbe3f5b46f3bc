"""json-repair: repairs malformed JSON, and optionally validates it against a JSON Schema.

jobs/json_repair has the rules. The limits of the answer:

- Strict RFC 8259 JSON is returned as the same value with `wasModified: false`. Of duplicate keys the last one counts.
- Integers are exact up to 4300 digits. Other numbers are doubles, as in nearly every JSON reader: `1.0` stays `1.0`, `1e5`
  becomes `100000.0`, `-0` becomes `-0.0`, and digits beyond a double's precision are lost.
- A number beyond the range of a double (`1e400`) and a longer integer become strings with their own text, because readers
  would fail or read Infinity. NaN and Infinity, which JSON does not have, become null. A lone surrogate becomes U+FFFD.
  All of these count as modified.
- A string with JSON in it stays a string, but for a schema whose type it breaks: then it is what is in it (encoded.py).
"""

from typing import Annotated, Any, Literal

import msgspec

from jobs.engines.json_schema.backtracking_patterns import TooComplex
from jobs.engines.json_schema.check import MAX_BYTES, Schema, SchemaError, compile_schema
from jobs.fields import doc
from jobs.json_repair import NotRepairable, Repair, repair, worded
from jobs.json_repair.encoded import decoded
from jobs.ports import Context
from shared.endpoint import MOST_BYTES, Category, Endpoint, Example, Flavour, Pool
from shared.money import Price

MAX_CHARACTERS = 100_000
"""Unicode code points. The body may need twelve bytes for one of them: an escaped surrogate pair."""


class Request(msgspec.Struct, frozen=True, rename="camel"):
    malformed: Annotated[
        str, msgspec.Meta(min_length=1, max_length=MAX_CHARACTERS, description="Text that should be JSON.")
    ]
    schema: Annotated[
        Any,
        msgspec.Meta(
            description="JSON Schema for the repaired value, at most 64 KB, without references to other documents.",
            extra={MOST_BYTES: 2 * MAX_BYTES},
            extra_json_schema={
                "anyOf": [{"type": "object", "additionalProperties": True}, {"type": "boolean"}, {"type": "null"}]
            },
        ),
    ] = None
    assert_format: Annotated[
        bool, msgspec.Meta(description="Whether a value that breaks a `format` of the schema is invalid.")
    ] = True

    def __post_init__(self) -> None:
        if self.schema is not None:
            compile_schema(self.schema, field="schema", assert_format=self.assert_format)


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Annotated[bool, doc("Whether the text was repaired and fits the schema, if there is one.")]
    repaired: Annotated[Any, doc("The JSON value. Null when the text cannot be repaired; see `error`.")]
    was_modified: Annotated[bool | None, doc("False when the text was strict JSON. Null when there is no value.")]
    repairs: Annotated[list[Repair], doc("What was repaired, in the order of the text. At most 100 are listed.")]
    schema_valid: Annotated[bool | None, doc("Whether the value fits the schema. Null without a schema or a value.")]
    schema_errors: Annotated[list[SchemaError], doc("The rules that the value breaks, at most 50 of them.")]
    error: Annotated[
        Literal["not_repairable", "too_complex"] | None,
        doc("Why there is no value: `not_repairable`, or `too_complex` when the check took too long. Else null."),
    ]
    dialect: Annotated[str | None, doc("URI of the JSON Schema draft that was applied. Null without a schema.")]
    format_asserted: Annotated[bool | None, doc("Whether `format` keywords were enforced. Null without a schema.")]


def run(request: Request, context: Context) -> Response:
    """Repair the text, then validate the value."""
    schema = _compiled(request)
    try:
        repaired = repair(request.malformed)
        if schema is not None and isinstance(repaired.value, str):
            repaired = decoded(request.malformed, repaired, schema)
        errors = None if schema is None else schema.errors(repaired.value)
    except NotRepairable as failure:
        return _without_value(failure.reason, schema)
    except TooComplex:
        return _without_value("too_complex", schema)
    return Response(
        ok=not errors,
        repaired=repaired.value,
        was_modified=repaired.was_modified,
        repairs=worded(request.malformed, repaired.repairs),
        schema_valid=None if errors is None else not errors,
        schema_errors=errors or [],
        error=None,
        dialect=schema.dialect if schema else None,
        format_asserted=schema.assert_format if schema else None,
    )


def _compiled(request: Request) -> Schema | None:
    return None if request.schema is None else compile_schema(request.schema, assert_format=request.assert_format)


def exhausted(request: Request) -> Response:
    """The answer when the time ran out. Repairing is linear, so the schema is the cause."""
    return _without_value("too_complex", _compiled(request))


def _without_value(error: Literal["not_repairable", "too_complex"], schema: Schema | None) -> Response:
    return Response(
        ok=False,
        repaired=None,
        was_modified=None,
        repairs=[],
        schema_valid=None,
        schema_errors=[],
        error=error,
        dialect=schema.dialect if schema else None,
        format_asserted=schema.assert_format if schema else None,
    )


ENDPOINT = Endpoint(
    name="json-repair",
    price=Price.of("0.005"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    deadline_s=5,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Repairs near-JSON (trailing commas, single quotes, unquoted keys, missing brackets, truncated or fenced output, "
        "JSON in prose) and optionally validates the value against a JSON Schema."
    ),
    example=Example(
        request={
            "malformed": "{name: 'Ada', langs: ['en', 'fr',], age: 36",
            "schema": {"type": "object", "required": ["name"], "properties": {"age": {"type": "integer"}}},
        },
        response={
            "ok": True,
            "repaired": {"name": "Ada", "langs": ["en", "fr"], "age": 36},
            "wasModified": True,
            "repairs": [
                {"kind": "unquoted_key", "offset": 1, "before": "name", "after": '"name"'},
                {"kind": "single_quotes", "offset": 7, "before": "'", "after": '"'},
                {"kind": "unquoted_key", "offset": 14, "before": "langs", "after": '"langs"'},
                {"kind": "single_quotes", "offset": 22, "before": "'", "after": '"'},
                {"kind": "single_quotes", "offset": 28, "before": "'", "after": '"'},
                {"kind": "trailing_comma", "offset": 32, "before": ",", "after": ""},
                {"kind": "unquoted_key", "offset": 36, "before": "age", "after": '"age"'},
                {"kind": "missing_bracket", "offset": 43, "before": "", "after": "}"},
            ],
            "schemaValid": True,
            "schemaErrors": [],
            "error": None,
            "dialect": "https://json-schema.org/draft/2020-12/schema",
            "formatAsserted": True,
        },
    ),
    run=run,
    max_body_bytes=1_500_000,
    exhausted=exhausted,
)
