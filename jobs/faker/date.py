"""faker.date: moments around the reference date, ISO-8601 in UTC with milliseconds."""

from datetime import datetime, timedelta

from jobs.faker.lists import LISTS
from jobs.faker.source import Method, Source, fakes, gives
from jobs.faker.text import as_time

_DAY = timedelta(days=1)
_YEAR = timedelta(days=365)
_MILLISECOND = timedelta(milliseconds=1)


def _names(kind: str, english: str, text: str) -> Method:
    return gives(
        text,
        lambda source: source.pick((*getattr(source.provider("date_time"), kind, {}).values(),) or LISTS[english]),
    )


month = _names("MONTH_NAMES", "date.months", "``January``, in the locale's language.")
weekday = _names("DAY_NAMES", "date.days", "``Monday``, in the locale's language.")


def between(source: Source, start: datetime, end: datetime) -> str:
    """Both ends included, to the millisecond."""
    return as_time(start + source.integer(0, (end - start) // _MILLISECOND) * _MILLISECOND)


def _within(start: timedelta, end: timedelta, text: str) -> Method:
    return gives(text, lambda source: between(source, source.now + start, source.now + end))


anytime = _within(-_YEAR, _YEAR, "Within a year before or after.")
past = _within(-_YEAR, -_MILLISECOND, "Within the year before.")
future = _within(_MILLISECOND, _YEAR, "Within the year after.")
recent = _within(-_DAY, -_MILLISECOND, "Within the day before.")
soon = _within(_MILLISECOND, _DAY, "Within the day after.")
time_zone = fakes("timezone", "An IANA name: ``Europe/Vaduz``.")


def _years_before(moment: datetime, years: int) -> datetime:
    """29 February becomes 28 February where the year has no such day."""
    try:
        return moment.replace(year=moment.year - years)
    except ValueError:
        return moment.replace(year=moment.year - years, day=28)


def birthdate(source: Source) -> str:
    """Of someone aged 18 to 80 on the reference date."""
    return between(source, _years_before(source.now, 81) + _DAY, _years_before(source.now, 18))
