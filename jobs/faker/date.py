"""faker.date: moments around the reference date, ISO-8601 in UTC with milliseconds."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs.faker.source import Source, one_of
from jobs.faker.text import as_time

_DAY = timedelta(days=1)
_YEAR = timedelta(days=365)
_MILLISECOND = timedelta(milliseconds=1)

month = one_of(
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
weekday = one_of("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def _between(source: Source, start: datetime, end: datetime) -> str:
    """Both ends included, to the millisecond."""
    return as_time(start + source.integer(0, (end - start) // _MILLISECOND) * _MILLISECOND)


def _years_before(moment: datetime, years: int) -> datetime:
    """29 February becomes 28 February where the year has no such day."""
    try:
        return moment.replace(year=moment.year - years)
    except ValueError:
        return moment.replace(year=moment.year - years, day=28)


def anytime(source: Source) -> str:
    """Within a year before or after."""
    return _between(source, source.now - _YEAR, source.now + _YEAR)


def past(source: Source) -> str:
    """Within the year before."""
    return _between(source, source.now - _YEAR, source.now - _MILLISECOND)


def future(source: Source) -> str:
    """Within the year after."""
    return _between(source, source.now + _MILLISECOND, source.now + _YEAR)


def recent(source: Source) -> str:
    """Within the day before."""
    return _between(source, source.now - _DAY, source.now - _MILLISECOND)


def soon(source: Source) -> str:
    """Within the day after."""
    return _between(source, source.now + _MILLISECOND, source.now + _DAY)


def birthdate(source: Source) -> str:
    """Of someone aged 18 to 80 on the reference date."""
    return _between(source, _years_before(source.now, 81) + _DAY, _years_before(source.now, 18))


def time_zone(source: Source) -> str:
    """An IANA name: ``Europe/Vaduz``."""
    return source.fake.timezone()
