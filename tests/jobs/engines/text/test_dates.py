"""Dates as feeds have them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.text.dates import first_date, iso_date
from tests.each import each


@each(
    ("text", "expected"),
    [
        # RFC 822 and what is made of it
        ("Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
        ("Thu, 1 Jan 2004 19:48 +0000", "2004-01-01T19:48:00Z"),
        ("01 Jan 2004 19:48:21 EST", "2004-01-02T00:48:21Z"),
        ("Thu, 01 Jan 04 19:48:21 PDT", "2004-01-02T02:48:21Z"),
        ("Thu, 01 Jan 98 19:48:21 Z", "1998-01-01T19:48:21Z"),
        ("Thu, 01 Jan 49 00:00:00 UT", "2049-01-01T00:00:00Z"),
        ("Thu, 01 Jan 50 00:00:00 UT", "1950-01-01T00:00:00Z"),
        ("01 Jan 104 00:00:00 GMT", "2004-01-01T00:00:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 +0200", "2021-09-06T10:00:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 -0330", "2021-09-06T15:30:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 GMT+2", "2021-09-06T10:00:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 UTC-0500", "2021-09-06T17:00:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 +0200 (CEST)", "2021-09-06T10:00:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 CEST", "2021-09-06T10:00:00Z"),
        ("Mon, 06 Sep 2021 12:00:00 A", "2021-09-06T12:00:00Z"),
        ("Mon,06 Sep 2021 12:00:00 GMT", "2021-09-06T12:00:00Z"),
        ("Monday, 06-Sep-21 12:00:00 GMT", "2021-09-06T12:00:00Z"),
        ("lundi, 06 Sep 2021 12:00:00 GMT", "2021-09-06T12:00:00Z"),
        ("Tue, 06 Sept 2021 12:00:00 GMT", "2021-09-06T12:00:00Z"),
        ("MON, 06 SEP 2021 12:00:00 gmt", "2021-09-06T12:00:00Z"),
        ("  Mon, \n 06 Sep\t2021  12:00:00\u00a0GMT ", "2021-09-06T12:00:00Z"),
        ("Mon, 06 Sep 2021", "2021-09-06T00:00:00Z"),
        ("6th Sep 2021 1:05 pm", "2021-09-06T13:05:00Z"),
        ("Mon, 06 Sep 2021 24:00:00 GMT", "2021-09-07T00:00:00Z"),
        ("Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z"),
        # the month first
        ("Sep 6, 2021", "2021-09-06T00:00:00Z"),
        ("September 6th, 2021 at 12:30 AM", "2021-09-06T00:30:00Z"),
        ("Sep 6, 2021 12:30 PM", "2021-09-06T12:30:00Z"),
        ("Mon Sep  6 12:00:00 2021", "2021-09-06T12:00:00Z"),
        ("Mon Sep 6 12:00:00 EDT 2021", "2021-09-06T16:00:00Z"),
        ("Mon Sep 06 2021 12:00:00 GMT+0100 (CET)", "2021-09-06T11:00:00Z"),
        # ISO 8601 and W3C's profile of it
        ("2003-12-13T18:30:02.25Z", "2003-12-13T18:30:02Z"),
        ("2003-12-13T18:30:02,123456789+01:00", "2003-12-13T17:30:02Z"),
        ("2003-12-13t18:30:02z", "2003-12-13T18:30:02Z"),
        ("2003-12-13T18:30+01", "2003-12-13T17:30:00Z"),
        ("2003-12-13 18:30:02", "2003-12-13T18:30:02Z"),
        ("2003-12-13 18:30:02 -0800", "2003-12-14T02:30:02Z"),
        ("2003-12-13T18:30:02", "2003-12-13T18:30:02Z"),
        ("2003-12-13", "2003-12-13T00:00:00Z"),
        ("2003-12", "2003-12-01T00:00:00Z"),
        ("2003", "2003-01-01T00:00:00Z"),
        ("2003/12/13 18:30", "2003-12-13T18:30:00Z"),
        ("20031213", "2003-12-13T00:00:00Z"),
        ("20031213T183002Z", "2003-12-13T18:30:02Z"),
        ("2003-12-31T23:30:00-01:00", "2004-01-01T00:30:00Z"),
        ("1776-07-04", "1776-07-04T00:00:00Z"),
        # none, or not for certain
        ("", None),
        ("06 Sep", None),
        ("Mon, 06 Sep 12:00:00 GMT", None),
        ("09/06/2021", None),
        ("06.09.2021", None),
        ("Mon, 31 Feb 2021 12:00:00 GMT", None),
        ("2003-02-29", None),
        ("2003-13-01", None),
        ("2003-12-13T25:00:00Z", None),
        ("2003-12-13T24:00:01Z", None),
        ("2003-12-13T18:60:00Z", None),
        ("2003-12-13T18:30:61Z", None),
        ("2003-12-13T18:30:02+99:00", None),
        ("06 Foo 2021 12:00:00 GMT", None),
        ("06 Sepp 2021 12:00:00 GMT", None),
        ("Mon, 06 Sep 2021 12:00:00 XYZ", None),
        ("6 Sep 2021 13:05 pm", None),
        ("1071340202", None),
        ("0001-01-01T00:00:00Z", None),
        ("0000-00-00 00:00:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("0001-01-01T00:00:00+12:00", None),
        ("\u0662\u0660\u0660\u0663-12-13", None),
        ("2003-12-13" * 1000, None),
        ("Thu, 01 Jan 2004 19:48:21 GMT and more", None),
    ],
)
def test_dates(text: str, expected: str | None) -> None:
    """In UTC, or None."""
    assert iso_date(text) == expected


def test_the_first_that_is_one() -> None:
    """What is none does not hide the next."""
    assert first_date([None, "soon", "2003-12-13", "2004-01-01"]) == "2003-12-13T00:00:00Z"
    assert first_date([]) is None


@given(st.text(alphabet="0123456789:-+./TZ ,JanFebGMT()\n", max_size=40) | st.text(max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    """Nothing is raised, and what comes back has one form."""
    date = iso_date(text)
    assert date is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", date)


@given(st.datetimes())
def test_what_is_written_in_either_form_is_read(time: object) -> None:
    """RFC 2822 as the standard library writes it, ISO 8601 as Python does."""
    from datetime import UTC, datetime
    from email.utils import format_datetime

    assert isinstance(time, datetime)
    time = time.replace(tzinfo=UTC, microsecond=0, year=max(time.year, 1000))
    expected = time.isoformat().replace("+00:00", "Z")
    assert iso_date(format_datetime(time)) == iso_date(time.isoformat()) == expected
