"""Finds phone numbers: international ones of any country, national ones in their country's form, and North American ones with
wider rules: the fictitious 555 and extensions.

After a word that announces a phone number ("Tel: 2123 4567"), a verb of calling ("call Bob on 2123 4567"), or before a word
that describes one ("2123 4567 -Office"), any 7 to 15 digits are one. Without such words, the digits must be valid in a country
that groups them this way, or that another value of the text is from (neighbours.py). Digits without separators must be a valid
North American number, or a mobile with its trunk digit, and no word may give them another meaning.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jobs.engines.text.linear import compiled
from jobs.pii_redact import phone_words, plans
from jobs.pii_redact.digits import Group, Run, runs
from jobs.pii_redact.labels import Label, Labels
from jobs.pii_redact.neighbours import Neighbours
from jobs.pii_redact.phone_forms import (
    MIN_DIGITS,
    fits,
    is_bare,
    is_decimal,
    is_grouped,
    is_thousands,
    is_usual,
    may_be_national,
)
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import glued_after, glued_before, is_latin, is_money, joins, joins_before

_SEPARATORS = " -./()[]"
_WIDEST_GAP = 4
_MOST_GROUPS = 15
_MOST_NATIONAL_GROUPS = 7
_REST = 3
_MOST_LOCAL = 11
"""Digits of a local number, with its area code."""
_MIN_UNKNOWN = 11
"""Digits with a plus sign, a calling code and a length that its country does not have. Shorter ones may be amounts."""
_MOBILE = frozenset("679")
"""First digits of the mobiles that are written in threes, as large numbers are."""
_MIN_EXTENDED = 9
"""Digits before an extension. A shorter one may be a size: 1920 1080 x2."""
_MIN_BARE = 8
"""Digits of a number without separators, from a country that the text names."""
_DATE = compiled(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_BRACKETS = (("(", ")"), ("[", "]"))
_ANY_BRACKET = frozenset("()[]")
_OPENING = frozenset("([")
_TIGHT = frozenset(".-")
"""Separators that join the last digits to a labelled number, whatever the others are."""

_NOT_PHONES = frozenset((Label.NUMBER, Label.BARCODE, Label.VERSION))
_ID_BEFORE = frozenset("#/_@-+*^")
_ID_AFTER = frozenset("@_")
_EXTENSION = compiled(
    r"(?i)[ ,;]{0,3}(?:;ext=|(?:ext(?:ension|n)?|extensión|x|poste|durchwahl|dw|interno|int|anexo|ramal|toestel)\b\.?"
    r"|x|#|доб\.?|вн\.?|内线|内線|內線|分机|分機|转|轉|내선)[ .:=-]{0,3}\d{1,7}"
)
_UNIT = compiled(
    r"(?i) ?(?:bytes?|[kmgt]i?b|bits?|hz|[mn]s|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|years?|users?|people|persons?|views?"
    r"|followers?|subscribers?|downloads?|items?|units?|rows?|records?|lines?|tokens?|points?|votes?|km|kg|miles?|dollars?"
    r"|euros?|pounds?|rupees?|yen|cents?|percent|times|requests?|blocks?|shares?|inhabitants|citizens|k?wh|g?wei|sats?)\b"
)


class _Candidate(NamedTuple):
    """Groups of a run that are written like one number: the last group, all digits, and the lengths joined by hyphens."""

    last: int
    digits: str
    shape: str


def find(text: str, groups: list[Group], labels: Labels, emails: Sequence[Span] = ()) -> list[Span]:
    """Find the phone numbers among the groups of a text, whose e-mail addresses are known."""
    all_runs = runs(text, groups, _SEPARATORS, _WIDEST_GAP)
    neighbours = Neighbours(text, {_calling_code(text, run) for run in all_runs}, emails)
    found: list[Span] = []
    for run in all_runs:
        found += _Search(text, run, labels, neighbours).spans()
    return found


def _calling_code(text: str, run: Run) -> int | None:
    """The calling code with which a run begins, if it begins with a number that has one."""
    if not _plus_length(text, run.groups[0].start):
        return None
    digits = "".join(group.digits for group in run.groups[:_MOST_NATIONAL_GROUPS])
    return plans.country_code(digits) if len(digits) > MIN_DIGITS else None


class _Search:
    """The search in one run. Each group is tried once as the start of a number, so the work is linear in the groups."""

    def __init__(self, text: str, run: Run, labels: Labels, neighbours: Neighbours) -> None:
        self._text = text
        self._run = run
        self._labels = labels
        self._neighbours = neighbours
        self._plus_length = _plus_length(text, run.groups[0].start)
        self._lasts: list[int | None] = [None] * len(run.groups)
        """For each group, the last group of the number that starts with it, if there is one."""

    def spans(self) -> list[Span]:
        """The numbers from left to right."""
        groups = self._run.groups
        # From right to left, because the text after a number may have to be a number too.
        for first in range(len(groups) - 1, -1, -1):
            self._lasts[first] = self._last(first)
        found: list[Span] = []
        first = free = 0
        while first < len(groups):
            last = self._lasts[first]
            if last is None or not self._may_begin(first, last, follows_number=bool(first) and first == free):
                first += 1
                continue
            end = groups[last].end
            found.append(Span(self._start(first, last), end + _extension_length(self._text, end), "phone"))
            first = free = last + 1
        return found

    def _last(self, first: int) -> int | None:
        """The last group of the number that starts with a group. None when the groups, or the text after them, exclude one."""
        if self._begins_with_plus(first):
            last = self._international(first)
            if last is not None:
                return last
        if self._run.before(first) in ("-", "."):
            return None
        label = self._labels.before(self._run.groups[first].start)
        if label in _NOT_PHONES:
            return None
        candidates = [item for item in self._candidates(first, label is Label.PHONE) if self._may_end(first, item.last)]
        for item in reversed(candidates):
            is_labelled = label is Label.PHONE or self._is_announced(first, item)
            if item.last == first:
                if self._is_bare(first, item.digits, Label.PHONE if is_labelled else label):
                    return first
            elif self._is_grouped(first, item):
                return item.last
            if is_labelled and is_usual(item.shape) and len(item.digits) <= plans.MAX_DIGITS:
                return self._with_rest(item, candidates)
        longest = [item.last for item in candidates if label is Label.PHONE and len(item.digits) <= plans.MAX_DIGITS]
        return max(longest, default=None)

    def _is_announced(self, first: int, item: _Candidate) -> bool:
        """Whether words around a run that is one number announce a call or describe the number, and no word contradicts."""
        groups = self._run.groups
        if first or item.last + 1 < len(groups) or len(item.digits) > _MOST_LOCAL or _DATE.fullmatch(item.digits):
            return False
        start, end = self._start(first, item.last), groups[item.last].end
        is_grouped = item.last > first
        if not (
            phone_words.says_call(self._text, start, end)
            or phone_words.describes(self._text, end, is_grouped=is_grouped)
            or (is_grouped and self._is_reached(first, item))
        ):
            return False
        return self._labels.near(groups[first].start) in (None, Label.PHONE)

    def _is_reached(self, first: int, item: _Candidate) -> bool:
        """Whether a preposition, an extension or an e-mail address beside grouped digits says that they reach somebody."""
        start, end = self._start(first, item.last), self._run.groups[item.last].end
        gaps = self._run.gaps[first : item.last]
        if not may_be_national(item.digits, item.shape, gaps):
            return False
        if (is_thousands(item.shape, gaps) and item.digits[0] not in _MOBILE) or (
            item.shape == "4-4" and gaps == ["-"]
        ):
            return False  # a large number, a range
        if (
            phone_words.says_reached(self._text, start, end)
            or self._neighbours.has_address_beside(start, end)
            or (len(item.digits) >= _MIN_EXTENDED and _extension_length(self._text, end))
        ):
            return True
        return not is_thousands(item.shape, gaps) and phone_words.may_be_reached(self._text, start, end)

    def _is_grouped(self, first: int, item: _Candidate) -> bool:
        gaps = self._run.gaps[first : item.last]
        return is_grouped(item.digits, item.shape, gaps) or self._is_of_neighbours(first, item)

    def _is_of_neighbours(self, first: int, item: _Candidate) -> bool:
        """Whether grouped digits are a number of a country that the rest of the text names, and no word contradicts."""
        if not self._neighbours.has_country_of(item.digits, item.shape):
            return False
        if not may_be_national(item.digits, item.shape, self._run.gaps[first : item.last]):
            return False
        return self._labels.near(self._run.groups[first].start) in (None, Label.PHONE)

    def _with_rest(self, item: _Candidate, candidates: list[_Candidate]) -> int:
        """The last group of a number in usual groups. If three digits end the run after it, they belong to the number, which
        then has an unusual grouping: they cannot be a number themselves."""
        rest = item.last + 1
        is_rest = rest == len(self._run.groups) - 1 and len(self._run.groups[rest].digits) == _REST
        return rest if is_rest and any(other.last == rest for other in candidates) else item.last

    def _international(self, first: int) -> int | None:
        """The last group of the longest number with a calling code. A number that may be in use comes before one that may
        not."""
        groups, gaps = self._run.groups, self._run.gaps
        digits = ""
        possible: int | None = None
        valid: int | None = None
        for last in range(first, min(first + _MOST_GROUPS, len(groups))):
            group = groups[last]
            is_optional_trunk = group.digits == "0" and last > first and gaps[last - 1].endswith("(")
            digits += "" if is_optional_trunk else group.digits
            if len(digits) > plans.MAX_DIGITS + 1:
                break
            if len(digits) < MIN_DIGITS or self._is_glued_after(group.end):
                continue
            if is_decimal(groups[first].digits, gaps[first:last]):
                continue
            if plans.is_valid(digits):
                valid = last
                if last + 1 < len(groups) and self._lasts[last + 1] is not None:
                    break  # the next group starts a number itself
            elif self._run.after(last) in ("-", "."):
                continue
            elif plans.is_possible(digits) or (last == len(groups) - 1 and self._may_be_unknown(digits)):
                possible = last
        return possible if valid is None else valid

    def _may_be_unknown(self, digits: str) -> bool:
        """Whether digits with a plus sign are a phone, although their country has no numbers of this length."""
        return _MIN_UNKNOWN <= len(digits) <= plans.MAX_DIGITS and plans.country_code(digits) is not None

    def _candidates(self, first: int, is_labelled: bool) -> list[_Candidate]:
        groups, gaps = self._run.groups, self._run.gaps
        found = []
        digits, shape = "", ""
        for last in range(first, min(first + _MOST_NATIONAL_GROUPS, len(groups))):
            if last > first and not fits(gaps[first:last]) and not (is_labelled and gaps[last - 1] in _TIGHT):
                break
            digits += groups[last].digits
            shape += f"-{len(groups[last].digits)}" if shape else str(len(groups[last].digits))
            if len(digits) > plans.MAX_DIGITS + 2:
                break
            if len(digits) >= MIN_DIGITS and self._brackets_match(first, last):
                found.append(_Candidate(last, digits, shape))
        return found

    def _is_bare(self, index: int, digits: str, label: Label | None) -> bool:
        """Whether digits without separators are a number. The words around them count most."""
        start, end = self._run.groups[index].start, self._run.groups[index].end
        is_labelled = label is Label.PHONE
        if not is_labelled and (label is not Label.SUBJECT or self._text[end : end + 2].lstrip(" ").startswith("(")):
            is_labelled = self._labels.after(end) is Label.PHONE
        if is_labelled:
            return len(digits) <= plans.MAX_DIGITS
        near = self._labels.near(start)
        before = self._text[start - 1 : start]
        is_second = before == "/" and near is Label.PHONE and self._text[start - 2 : start - 1].isdigit()
        if (before in _ID_BEFORE and not is_second) or self._text[end : end + 1] in _ID_AFTER:
            return False
        if self._text[start - 2 : start] == "[`":
            return False  # a commit in a list of changes
        if near not in (None, Label.PHONE) or _UNIT.match(self._text[end : end + 16]):
            return False
        if is_bare(digits) or (near is Label.PHONE and 10 <= len(digits) <= 12):
            return True
        if len(digits) < _MIN_BARE or _DATE.fullmatch(digits):
            return False
        return self._neighbours.has_country_of(digits, "")

    def _may_begin(self, first: int, last: int, *, follows_number: bool) -> bool:
        """Whether the text before this place allows a number to begin here."""
        if self._begins_with_plus(first):
            return True
        text, start = self._text, self._start(first, last)
        if glued_before(text, start) and not (is_latin(text[start - 1]) and self._labels.before(start) is Label.PHONE):
            return False
        if is_money(text, start, self._run.groups[last].end):
            return False
        if text[start - 1 : start] in ("-", "/", "_") and joins(text[start - 2 : start - 1]) and not follows_number:
            return self._labels.before(start) is Label.PHONE
        gap = self._run.before(first)
        return first == 0 or follows_number or gap != " " or self._is_distinct(first, last)

    def _may_end(self, first: int, last: int) -> bool:
        """Whether the text after this place allows a number to end here."""
        end, gap = self._run.groups[last].end, self._run.after(last)
        if self._is_glued_after(end) or self._text[end : end + 1] == "_":
            return False
        if self._text[end : end + 1] == "-" and self._text[end + 1 : end + 2].isalnum():
            return False
        if gap == "/":
            return "/" not in "".join(self._run.gaps[first:last])
        return gap != " " or self._is_distinct(first, last) or self._lasts[last + 1] is not None

    def _is_distinct(self, first: int, last: int) -> bool:
        """Whether its separators, or a label, distinguish a number from digits that a space joins to it."""
        gaps = self._run.gaps[first:last]
        return set(gaps) != {" "} or self._labels.before(self._run.groups[first].start) is Label.PHONE

    def _is_glued_after(self, end: int) -> bool:
        return glued_after(self._text, end) and not _extension_length(self._text, end)

    def _begins_with_plus(self, first: int) -> bool:
        return first == 0 and self._plus_length > 0

    def _brackets_match(self, first: int, last: int) -> bool:
        inside = self._text[self._start(first, last) : self._run.groups[last].end]
        if _ANY_BRACKET.isdisjoint(inside):
            return True
        return all(inside.count(opening) == inside.count(closing) <= 1 for opening, closing in _BRACKETS)

    def _start(self, first: int, last: int) -> int:
        """The start of the number, with its plus sign and an opening bracket that is closed inside."""
        text, start = self._text, self._run.groups[first].start
        if self._begins_with_plus(first):
            start -= self._plus_length
        if text[start - 1 : start] not in _OPENING:
            return start
        inside = text[start : self._run.groups[last].end]
        for opening, closing in _BRACKETS:
            if text[start - 1 : start] == opening and inside.count(closing) > inside.count(opening):
                start -= 1
        return start


def _plus_length(text: str, start: int) -> int:
    """The length of the plus sign before digits; 0 when there is none, or when it ends a word or belongs to a sum."""
    before = text[max(0, start - 3) : start]
    if before in ("%2B", "%2b"):
        return 3  # in a URL
    length = 2 if before.endswith(("+ ", "+(")) else 1
    return length if before[-length:].startswith("+") and not joins_before(text, start - length) else 0


def _extension_length(text: str, end: int) -> int:
    """The length of an extension that follows a number."""
    rest = text[end : end + 32]
    match = _EXTENSION.match(rest)
    return 0 if match is None or joins(rest[match.end() : match.end() + 1]) else match.end()
