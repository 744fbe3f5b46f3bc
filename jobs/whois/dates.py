"""Reads the dates of registries. A text that names no day, or only a limit ("before Aug-1996"), is not a date."""

import re
from datetime import UTC, datetime, timedelta, timezone

MOST = 80
"""How many characters of a text are read."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan ene gen янв sty led",
            "feb fev fév fév lut úno фев",
            "mar mär mrt mrz mrc мар bře",
            "apr abr avr kwi апр dub",
            "may mai mei mag maj май мая kvě",
            "jun giu juin ioun cze июн čer",
            "jul lug juil lip июл",
            "aug ago aoû aou aoû sie авг srp",
            "sep set wrz сен zář",
            "oct okt ott out paź окт říj",
            "nov lis noy ноя",
            "dec dic dez déc déc gru дек pro",
        ),
        start=1,
    )
    for name in names.split()
}

# In hours. Names with two meanings (CST, IST, BST) are left out. Such a time is read as UTC, like one without a zone.
_ZONES = {
    name: float(hours)
    for hours, names in {
        0: "utc gmt z wet",
        1: "west cet",
        2: "cest eet",
        3: "eest msk trt",
        7: "ict wib",
        8: "awst hkt myt sgt",
        9: "jst kst",
        10: "aest",
        11: "aedt",
        12: "nzst",
        13: "nzdt",
        -3: "art brt clst",
        -4: "clt edt",
        -5: "cdt est",
        -6: "mdt",
        -7: "mst pdt",
        -8: "pst",
    }.items()
    for name in names.split()
}

_LIMIT = re.compile(r"(?:before|prior|until|antes|avant|vor|до)\b")
_WEEKDAY = re.compile(
    r"(?:mon|tue|wed|thu|fri|sat|sun|lun|mar|mie|mié|jue|vie|sab|sáb|dom|mer|jeu|ven|sam|dim)[a-zé]{0,7}[.,]? {1,3}(?=\S)"
)
_CJK = re.compile(r"(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]?")
_WORD = r"([^\W\d_]{3,10})"
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?: ?([ap])\.?m\b)?")
_COMPACT_TIME = re.compile(r"t?([01]\d|2[0-3])([0-5]\d)([0-5]\d)z?\b")
_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?\b")
_NAME = re.compile(r"[a-z]{1,5}\b")

_YMD = re.compile(r"(\d{4})([-/.]) ?(\d{1,2})\2 ?(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?=\d{6}\b|\D|$)")
_DMY = re.compile(r"(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4})(?!\d)")
_D_MONTH_Y = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th|\.|º)?[-/ .,]{{1,3}}(?:de )?{_WORD}[-/ .,]{{1,3}}(?:de )?(\d{{4}}|\d\d)\b"
)
_Y_MONTH_D = re.compile(rf"(\d{{4}})[-/ .]{{1,2}}{_WORD}[-/ .]{{1,2}}(\d{{1,2}})(?!\d)")
_MONTH_D = re.compile(rf"{_WORD}\.?[- ]{{1,3}}(\d{{1,2}})(?:st|nd|rd|th)?(?=[, -])")
_YEAR = re.compile(r"\b((?:19|2\d)\d\d)\b(?!:)")


def read_date(text: str, *, month_first: bool = False) -> datetime | None:
    """Read a date in UTC; a time without a zone counts as UTC. None when the text is not a date.

    Args:
        month_first: 03/04/2028 is the fourth of March. A date that is only valid this way is always read so.
    """
    folded = _CJK.sub(r"\1-\2-\3", " ".join(text[:MOST].lower().split()))
    if _LIMIT.match(folded):
        return None
    # "mar" means Tuesday in French and Spanish, and March in English.
    if (weekday := _WEEKDAY.match(folded)) and not (_MONTH_D.match(folded) and _month(weekday.group())):
        folded = folded[weekday.end() :]
    day = _day(folded, month_first)
    if day is None:
        return None
    year, month, day_of_month, rest = day
    hour, minute, second, zone = _time(rest)
    try:
        moment = datetime(year, month, day_of_month, hour, minute, second, tzinfo=zone)
        return moment.astimezone(UTC) if year > 1970 else None
    except (ValueError, OverflowError):
        return None


def _day(text: str, month_first: bool) -> tuple[int, int, int, str] | None:
    if found := _YMD.match(text):
        return int(found[1]), int(found[3]), int(found[4]), text[found.end() :]
    if found := _COMPACT.match(text):
        return int(found[1]), int(found[2]), int(found[3]), text[found.end() :]
    if found := _DMY.match(text):
        first, second = int(found[1]), int(found[3])
        if second > 12 or (month_first and first <= 12):
            first, second = second, first
        return int(found[4]), second, first, text[found.end() :]
    if (found := _D_MONTH_Y.match(text)) and (month := _month(found[2])):
        return _full(found[3]), month, int(found[1]), text[found.end() :]
    if (found := _Y_MONTH_D.match(text)) and (month := _month(found[2])):
        return int(found[1]), month, int(found[3]), text[found.end() :]
    if (found := _MONTH_D.match(text)) and (month := _month(found[1])) and (year := _YEAR.search(text, found.end())):
        return int(year[1]), month, int(found[2]), text[found.end() : year.start()] + text[year.end() :]
    return None


def _month(word: str) -> int | None:
    return _MONTHS.get(word[:4]) or _MONTHS.get(word[:3])


def _full(year: str) -> int:
    number = int(year)
    return number if len(year) == 4 else number + (1900 if number >= 70 else 2000)


def _time(text: str) -> tuple[int, int, int, timezone]:
    found = _TIME.search(text[:24])
    if found is None:
        compact = _COMPACT_TIME.match(text.lstrip())
        return (int(compact[1]), int(compact[2]), int(compact[3]), UTC) if compact else (0, 0, 0, UTC)
    hour = int(found[1])
    if found[4]:
        hour = hour % 12 + (12 if found[4] == "p" else 0)
    return hour, int(found[2]), int(found[3] or 0), _zone(text[found.end() :].lstrip(" ("))


def _zone(text: str) -> timezone:
    hours = 0.0
    if name := _NAME.match(text):
        hours = _ZONES.get(name.group(), 0.0)
        if name.group() not in ("utc", "gmt"):
            return timezone(timedelta(hours=hours))
        text = text[name.end() :]
    if offset := _OFFSET.match(text):
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    return timezone(timedelta(hours=hours))
