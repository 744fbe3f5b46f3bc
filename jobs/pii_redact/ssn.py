"""Finds US social security numbers.

Never issued: area 000, 666 and 900 to 999, group 00, serial 0000 (Social Security Administration, "SSN randomization").
"""

from jobs.pii_redact import plans
from jobs.pii_redact.digits import Group, Run, runs
from jobs.pii_redact.labels import Label, Labels
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import is_barrier, is_escape, is_latin, is_money

_SEPARATORS = ("-", " ", ".", " - ")
_PARTS = (3, 2, 4)
_MISPLACED = ((3, 6), (5, 4), (9,))
"""Forms that count only with a label: some or all parts run together."""


def find(text: str, groups: list[Group], labels: Labels) -> list[Span]:
    """Find the social security numbers among the groups of a text."""
    found = []
    for run in runs(text, groups, " -.", 3):
        index = 0
        while index < len(run.groups):
            last = _number_at(text, run, index, labels)
            if last is not None:
                found.append(Span(run.groups[index].start, run.groups[last].end, "ssn"))
                index = last
            index += 1
    return found


def is_ssn(digits: str) -> bool:
    """Whether nine digits may have been issued."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"


def _number_at(text: str, run: Run, first: int, labels: Labels) -> int | None:
    """The last group of the number that starts with a group, if there is one."""
    for parts in (_PARTS, *_MISPLACED):
        last = first + len(parts) - 1
        chosen = run.groups[first : last + 1]
        if tuple(len(group.digits) for group in chosen) != parts or not is_ssn("".join(g.digits for g in chosen)):
            continue
        gaps = set(run.gaps[first:last])
        if len(gaps) > 1 or not gaps <= set(_SEPARATORS) or _is_part(text, run, first, last, gaps):
            continue
        if parts == _PARTS and not (gaps == {" "} and _may_be_else(run, first, last, labels)):
            return last
        if _labelled(chosen[0].start, chosen[-1].end, labels) and not is_money(text, chosen[0].start, chosen[-1].end):
            return last
    return None


def _is_part(text: str, run: Run, first: int, last: int, gaps: set[str]) -> bool:
    """Whether the digits are part of something longer, or have a calling code."""
    if run.before(first) in ("-", ".") or run.after(last) in ("-", "."):
        return True
    start, end = run.groups[first].start, run.groups[last].end
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == "+" and plans.is_valid("".join(group.digits for group in run.groups[first : last + 1])):
        return True
    if is_barrier(before) or is_barrier(after) or is_latin(after):
        return True
    if after == "." and text[end + 1 : end + 2].isdigit():
        return True
    is_label = is_escape(text, start - 1) or text[max(0, start - 3) : start].lower().endswith("ssn")
    return is_latin(before) and not is_label


def _may_be_else(run: Run, first: int, last: int, labels: Labels) -> bool:
    """Whether digits with only spaces between them are joined to more digits, or called a phone."""
    return " " in (run.before(first), run.after(last)) or labels.before(run.groups[first].start) is Label.PHONE


def _labelled(start: int, end: int, labels: Labels) -> bool:
    return Label.SSN in (labels.before(start), labels.near(start), labels.after(end))
