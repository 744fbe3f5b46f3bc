"""`repair`: returns strict JSON unchanged, and repairs anything else by the rules of the other modules."""

from __future__ import annotations

import re

from jobs.json_repair import quoted, strict
from jobs.json_repair.document import Document
from jobs.json_repair.result import Repaired, RepairKind
from jobs.json_repair.source import Source
from jobs.json_repair.unwrap import unwrap

_SURROGATE = re.compile("[\ud800-\udfff]")


def repair(text: str) -> Repaired:
    """The JSON value that a text means.

    Strict RFC 8259 JSON is returned unchanged (strict.py names the exceptions). Everything else is repaired by the rules that
    npm jsonrepair documents, and JSON is found in prose and code blocks. The work is linear in the text.

    Raises:
        NotRepairable: the text has no value (only blanks, comments, punctuation or prose), or nests deeper than 512.
    """
    source = Source(text)
    is_strict, value = strict.read(source)
    if is_strict:
        return Repaired(value, bool(source.repairs), tuple(source.repairs))
    surrogate = _SURROGATE.search(text)
    if surrogate:
        source = Source(_SURROGATE.sub("\ufffd", text))
        source.note(RepairKind.LONE_SURROGATE, surrogate.start())
    source = unwrap(source)
    value = quoted.whole(source)
    if value is None:
        value = Document(source).read()
    if not source.repairs:
        # Text that was skipped before the value (a model's reasoning, for example) has no own repair kind.
        source.note(RepairKind.STRAY_TEXT, 0)
    return Repaired(value, True, tuple(source.repairs))
