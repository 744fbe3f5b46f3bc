"""`repair`: strict JSON as it stands, anything else by the rules of the modules beside this one."""

from __future__ import annotations

import re

from jobs.json_repair import strict
from jobs.json_repair.document import Document
from jobs.json_repair.result import Repaired, RepairKind
from jobs.json_repair.source import Source
from jobs.json_repair.unwrap import unwrap

_SURROGATE = re.compile("[\ud800-\udfff]")


def repair(text: str) -> Repaired:
    """The JSON value that a text means.

    Strict RFC 8259 JSON comes back as it is (strict.py says what cannot). Everything else is repaired by the rules
    documented for npm jsonrepair, and JSON is found within prose and code blocks. The work is linear in the text.

    Raises:
        NotRepairable: there is no value in it (only blanks, comments or punctuation), or it nests deeper than 512.
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
    value = Document(source).read()
    if not source.repairs:
        # What was left out on the way to the value (a model's thoughts, say) has no rule of its own.
        source.note(RepairKind.STRAY_TEXT, 0)
    return Repaired(value, True, tuple(source.repairs))
