"""Finds texts with digits that are certainly something else: dates, times, UUIDs, IBANs, coordinates, drawings.

They are not searched for numbers, and a number beside one does not continue into it.
"""

from jobs.engines.text.linear import compiled
from jobs.pii_redact.surroundings import is_latin, joins, joins_before

_TIGHT = ("-", ".", "/")

_DATE = compiled(
    r"(?:(?:19|20)\d\d[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])"
    r"|(?:3[01]|[12]\d|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])[-/.](?:19|20)\d\d)"
    r"(?:T\d\d:?\d\d(?::?\d\d)?)?"
)
_TIME = compiled(r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?- ?\d{1,2}:\d\d)?")
_UUID = compiled(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_COORDINATES = compiled(r"[+-]?\d{1,3}\.\d{3,}°?[NS]?(?:[,; /]{1,3}[+-]?|[+-])\d{1,3}\.\d{3,}")
_FORMS = ((_DATE, _TIGHT), (_TIME, ":"), (_UUID, "-"), (_COORDINATES, "."))
"""Each form, and signs of which it has one."""
_IBAN = compiled(r"[A-Z]{2}\d\d(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,3})?")
_PATH = compiled(r"(?i)(?:[mlhvcsqta] ?[-.]?\d[-.,\d \n]*z? ?|[mlhvcsqta] ?-\.\d[-.,\d \n]*z? ?){2,}")
_NEGATIVE_FRACTION = compiled(r"(?s).*-\.\d.*")


def find(text: str) -> list[tuple[int, int]]:
    """The ranges of such texts, but for IBANs and drawings."""
    found = []
    for pattern, signs in _FORMS:
        if any(sign in text for sign in signs):
            found += [(m.start(), m.end()) for m in pattern.finditer(text) if not _is_part(text, m.start(), m.end())]
    return found


def ibans(text: str) -> list[tuple[int, int]]:
    """The ranges of IBANs with a correct check digit."""
    found = [(match.start(), match.start() + _iban_length(match[0] or "")) for match in _IBAN.finditer(text)]
    return [(start, end) for start, end in found if end > start and not _is_part(text, start, end)]


def paths(text: str) -> list[tuple[int, int]]:
    """The ranges of SVG paths, "c-.4.7.3 1.2-.72.7": commands, and numbers without their zeros."""
    if "-." not in text:
        return []
    found = [(m.start(), m.end()) for m in _PATH.finditer(text) if _NEGATIVE_FRACTION.fullmatch(m[0] or "")]
    return [(start, end) for start, end in found if not is_latin(text[start - 1 : start])]


def _is_part(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if joins_before(text, start) or joins(after):
        return True
    if after in _TIGHT and text[end + 1 : end + 2].isdigit():
        return True
    return before in _TIGHT and text[start - 2 : start - 1].isdigit()


def _iban_length(text: str) -> int:
    """How much of the text is an IBAN, by the remainder 1 (ISO 13616). The text after it may look like its last groups."""
    while text:
        compact = text.replace(" ", "")
        if 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1:
            return len(text)
        text = text.rpartition(" ")[0]
    return 0
