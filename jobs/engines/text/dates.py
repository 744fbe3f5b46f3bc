"""Converts the dates of feeds to ISO 8601 in UTC. A text that is not a date, or has no year, gives None.

A time without a zone, and a day without a time, are read as UTC, as in W3C's date and time format and other feed readers.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

_MAX = 100
_NAMES = re.findall(r"\w+", "january february march april may june july august september october november december")
_MONTHS = {form: n for n, name in enumerate(_NAMES, 1) for form in (name, name[:3])} | {"sept": 9}
_EAST = "west=1 bst=1 cet=1 met=1 cest=2 mest=2 sast=2 eet=2 eest=3 msk=3 pkt=5 hkt=8 sgt=8 awst=8 jst=9 kst=9 acst=9.5"
_FAR_EAST = "acdt=10.5 aest=10 aedt=11 nzst=12 nzdt=13"
_NONE = "z=0 ut=0 utc=0 gmt=0 wet=0"
_WEST = (
    "ndt=-2.5 nst=-3.5 adt=-3 ast=-4 edt=-4 est=-5 cdt=-5 cst=-6 mdt=-6 mst=-7 pdt=-7 pst=-8 akdt=-8 akst=-9 hst=-10"
)
_HOURS = {name: float(hours) for name, hours in re.findall(r"(\w+)=(\S+)", " ".join((_EAST, _FAR_EAST, _NONE, _WEST)))}
"""Zones by name, where one meaning is far more frequent than the others."""

_ZONE = r"(?P<zone>[A-Za-z]{1,5})?\s?(?P<offset>[+-]\d{1,2}(?::?\d{2})?)?"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d{1,12})?)?"
_TIME = rf"(?:(?:[Tt,]|\s|\sat\s)\s?{_CLOCK}(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?\s?{_ZONE})?"
_WEEKDAY = re.compile(r"(?:[A-Za-z]+\.?,|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?)\s?", re.IGNORECASE)
_COMMENT = re.compile(r"\s?\([^()]*\)")
_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?P<year>\d{{4}})(?:[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}){_TIME})?)?",
        rf"(?P<year>\d{{4}})(?P<month>\d{{2}})(?P<day>\d{{2}})"
        rf"(?:T(?P<hour>\d{{2}})(?P<minute>\d{{2}})(?P<second>\d{{2}})?(?P<half>)?{_ZONE})?",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s/-]\s?(?P<name>[A-Za-z]{{3,9}})\.?[\s/,-]\s?(?P<year>\d{{2,4}}){_TIME}",
        rf"(?P<name>[A-Za-z]{{3,9}})\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year>\d{{4}}){_TIME}",
        rf"(?P<name>[A-Za-z]{{3,9}})\s(?P<day>\d{{1,2}})\s{_CLOCK}(?P<half>)?\s?{_ZONE}\s(?P<year>\d{{4}})",
    )
)


def first_date(texts: Iterable[str | None]) -> str | None:
    """The first text that is a date, converted."""
    return next((date for text in texts if text and (date := iso_date(text))), None)


def iso_date(text: str) -> str | None:
    """Convert a date to ``2026-11-20T15:04:05Z``, or return None."""
    if len(text) > _MAX:
        return None
    text = _COMMENT.sub("", " ".join(text.split()))
    text = _WEEKDAY.sub("", text, count=1) if _WEEKDAY.match(text) else text
    for form in _FORMS:
        if found := form.fullmatch(text.strip()):
            try:
                return _iso(found.groupdict())
            except (ValueError, OverflowError, KeyError):
                return None
    return None


def _iso(parts: dict[str, str | None]) -> str | None:
    year = _year(parts["year"] or "")
    hour, second = int(parts.get("hour") or 0), int(parts.get("second") or 0)
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pP" else 0)
    time = datetime(year, _month(parts), int(parts.get("day") or 1), 0, int(parts.get("minute") or 0), tzinfo=UTC)
    if hour > 24 or second > 60 or (hour == 24 and (time.minute or second)):
        return None
    # Hour 24 and second 60 are valid: both belong to the next minute.
    time += timedelta(hours=hour, seconds=second) - _offset(parts.get("zone"), parts.get("offset"))
    # Programs write year 1 when they have no date.
    return None if time.year < 2 else time.isoformat().replace("+00:00", "Z")


def _year(text: str) -> int:
    """RFC 2822, 4.3: two digits below 50 belong to this century; other two digits, and three digits, to the last one."""
    year = int(text)
    match len(text):
        case 2:
            return year + (2000 if year < 50 else 1900)
        case 3:
            return year + 1900
        case _:
            return year


def _month(parts: dict[str, str | None]) -> int:
    """Raises KeyError when there is no such month."""
    if name := parts.get("name"):
        return _MONTHS[name.lower()]
    return int(parts.get("month") or 1)


def _offset(zone: str | None, offset: str | None) -> timedelta:
    """Raises KeyError for an unknown name, ValueError for more than a day."""
    # One letter is a military zone. Software long wrote its sign the wrong way round, so RFC 2822 reads all as UTC.
    ahead = timedelta(hours=_HOURS[zone.lower()] if zone and len(zone) > 1 else 0)
    if offset:
        digits = offset[1:].replace(":", "")
        hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
        if hours > 23 or minutes > 59:
            raise ValueError
        ahead += timedelta(hours=hours, minutes=minutes) * (-1 if offset[0] == "-" else 1)
    return ahead
