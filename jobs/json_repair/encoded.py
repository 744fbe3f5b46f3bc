"""Reads JSON that was encoded as a string once too often, where a schema says that no string is wanted."""

import re
from collections.abc import Sequence

from jobs.engines.json_schema.check import Schema
from jobs.json_repair.repairer import repair
from jobs.json_repair.result import MAX_REPAIRS, NotRepairable, Repair, Repaired, RepairKind

_LEVELS = 4
"""How often a value may have been encoded."""
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


def decoded(text: str, repaired: Repaired, schema: Schema) -> Repaired:
    """The object or array that is in the string of a text, when the schema wants one. Else what was repaired already.

    Raises:
        TooComplex: as `Schema.errors` does.
    """
    value, repairs = repaired.value, list(repaired.repairs)
    origins: Sequence[int] = range(len(text))
    for _ in range(_LEVELS):
        if not isinstance(value, str) or not value or not _wants_another_type(schema, value):
            return repaired
        origins = [origins[place] for place in _places(text, value)]
        try:
            inner = repair(value)
        except NotRepairable:
            return repaired
        repairs.append(Repair(RepairKind.ESCAPED, origins[0]))
        repairs += [
            Repair(one.kind, origins[min(one.offset, len(value) - 1)], after=one.after) for one in inner.repairs
        ]
        text, value = value, inner.value
        if isinstance(value, dict | list):
            found = Repaired(value, True, tuple(repairs[:MAX_REPAIRS]))
            return repaired if _wants_another_type(schema, value) else found
    return repaired


def _wants_another_type(schema: Schema, value: object) -> bool:
    return any(error.keyword == "type" and not error.path for error in schema.errors(value))


def _places(text: str, value: str) -> Sequence[int]:
    """Where each character of a string's value is in its text. The string's start for all, when it is no JSON string."""
    start = text.find('"') + 1
    places = [match.start() for match in _CHARACTER.finditer(text, start, max(start, text.rfind('"')))]
    return places if len(places) == len(value) else [max(0, start - 1)] * len(value)
