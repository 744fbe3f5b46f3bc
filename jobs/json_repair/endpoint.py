"""json-repair: what malformed JSON was meant to be, and optionally whether that fits a JSON Schema.

The rules are in jobs/json_repair. What the answer keeps and what it cannot:

- Strict RFC 8259 JSON comes back as the same value with `wasModified: false`; of duplicate keys the last one stays.
- Integers are exact up to 4300 digits. Other numbers are doubles, as in nearly every JSON reader: `1.0` stays `1.0` and
  `1e5` becomes `100000.0`, `-0` becomes `-0.0`; digits beyond a double's precision are lost.
- A number that no double can hold (`1e400`) and a longer integer become strings of their own text: readers would make
  Infinity of them, or fail. NaN and Infinity, which JSON does not have, become null. A lone surrogate becomes U+FFFD.
  All of these count as modified.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from jobs.json_repair import NotRepairable, repair
from jobs.json_schema.check import MAX_BYTES, SchemaError, compile_schema
from jobs.ports import Context
from shared.endpoint import MOST_BYTES, Category, Endpoint, Example, Flavour, Pool
from shared.money import Price

MAX_CHARACTERS = 100_000
"""Unicode code points. A body may need twelve bytes for one of them: an escaped surrogate pair."""


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """`malformed`: 1 to 100 000 code points. `schema`: a JSON Schema of at most 64 KB; absent and null are the same."""

    malformed: Annotated[
        str, msgspec.Meta(min_length=1, max_length=MAX_CHARACTERS, description="Text that should be JSON.")
    ]
    schema: Annotated[
        Any,
        msgspec.Meta(
            description="JSON Schema for the repaired value; no references to other documents, no look-around in patterns.",
            extra={MOST_BYTES: 2 * MAX_BYTES},
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.schema is not None:
            compile_schema(self.schema, field="schema")


class Repair(msgspec.Struct, frozen=True, rename="camel"):
    """One thing that was put right: what it was, and the code point of `malformed` where it was."""

    kind: str
    offset: int


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """What was made of the text.

    `ok`: it was repaired and fits the schema, if there is one. `repaired`: the value, null when there is none.
    `wasModified`: false when the text already was strict JSON, null when there is no value. `repairs`: the first 100.
    `schemaValid`: null without a schema or a value. `schemaErrors`: the first 50. `error`: why there is no value.
    """

    ok: bool
    repaired: Any
    was_modified: bool | None
    repairs: list[Repair]
    schema_valid: bool | None
    schema_errors: list[SchemaError]
    error: Literal["not_repairable", "too_complex"] | None


def run(request: Request, context: Context) -> Response:
    """Repair it, then check it."""
    try:
        repaired = repair(request.malformed)
    except NotRepairable as failure:
        return _without_value(failure.reason)
    errors = None if request.schema is None else compile_schema(request.schema).errors(repaired.value)
    return Response(
        ok=not errors,
        repaired=repaired.value,
        was_modified=repaired.was_modified,
        repairs=[Repair(kind=item.kind, offset=item.offset) for item in repaired.repairs],
        schema_valid=None if errors is None else not errors,
        schema_errors=errors or [],
        error=None,
    )


def exhausted(request: Request) -> Response:
    """The answer when the time ran out. Repairing is linear, so it is the schema that takes forever."""
    return _without_value("too_complex")


def _without_value(error: Literal["not_repairable", "too_complex"]) -> Response:
    return Response(
        ok=False,
        repaired=None,
        was_modified=None,
        repairs=[],
        schema_valid=None,
        schema_errors=[],
        error=error,
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
                {"kind": "unquoted_key", "offset": 1},
                {"kind": "single_quotes", "offset": 7},
                {"kind": "unquoted_key", "offset": 14},
                {"kind": "single_quotes", "offset": 22},
                {"kind": "single_quotes", "offset": 28},
                {"kind": "trailing_comma", "offset": 32},
                {"kind": "unquoted_key", "offset": 36},
                {"kind": "missing_bracket", "offset": 43},
            ],
            "schemaValid": True,
            "schemaErrors": [],
            "error": None,
        },
    ),
    run=run,
    max_body_bytes=1_500_000,
    exhausted=exhausted,
)
