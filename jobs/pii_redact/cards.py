"""Finds payment card numbers: 13 to 19 digits in an issuer's range, with a correct Luhn check digit."""

from jobs.pii_redact import plans
from jobs.pii_redact.digits import Group, Run, runs
from jobs.pii_redact.issuers import network
from jobs.pii_redact.labels import Label, Labels
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import glued_after, glued_before, is_money

MIN_DIGITS, MAX_DIGITS = 13, 19

_TIGHT = ("-", ".")
"""Separators that join the digits on both sides to one number."""
_FOURS = "4-4-4-4"
_PRINTED = frozenset((_FOURS, "4-6-5", "4-6-4", "4-4-5", "4-5-6", "4-4-4-4-3", "4-4-4-4-2", "6-13", "4-3-3-3"))
"""How networks group the digits. Other groupings count only when no other number is beside the card."""
_FIRST_PRINTED = 4
_HEX = frozenset("0123456789abcdefABCDEF")


def find(text: str, groups: list[Group], labels: Labels) -> list[Span]:
    """Find the cards among the groups of a text."""
    found: list[Span] = []
    for run in runs(text, groups, " -.", 3):
        lasts: list[int | None] = [None] * len(run.groups)
        # From right to left, because the text after a card may have to be a card too.
        for first in range(len(run.groups) - 1, -1, -1):
            lasts[first] = _last(text, run, first, labels, lasts)
        first = free = 0
        while first < len(run.groups):
            last = lasts[first]
            if last is None or (first != free and _follows_fours(run, first, last)):
                first += 1
                continue
            found.append(Span(run.groups[first].start, run.groups[last].end, "credit_card"))
            first = free = last + 1
    return found


def _last(text: str, run: Run, first: int, labels: Labels, lasts: list[int | None]) -> int | None:
    """The last group of a card that starts with a group. None when the groups, or the text after them, exclude a card."""
    if first and len(run.groups[first].digits) < _FIRST_PRINTED:
        return None
    digits, shape = "", ""
    for last in range(first, len(run.groups)):
        digits += run.groups[last].digits
        shape += f"-{len(run.groups[last].digits)}" if shape else str(len(run.groups[last].digits))
        if len(digits) > MAX_DIGITS:
            return None
        if len(digits) < MIN_DIGITS or not _is_written_so(run, first, last, shape):
            continue
        if shape == _FOURS and _precedes_fours(run, last) and lasts[last + 1] is None:
            continue
        if shape == _FOURS and _is_in_hex(text, run.groups[first].start, run.groups[last].end):
            continue
        if is_card(digits) and _stands_alone(text, run.groups[first], run.groups[last], digits, labels):
            return last
    return None


def is_card(digits: str) -> bool:
    """Whether an issuer's range and the check digit fit."""
    return network(digits) is not None and _luhn(digits)


def _is_written_so(run: Run, first: int, last: int, shape: str) -> bool:
    """Whether the groups can be one number, and no tight separator joins them to others of the run."""
    is_printed = first == last or shape in _PRINTED
    inside = set(run.gaps[first:last])
    if any("." in gap for gap in inside) and not (inside == {"."} and is_printed):
        return False
    if run.before(first) in _TIGHT or run.after(last) in _TIGHT:
        return False
    return is_printed or (first == 0 and last == len(run.groups) - 1)


def _follows_fours(run: Run, first: int, last: int) -> bool:
    """Whether a group of four that is not a year precedes a card in groups of four."""
    before = run.groups[first - 1].digits if first else ""
    return last - first == 3 and len(before) == 4 and not before.startswith(("19", "20")) and run.before(first) == " "


def _precedes_fours(run: Run, last: int) -> bool:
    """Whether a group of four that is neither a year nor an expiry date follows a card in groups of four."""
    after = run.groups[last + 1].digits if last + 1 < len(run.groups) else ""
    is_date = after.startswith("20") or "01" <= after[:2] <= "12"
    return len(after) == 4 and not is_date and run.after(last) == " "


def _is_in_hex(text: str, start: int, end: int) -> bool:
    """Whether the digits are four words of a hexadecimal table."""
    before, after = text[max(0, start - 8) : start].split(), text[end : end + 8].split()
    words = [word for word in (*before[-1:], *after[:1]) if len(word) in (4, 5) and _HEX.issuperset(word)]
    return any(not word.isdigit() and not word.isalpha() for word in words)


def _stands_alone(text: str, first: Group, last: Group, digits: str, labels: Labels) -> bool:
    """Whether neither the surroundings of the digits nor a word says that they are something else."""
    is_track = text[max(0, first.start - 2) : first.start] == "%B"  # the first track of a magnetic stripe, ISO/IEC 7813
    if (glued_before(text, first.start) and not is_track) or glued_after(text, last.end):
        return False
    if is_money(text, first.start, last.end):
        return False
    label = labels.before(first.start)
    if first is last and label is Label.BARCODE:
        return False
    if len(digits) <= plans.MAX_DIGITS and _is_called(text, first.start, label) and plans.is_valid(digits):
        # German mobiles with their calling code have the length and the first digits of the shortest cards.
        return False
    if digits[0] == "1" and len(digits) == 15 and len(first.digits) != 4:
        # UATP cards begin like half of all account numbers, and one in ten of those has a correct check digit.
        return labels.near(first.start) is Label.CARD
    return True


def _is_called(text: str, start: int, label: Label | None) -> bool:
    """Whether a plus sign or a word says that this is a phone number."""
    return label is Label.PHONE or text[max(0, start - 2) : start].rstrip(" ([").endswith("+")


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) << (place & 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
