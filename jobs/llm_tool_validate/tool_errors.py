"""Describes the errors of a tool's arguments, so that their author can correct them."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
from jsonschema_rs import ValidationErrorKind

from jobs.engines.json_schema.check import cut, pointer
from jobs.fields import doc
from jobs.llm_tool_validate.document import SEVERAL_FIT, UNIONS, Document, Part
from jobs.llm_tool_validate.places import Place, get
from jobs.llm_tool_validate.violations import Violation

MAX_ERRORS = 100
MAX_POINTERS = 64 * 1024
"""Characters of all paths together. A key may be as long as the data."""
MAX_EXPECTED = 1000
"""Bytes as JSON."""
MAX_DESCENT = 8
"""How many levels of branches within branches a message describes."""


class ToolError(msgspec.Struct, frozen=True, rename="camel"):
    """One rule that the data breaks."""

    path: Annotated[str, doc("JSON Pointer to the value that breaks the rule. Empty for the whole data.")]
    keyword: Annotated[str, doc("The schema keyword that is broken; `falseSchema` where the schema is `false`.")]
    message: Annotated[str, doc("What is wrong, in at most 200 characters.")]
    expected: Annotated[
        Any,
        doc(
            "The keyword's value in the schema; the missing property; of `oneOf` the indexes of the branches that fit, of "
            "which there must be one. Null when longer than 1,000 bytes."
        ),
    ]
    schema_path: Annotated[
        str, doc("JSON Pointer to the rule in the schema, with references followed, from the nearest `$id`.")
    ]


def described(document: Document, data: Any, violations: Sequence[Violation]) -> list[ToolError]:
    """The first 100 errors; fewer if their paths are very long."""
    errors: list[ToolError] = []
    room = MAX_POINTERS
    for violation in violations[:MAX_ERRORS]:
        path, schema_path = pointer(violation.place), violation.schema_path
        room -= len(path) + len(schema_path)
        if errors and room < 0:
            break
        message = cut(_message(document, data, violation))
        errors.append(ToolError(path, violation.rule, message, _expected(document, data, violation), schema_path))
    return errors


def _expected(document: Document, data: Any, violation: Violation) -> Any:
    if isinstance(violation.kind, ValidationErrorKind.Required):
        expected: Any = violation.kind.property
    elif violation.keyword == "oneOf":
        value = get(data, violation.place)
        expected = [index for index, one in enumerate(document.branches(violation.location)) if one.is_valid(value)]
    else:
        expected = document.rule(violation.location)
    return expected if len(msgspec.json.encode(expected)) <= MAX_EXPECTED else None


def _message(document: Document, data: Any, violation: Violation) -> str:
    """The library's message. For a union, it also says what is wrong with the closest branch, and so on inwards."""
    place: Place = ()
    innermost, value = violation, get(data, violation.place)
    for _ in range(MAX_DESCENT):
        closest = _closest(document.branches(innermost.location), value) if innermost.keyword in UNIONS else None
        if closest is None:
            break
        place, innermost, value = place + closest.place, closest, get(value, closest.place)
    if innermost is violation:
        has_fitting = violation.keyword == "oneOf" and any(
            branch.is_valid(value) for branch in document.branches(violation.location)
        )
        return SEVERAL_FIT if has_fitting else violation.error.message
    where = f"at {pointer(place)}: " if place else ""
    return f"value fits none of '{violation.keyword}'; in the closest, {where}{innermost.error.message}"


def _closest(branches: Iterable[Part], value: Any) -> Violation | None:
    """The first error of the closest branch: one that allows the type, then fits the constants, then has the fewest errors."""
    candidates = []
    for branch in branches:
        reasons = branch.violations(value)
        if not reasons:
            return None
        if not any(reason.keyword == "type" and not reason.place for reason in reasons):
            constants = sum(reason.keyword in ("const", "enum") for reason in reasons)
            candidates.append((constants, len(reasons), reasons[0]))
    return min(candidates, key=lambda candidate: candidate[:2])[2] if candidates else None
