"""Coerces arguments that came as a text, and repairs the text where it is no JSON, because it was cut off for example."""

from typing import Any

import msgspec

from jobs.json_repair import NotRepairable, Repair, Repaired, RepairKind, repair, worded
from jobs.llm_tool_validate.document import Part
from jobs.llm_tool_validate.solve import MAX_LEVELS, Change, Solution, solve
from jobs.llm_tool_validate.texts import looks_like_a_container
from shared.raw_json import levels

MAX_REPAIRED = 100_000
"""Characters of a text that is repaired, as in json-repair."""

_LOSSLESS = frozenset(
    {
        *(RepairKind.MISSING_BRACKET, RepairKind.MISSING_QUOTE, RepairKind.TRUNCATED, RepairKind.TRAILING_COMMA),
        *(RepairKind.CODE_FENCE, RepairKind.COMMENT, RepairKind.CONTROL_CHARACTER, RepairKind.INVALID_ESCAPE),
        *(RepairKind.MISSING_COMMA, RepairKind.UNESCAPED_QUOTE, RepairKind.UNQUOTED_KEY),
    }
)
"""What a text lacks at its end, and slips of syntax. A tuple, a call or a number out of range has another meaning."""


def coerced(root: Part, data: Any) -> tuple[Solution, list[Repair]]:
    """The data coerced, and what had to be repaired before, in a text of arguments that is no JSON."""
    solution = solve(root, data)
    text = solution.value
    if not (isinstance(text, str) and solution.violations and looks_like_a_container(text)):
        return solution, []
    repaired = _repaired(text)
    if repaired is None:
        return solution, []
    again = solve(root, repaired.value)
    if any(violation.keyword == "type" and not violation.place for violation in again.violations):
        return solution, []
    change = Change((), text, repaired.value, wraps=False)
    return Solution(again.value, [change, *again.changes], again.violations), worded(text, repaired.repairs)


def _repaired(text: str) -> Repaired | None:
    """The object or array that a text was meant as. None when it is JSON, or needs a repair that may lose something."""
    if len(text) > MAX_REPAIRED:
        return None
    try:
        repaired = repair(text)
    except NotRepairable:
        return None
    fits = isinstance(repaired.value, dict | list) and levels(msgspec.json.encode(repaired.value)) <= MAX_LEVELS
    return (
        repaired if fits and repaired.repairs and _LOSSLESS.issuperset(one.kind for one in repaired.repairs) else None
    )
